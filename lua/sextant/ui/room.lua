--- Shares out the screen: each window of Sextant's below the code, and the float of the plan over it, opens here. The
--- code keeps half of the lines; others give way where there is no room for all.
local heights = require('sextant.ui.room_heights')

local M = {}
local api = vim.api

-- The least lines of a page or a plan, and the most of a list.
local READABLE = 6
local LIST_MOST = 10

local rooms = heights.rooms
-- Those that gave way, by tab.
---@type table<integer, { room: sextant.Room, entered: boolean }[]>
local waiting = {}
local giving_way = false

-- The fewest lines that another window is opened with beside others.
---@param room sextant.Room
---@return integer
local function needed(room)
  return (room.kind == 'page' or room.kind == 'plan') and math.min(room.wanted, READABLE) or heights.LEAST
end

-- Opens those again that gave way to a window that is gone. A larger screen may have room for some of them.
---@param tab integer
---@param fits? fun(room: sextant.Room): boolean
local function bring_back(tab, fits)
  local those = waiting[tab] or {}
  waiting[tab] = {}
  for _, one in ipairs(those) do
    if not fits or fits(one.room) then
      one.room.back(one.entered)
    else
      table.insert(waiting[tab], one)
    end
  end
end

---@param win integer
local function closed(win)
  local room = rooms[win]
  rooms[win] = nil
  if not room or giving_way then
    return
  end
  local tab = api.nvim_get_current_tabpage()
  if win ~= api.nvim_get_current_win() and room.kind ~= 'list' and not room.floats then
    -- `:only` and its like: the user wants the room.
    waiting[tab] = nil
  end
  vim.schedule(function()
    if api.nvim_get_current_tabpage() == tab then
      bring_back(tab)
      heights.share()
    end
  end)
end

-- Those that may give way to another one, first to last.
local YIELDING = { 'page', 'answer', 'plan' }

---@param for_kind? string of the window that needs the room
---@param wins integer[]
---@param kept? integer a window that stays
---@return integer? win
local function that_yields(for_kind, wins, kept)
  for _, kind in ipairs(YIELDING) do
    for _, win in ipairs(wins) do
      local is_changed = vim.bo[api.nvim_win_get_buf(win)].modified
      if rooms[win].kind == kind and kind ~= for_kind and win ~= kept and not is_changed then
        return win
      end
    end
  end
end

---@param tab integer
---@param room sextant.Room
---@param entered boolean
local function wait(tab, room, entered)
  if room.back then
    waiting[tab] = waiting[tab] or {}
    table.insert(waiting[tab], { room = room, entered = entered })
  end
end

---@param tab integer
---@param win integer
local function give_way(tab, win)
  wait(tab, rooms[win], win == api.nvim_get_current_win())
  giving_way = true
  api.nvim_win_close(win, true)
  giving_way = false
end

-- Makes room for another window; false where there is not enough.
---@param tab integer
---@param room sextant.Room
---@param kept? integer
---@return boolean
local function make(tab, room, kept)
  while true do
    local wins, has_code = heights.below(tab)
    if not has_code or heights.lines_for(wins, room) >= needed(room) + heights.least_of(wins) then
      return true
    end
    local win = that_yields(room.kind, wins, kept)
    if not win then
      return #wins == 0 or heights.lines_for(wins, room) >= (room.least or heights.LEAST) + heights.least_of(wins)
    end
    give_way(tab, win)
  end
end

-- The screen has another size: where it is too low for all windows, some give way, and come back where it is not.
local function settle()
  local tab = api.nvim_get_current_tabpage()
  local wins, has_code = heights.below(tab)
  while has_code and #wins > 1 and heights.lines_for(wins) < heights.least_of(wins) do
    local win = that_yields(nil, wins, api.nvim_get_current_win())
    if not win then
      break
    end
    give_way(tab, win)
    wins = heights.below(tab)
  end
  bring_back(tab, function(room)
    local now = heights.below(tab)
    return heights.lines_for(now, room) >= needed(room) + heights.least_of(now)
  end)
  heights.share()
end

local watches = false

local function watch()
  if watches then
    return
  end
  watches = true
  local group = api.nvim_create_augroup('sextant_room', {})
  api.nvim_create_autocmd('WinClosed', {
    group = group,
    callback = function(args)
      closed(assert(tonumber(args.match)))
    end,
  })
  api.nvim_create_autocmd('VimResized', { group = group, callback = vim.schedule_wrap(settle) })
  api.nvim_create_autocmd('TabEnter', { group = group, callback = vim.schedule_wrap(heights.share) })
end

--- Opens a window of ours. Without room for it, others give way until it is closed; the one that the user is in gives
--- way to what the user has asked for alone.
---@param room sextant.Room
---@param asked boolean
---@param tab? integer the current one without it
---@return integer? win none where it waits for room
function M.open(room, asked, tab)
  watch()
  tab = tab or api.nvim_get_current_tabpage()
  waiting[tab] = vim.tbl_filter(function(one)
    return one.room.kind ~= room.kind
  end, waiting[tab] or {})
  local has_room = make(tab, room, not asked and api.nvim_tabpage_get_win(tab) or nil)
  if not has_room and not asked then
    return wait(tab, room, false)
  end
  local others = heights.below(tab)
  local lines = math.min(room.wanted, heights.lines_for(others, room) - heights.least_of(others))
  local win = room.open(math.max(room.least or heights.LEAST, lines))
  rooms[win] = room
  room.given = heights.height_of(win)
  heights.share()
  return win
end

--- The window is to have other lines now, where there is room.
---@param win integer
---@param wanted integer
function M.fit(win, wanted)
  local room = rooms[win]
  if room and room.wanted ~= wanted then
    room.wanted = wanted
    heights.share()
  end
end

--- The window of a kind in the current tab.
---@param kind string
---@return integer? win
function M.window(kind)
  for _, win in ipairs((heights.below(api.nvim_get_current_tabpage()))) do
    if rooms[win].kind == kind then
      return win
    end
  end
end

--- The most lines that a window may have beside the others of other kinds that are there now.
---@param room sextant.Room
---@return integer
function M.most(room)
  local others = vim.tbl_filter(function(win)
    return rooms[win].kind ~= room.kind
  end, (heights.below(api.nvim_get_current_tabpage())))
  return math.max(room.least or heights.LEAST, heights.lines_for(others, room) - heights.least_of(others))
end

--- The lines of a list with so many entries.
---@param entries integer
---@return integer
function M.list_height(entries)
  return math.max(heights.LEAST, math.min(entries, LIST_MOST))
end

M.list_window = heights.list_window
M.place = heights.place

return M
