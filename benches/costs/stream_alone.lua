-- Measures the processor time that Neovim needs for a text of so many lines that is there at once.
local count = ...
local lines = {}
for number = 1, count do
  lines[number] = ('- %d *many* `x`'):format(number - 1)
end
local buf = vim.api.nvim_create_buf(false, true)
local began = os.clock()
vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
vim.treesitter.start(buf, 'markdown')
vim.treesitter.get_parser(buf, 'markdown'):parse({ 0, 24 })
return (os.clock() - began) * 1000
