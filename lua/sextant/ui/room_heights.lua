--- Gives each window of Sextant's its lines: those below the code, and the float of the plan over it.
local M = {}
local api = vim.api

-- The least lines of a window of ours.
M.LEAST = 3

---@class sextant.Room a window of ours
---@field kind 'answer'|'plan'|'page'|'list'
---@field wanted integer its lines where there is room; those of a float with the upper part of its border
---@field least? integer the fewest lines that it can be used with
---@field open fun(height: integer): integer opens the window
---@field back? fun(entered: boolean) opens it again where it gave way to another one
---@field resized? fun() the height is another one now, or the place of a float
---@field floats? boolean
---@field given? integer the lines that it has had from here

---@type table<integer, sextant.Room> by window
M.rooms = {}
local rooms = M.rooms

---@param win integer
---@return boolean
function M.is_float(win)
  return api.nvim_win_get_config(win).relative ~= ''
end
local is_float = M.is_float

--- The lines of a window. A float has those that a window below the code would have: its border stands for a bar and a
--- status line.
---@param win integer
---@return integer
function M.height_of(win)
  return api.nvim_win_get_height(win) + (is_float(win) and 1 or 0)
end

---@return integer? win of the quickfix list in this tab
function M.list_window()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.fn.win_gettype(win) == 'quickfix' then
      return win
    end
  end
end

-- A window that the user has moved to a side takes no lines of the code.
---@param win integer
---@return sextant.Room?
local function room_of(win)
  if is_float(win) then
    return rooms[win]
  elseif api.nvim_win_get_width(win) < vim.o.columns then
    return nil
  end
  if vim.fn.win_gettype(win) == 'quickfix' then
    local height = api.nvim_win_get_height(win)
    rooms[win] = rooms[win] or { kind = 'list', wanted = height, open = M.list_window }
    return rooms[win]
  end
  local name = api.nvim_buf_get_name(api.nvim_win_get_buf(win))
  return vim.startswith(name, 'sextant://') and rooms[win] or nil
end

--- Our windows of a tab from top to bottom, and whether it shows anything else.
---@param tab integer
---@return integer[] wins, boolean has_code
function M.below(tab)
  local wins, has_code = {}, false
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    if room_of(win) then
      wins[#wins + 1] = win
    elseif not is_float(win) then
      has_code = true
    end
  end
  return wins, has_code
end

--- The fewest lines of all these windows.
---@param wins integer[]
---@return integer
function M.least_of(wins)
  local sum = 0
  for _, win in ipairs(wins) do
    sum = sum + (rooms[win].least or M.LEAST)
  end
  return sum
end

-- The lines for so many windows of ours: what the code's half and the status lines leave. The border of a float takes
-- one line of that half.
---@param count integer
---@param has_float boolean
---@return integer
local function budget(count, has_float)
  local tabs = #api.nvim_list_tabpages()
  local tabline = (vim.o.showtabline == 2 or vim.o.showtabline == 1 and tabs > 1) and 1 or 0
  local statuses = count + (vim.o.laststatus == 0 and 0 or 1)
  local half = math.ceil(vim.o.lines / 2) - (has_float and 1 or 0)
  return vim.o.lines - vim.o.cmdheight - tabline - statuses - half
end

--- The lines for these windows, and for another one.
---@param wins integer[]
---@param more? sextant.Room
---@return integer
function M.lines_for(wins, more)
  local has_float = more ~= nil and more.floats == true or vim.iter(wins):any(is_float)
  return budget(#wins + (more and 1 or 0), has_float)
end

-- Each one's height: the least, the rest to the window that the user is in, then line by line to all.
---@param wins integer[]
---@return table<integer, integer>
local function heights(wins)
  local wish, height, left = {}, {}, M.lines_for(wins)
  for _, win in ipairs(wins) do
    local now, room = M.height_of(win), rooms[win]
    wish[win] = room.given == now and room.wanted or now
    height[win] = math.min(room.least or M.LEAST, wish[win])
    left = left - height[win]
  end
  local function give(win, most)
    local more = math.max(0, math.min(most, left, wish[win] - height[win]))
    height[win], left = height[win] + more, left - more
    return more
  end
  local current = api.nvim_get_current_win()
  if height[current] then
    give(current, left)
  end
  repeat
    local given = 0
    for _, win in ipairs(wins) do
      given = given + give(win, 1)
    end
  until given == 0
  return height
end

-- The windows at the lower edges of the parts that lie below each other in the current tab, from top to bottom.
---@return integer[]
local function lowest()
  local layout = vim.fn.winlayout()
  return vim.tbl_map(function(part)
    while part[1] ~= 'leaf' do
      part = part[2][part[1] == 'col' and #part[2] or 1]
    end
    return part[2]
  end, layout[1] == 'col' and layout[2] or { layout })
end

local function edge(win)
  return api.nvim_win_get_position(win)[1] + api.nvim_win_get_height(win)
end

-- Moves the edges from top to bottom. `nvim_win_set_height()` takes lines of any other window where the code has few.
---@param height table<integer, integer>
local function resize(height)
  local parts, more, code = lowest(), {}, nil
  for _, win in ipairs(parts) do
    more[win] = height[win] and height[win] - api.nvim_win_get_height(win) or 0
    code = not height[win] and win or code
  end
  if not code then
    return
  end
  for _, win in ipairs(parts) do
    more[code] = more[code] - (height[win] and more[win] or 0)
  end
  local wanted, moved = {}, 0
  for at, win in ipairs(parts) do
    moved = moved + more[win]
    wanted[at] = edge(win) + moved
  end
  for at = 1, #parts - 1 do
    vim.fn.win_move_statusline(parts[at], wanted[at] - edge(parts[at]))
  end
end

--- Gives each window below the code its height, and the code its half.
function M.share()
  local wins, has_code = M.below(api.nvim_get_current_tabpage())
  local height, before = heights(wins), vim.tbl_map(api.nvim_win_get_height, wins)
  if has_code then
    resize(height)
  end
  for at, win in ipairs(wins) do
    local moves = is_float(win)
    if has_code or moves then
      rooms[win].given = height[win]
    end
    if (has_code and height[win] ~= before[at] or moves) and rooms[win].resized then
      rooms[win].resized()
    end
  end
end

--- The place of a float: its lines, and the row of its upper border. It lies over the code, above our other windows.
---@param win integer
---@return integer height, integer row
function M.place(win)
  local bottom = vim.o.lines - vim.o.cmdheight
  local wins, has_code = M.below(api.nvim_win_get_tabpage(win))
  for _, other in ipairs(has_code and wins or {}) do
    if not is_float(other) then
      bottom = math.min(bottom, api.nvim_win_get_position(other)[1])
    end
  end
  local height = math.max(1, rooms[win].given - 1)
  -- The status line of the code stays in sight below it.
  return height, math.max(0, bottom - 1 - height - 2)
end

return M
