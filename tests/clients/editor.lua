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

local function tell(word)
  io.stdout:write(word .. '\n')
  io.stdout:flush()
end

local first
first = vim.api.nvim_create_autocmd('User', {
  pattern = { 'SextantFinished', 'SextantFailed' },
  callback = function()
    if not first then
      return
    end
    first = nil
    -- After the command: the session is there, and the server has seen the file.
    vim.schedule(function()
      vim.api.nvim_buf_set_lines(0, -1, -1, false, vim.split(vim.env.SEXTANT_CLIENTS_UNSAVED, '\n'))
      tell('ready')
    end)
  end,
})
vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    vim.schedule(function()
      vim.cmd.edit('cart.py')
      vim.cmd.AgentAsk('what is here?')
    end)
  end,
})
