-- Sets up the demo in a terminal: the file, and a note on top that says what to type.
local file = assert(vim.env.SEXTANT_DEMO_FILE, 'SEXTANT_DEMO_FILE is not set; make demo sets it')

-- Lines of a terminal of 80 columns: one that wraps would push the last ones out of the window.
local NOTE = {
  ' A copy of a small project, with real errors by its language servers. Type:',
  '',
  '   :AgentPlan make this file type-clean   plan it; nothing is changed yet',
  '   <CR>                                   in the plan window: run it',
  '   :AgentUndo                             take all of it back',
  '',
  ' :AgentAsk fix this   does it in the function at the cursor.   :qa! leaves.',
}

vim.o.number = true
vim.o.signcolumn = 'yes'
vim.diagnostic.config({ virtual_text = true, severity_sort = true })

vim.cmd.edit(file)
local note = vim.api.nvim_create_buf(false, true)
vim.api.nvim_buf_set_lines(note, 0, -1, false, NOTE)
vim.bo[note].modifiable = false
local win = vim.api.nvim_open_win(note, false, { split = 'above', win = 0, height = #NOTE })
vim.wo[win].winfixheight = true
vim.wo[win].number = false
vim.wo[win].signcolumn = 'no'
