--- Keeps the code that a command goes to in sight: scrolls it to the rows that no float of ours covers.
local heights = require('sextant.ui.room_heights')

local M = {}
local api = vim.api

-- The lines of context above and below the target where a float leaves a part of the window.
local CONTEXT = 3

-- The first and last row of the screen that a float of ours takes in the columns of a window, from 1.
---@param float integer
---@param info vim.fn.getwininfo.ret.item of the window
---@return integer? first, integer? last
local function taken(float, info)
  local config = api.nvim_win_get_config(float)
  local edges = (config.border or 'none') ~= 'none' and 2 or 0
  local left, right = config.col + 1, config.col + config.width + edges
  if left < info.wincol + info.width and right >= info.wincol then
    return config.row + 1, config.row + config.height + edges
  end
end

--- The rows of a window's text that no float of ours covers, from 1: the longest part without one.
---@param win integer
---@return integer first, integer last
function M.rows(win)
  local info = vim.fn.getwininfo(win)[1]
  local top, covered = info.winrow + info.winbar, {}
  for _, float in ipairs(api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win))) do
    if float ~= win and heights.rooms[float] and heights.is_float(float) then
      local first, last = taken(float, info)
      for row = first or 1, last or 0 do
        covered[row - top + 1] = true
      end
    end
  end
  local best, length, first = 1, 0, 1
  for row = 1, info.height do
    if covered[row] then
      first = row + 1
    elseif row - first + 1 > length then
      best, length = first, row - first + 1
    end
  end
  return best, length > 0 and best + length - 1 or info.height
end

-- The first line to show so that the cursor's line is in a row, and the filler rows above that line.
---@param rows integer above the cursor's line, with the virtual ones right above it
---@param above integer of these, the virtual ones
---@return vim.fn.winrestview.dict
local function view(rows, above)
  local line = api.nvim_win_get_cursor(0)[1]
  local top, left = line, rows - above
  while top > 1 do
    local height = api.nvim_win_text_height(0, { start_row = top - 2, end_row = top - 2 }).all
    if height > left then
      break
    end
    top, left = top - 1, left - height
  end
  return { topline = top, topfill = top == line and math.min(above, rows) or 0 }
end

--- Scrolls the current window if its cursor, or what belongs to its line, is out of sight or below a float. Where there is
--- no room for all, the end is left out.
---@param above? integer the virtual lines right above it
---@param below? integer the rows right below it
function M.reveal(above, below)
  above = above or 0
  local win = api.nvim_get_current_win()
  local first, last = M.rows(win)
  local room = last - first + 1
  below = math.max(0, math.min(below or 0, room - 1 - above))
  local is_whole = room == vim.fn.getwininfo(win)[1].height
  local context = is_whole and 0 or math.min(CONTEXT, math.max(0, math.floor((room - 1 - above) / 2)))
  below = math.max(below, context)
  local row = vim.fn.winline()
  if row - above >= first and row + below <= last then
    return
  end
  -- The line before the virtual ones is in sight too, where there is room.
  local rows = above + (above + below + 2 <= room and 1 or 0)
  if not is_whole then
    rows = math.max(rows, math.min(math.floor((room - 1) / 2), room - 1 - below))
  end
  vim.fn.winrestview(view(first - 1 + math.min(rows, room - 1), above))
end

return M
