-- One of two Neovims of a trial: a server, files that are open, one of them with changes that are not saved.
local tools = assert(vim.env.SEXTANT_TOOLS, 'SEXTANT_TOOLS is not set')
local own = assert(vim.env.SEXTANT_TRIAL_OWN, 'SEXTANT_TRIAL_OWN is the file with unsaved changes')

vim.o.autoread = true
vim.lsp.config('ruff', { cmd = { tools .. '/ruff', 'server' }, filetypes = { 'python' }, root_markers = { 'pyproject.toml' } })
vim.lsp.enable('ruff')
require('sextant').setup({
  binary = vim.env.SEXTANT_CLIENTS_BINARY,
  diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 },
  quickfix = { open = false },
  rpc = { port = vim.env.SEXTANT_TRIAL_PORT ~= nil },
  model = { provider = 'openai_compatible', model = 'scripted', base_url = vim.env.SEXTANT_TRIAL_MODEL },
})

-- What its user does meanwhile.
function _G.type_a_line(text)
  local buffer = vim.fn.bufnr(own)
  vim.api.nvim_buf_set_lines(buffer, -1, -1, true, { text })
  return vim.api.nvim_buf_line_count(buffer)
end

-- What coming back to its window does: a buffer without changes of its own takes what is on the disk.
function _G.look_at_the_disk(file)
  local buffer = vim.fn.bufnr(file)
  vim.cmd.checktime(buffer)
  vim.wait(10000, function()
    return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n') .. '\n' == table.concat(vim.fn.readfile(file, 'b'), '\n')
  end)
  return vim.bo[buffer].modified
end

local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
dofile(here .. '/used.lua')({ 'shared.py', own }, function()
  _G.type_a_line('# typed 0')
end)
