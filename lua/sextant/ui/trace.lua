--- Shows a text to be read in a scratch window: the trace of a task, the statistics, the memory.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

--- Colours a diff, and folds it by file.
---@param buf integer
---@param win integer
function M.fold_files(buf, win)
  scratch.plain(buf)
  vim.bo[buf].filetype = 'diff'
  vim.wo[win][0].foldmethod = 'expr'
  vim.wo[win][0].foldexpr = "getline(v:lnum)=~'^--- '?'>1':1"
  vim.wo[win][0].foldlevel = 1
  vim.wo[win][0].foldenable = true
end

--- Opens the window below and enters it: the reader asked for it.
---@param markdown string
---@param name? string what it is, for the buffer's name
function M.open(markdown, name)
  local buf = scratch.buffer(name or 'trace', 'wipe')
  scratch.set(buf, vim.split(markdown, '\n', { plain = true }))
  for _, lhs in ipairs({ '<CR>', 'gf' }) do
    scratch.map(buf, lhs, function()
      require('sextant.ui.follow').go()
    end, 'Go to the code of the name under the cursor')
  end
  local win = scratch.window(name or 'trace')
  if win then
    api.nvim_set_current_win(win)
  else
    win = api.nvim_open_win(buf, true, { split = 'below', win = -1 })
    scratch.furnish(win)
  end
  if name == 'diff' then
    M.fold_files(buf, win)
  end
  -- The plan floats above all else and would hide it.
  require('sextant.ui.plan').make_way()
  api.nvim_set_current_win(win)
  api.nvim_win_set_cursor(win, { 1, 0 })
end

return M
