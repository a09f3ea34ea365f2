--- Shares out the screen: the code keeps at least half of it, whatever windows of Sextant's are open below.
local M = {}
local api = vim.api

-- The least lines of a window of ours, and the least and most of a list.
local LEAST = 3
local LIST_MOST = 10

-- The lines that windows of this tab can use, and the half that belongs to the code.
local function lines()
  local tabline = (vim.o.showtabline == 2 or vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1) and 1 or 0
  local usable = vim.o.lines - vim.o.cmdheight - tabline
  return usable, math.ceil(vim.o.lines / 2)
end

---@return integer? win of the quickfix list in this tab
function M.list_window()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local info = vim.fn.getwininfo(win)[1]
    if info and info.quickfix == 1 and info.loclist == 0 then
      return win
    end
  end
end

--- The height of a window below the code, where others of ours may be open.
---@param wanted integer
---@param others integer lines that the others take
---@return integer
function M.height(wanted, others)
  local usable, code = lines()
  -- A status line for each of the windows.
  local statuses = vim.o.laststatus == 0 and 0 or others > 0 and 3 or 2
  return math.max(LEAST, math.min(wanted, usable - statuses - code - others))
end

--- The height of a list with so many entries.
---@param entries integer
---@return integer
function M.list_height(entries)
  return math.max(LEAST, math.min(entries, LIST_MOST, M.height(LIST_MOST, 0)))
end

--- Gives the code its half back after a window was opened below it.
---@param wanted integer the user's height of the answer window
function M.share(wanted)
  local list = M.list_window()
  local taken = list and api.nvim_win_get_height(list) or 0
  for _, win in ipairs(require('sextant.ui.scratch').windows('answer')) do
    if api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      local height = M.height(wanted, taken)
      if api.nvim_win_get_height(win) > height then
        api.nvim_win_set_height(win, height)
      end
    end
  end
end

return M
