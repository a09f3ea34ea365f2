-- Configures Neovim for the demo as a user would: the language servers, and Sextant's setup().
local tools = assert(vim.env.SEXTANT_TOOLS, 'SEXTANT_TOOLS is not set; make demo sets it')

vim.lsp.config('basedpyright', {
  cmd = { tools .. '/basedpyright-langserver', '--stdio' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml' },
})
vim.lsp.config('ruff', {
  cmd = { tools .. '/ruff', 'server' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml' },
})
vim.lsp.config('vtsls', {
  cmd = { tools .. '/../../languages/bin/vtsls', '--stdio' },
  filetypes = { 'typescript' },
  root_markers = { 'tsconfig.json' },
  settings = { typescript = { disableAutomaticTypeAcquisition = true } },
})
vim.lsp.enable({ 'basedpyright', 'ruff', 'vtsls' })
if vim.env.RUST_ANALYZER then
  vim.lsp.config('rust_analyzer', {
    cmd = { vim.env.RUST_ANALYZER },
    filetypes = { 'rust' },
    root_markers = { 'Cargo.toml' },
  })
  vim.lsp.enable('rust_analyzer')
end

require('sextant').setup({
  binary = vim.env.SEXTANT_DEMO_BINARY,
  -- The servers start cold, perhaps on a busy machine.
  diagnostics = { timeout_ms = 20000, start_timeout_ms = 120000 },
})
