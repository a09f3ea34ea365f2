--- Keeps marks, cursors and views at their lines if an edit rewrites more lines than it changes.
local M = {}
local api = vim.api

-- The row of a line after the edit; nil if it is replaced. `kept` is a flat list of runs, in order: first row, last
-- row, and the number of rows it moves by.
---@param kept integer[]
---@return integer?
local function moved(kept, row)
  local low, high = 0, #kept / 3 - 1
  while low <= high do
    local at = math.floor((low + high) / 2)
    local first, last, shift = kept[at * 3 + 1], kept[at * 3 + 2], kept[at * 3 + 3]
    if row < first then
      high = at - 1
    elseif row > last then
      low = at + 1
    else
      return row + shift
    end
  end
end

--- Notes the marks and cursors in lines that stay; the returned function puts them back at their lines.
---@param kept integer[]
---@return fun()
function M.hold(buf, kept)
  local marks, views = {}, {}
  for _, mark in ipairs(vim.fn.getmarklist(buf)) do
    local row = mark.mark:match("^'%l$") and moved(kept, mark.pos[2] - 1)
    if row then
      marks[#marks + 1] = { mark.mark:sub(2), row + 1, mark.pos[3] - 1 }
    end
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    local row, top = moved(kept, view.lnum - 1), moved(kept, view.topline - 1)
    if row then
      view.lnum, view.topline = row + 1, top and top + 1 or math.max(1, row + 1 - (view.lnum - view.topline))
      views[#views + 1] = { win, view }
    end
  end
  return function()
    for _, mark in ipairs(marks) do
      pcall(api.nvim_buf_set_mark, buf, mark[1], mark[2], math.max(0, mark[3]), {})
    end
    for _, item in ipairs(views) do
      api.nvim_win_call(item[1], function()
        vim.fn.winrestview(item[2])
      end)
    end
  end
end

return M
