-- A Neovim as its user has it: servers, Sextant used once, and changes in the open file that are not saved.
local tools = assert(vim.env.SEXTANT_TOOLS, 'SEXTANT_TOOLS is not set; make test-clients sets it')

vim.lsp.config('basedpyright', {
  cmd = { tools .. '/basedpyright-langserver', '--stdio' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml' },
})
vim.lsp.enable('basedpyright')

require('sextant').setup({
  binary = vim.env.SEXTANT_CLIENTS_BINARY,
  -- The server starts cold, perhaps on a busy machine.
  diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 },
  quickfix = { open = false },
})

local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
dofile(here .. '/used.lua')({ 'cart.py' }, function()
  vim.api.nvim_buf_set_lines(0, -1, -1, false, vim.split(vim.env.SEXTANT_CLIENTS_UNSAVED, '\n'))
end)
