--- Shares out the screen: each window of Sextant's below the code opens here, and the code keeps half of the lines.
local M = {}
local api = vim.api

-- The least lines of a window of ours, those that a page or a plan is read in, and the most of a list.
local LEAST = 3
local READABLE = 6
local LIST_MOST = 10

---@class sextant.Room a window of ours
---@field kind 'answer'|'plan'|'page'|'list'
---@field wanted integer its lines where there is room
---@field open fun(height: integer): integer opens the window
---@field back? fun(entered: boolean) opens it again where it gave way to another one
---@field resized? fun() the height is another one now
---@field given? integer the lines that it has had from here

---@type table<integer, sextant.Room> by window
local rooms = {}
-- Those that gave way, by tab.
---@type table<integer, { room: sextant.Room, entered: boolean }[]>
local waiting = {}
local giving_way = false

-- A window that the user has moved to a side takes no lines of the code.
---@param win integer
---@return sextant.Room?
local function room_of(win)
  if api.nvim_win_get_config(win).relative ~= '' or api.nvim_win_get_width(win) < vim.o.columns then
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

-- Our windows of a tab from top to bottom, and whether it shows anything else.
---@param tab integer
---@return integer[] wins, boolean has_code
local function below(tab)
  local wins, has_code = {}, false
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    if room_of(win) then
      wins[#wins + 1] = win
    elseif api.nvim_win_get_config(win).relative == '' then
      has_code = true
    end
  end
  return wins, has_code
end

-- The lines for so many windows of ours: what the code's half and the status lines leave.
---@param count integer
---@return integer
local function budget(count)
  local tabs = #api.nvim_list_tabpages()
  local tabline = (vim.o.showtabline == 2 or vim.o.showtabline == 1 and tabs > 1) and 1 or 0
  local statuses = count + (vim.o.laststatus == 0 and 0 or 1)
  return vim.o.lines - vim.o.cmdheight - tabline - statuses - math.ceil(vim.o.lines / 2)
end

-- Each one's height: the least, the rest to the window that the user is in, then line by line to all.
---@param wins integer[]
---@return table<integer, integer>
local function heights(wins)
  local wish, height, left = {}, {}, budget(#wins)
  for _, win in ipairs(wins) do
    local now, room = api.nvim_win_get_height(win), rooms[win]
    wish[win] = room.given == now and room.wanted or now
    height[win] = math.min(LEAST, wish[win])
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
  for win in pairs(height) do
    more[code] = more[code] - more[win]
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
  local wins, has_code = below(api.nvim_get_current_tabpage())
  if not has_code then
    return
  end
  local height, before = heights(wins), vim.tbl_map(api.nvim_win_get_height, wins)
  resize(height)
  for at, win in ipairs(wins) do
    rooms[win].given = height[win]
    if height[win] ~= before[at] and rooms[win].resized then
      rooms[win].resized()
    end
  end
end

-- Opens those again that gave way to a window that the user has closed.
---@param tab integer
local function bring_back(tab)
  local those = waiting[tab] or {}
  waiting[tab] = nil
  for _, one in ipairs(those) do
    one.room.back(one.entered)
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
  if win ~= api.nvim_get_current_win() and room.kind ~= 'list' then
    -- `:only` and its like: the user wants the room.
    waiting[tab] = nil
  end
  vim.schedule(function()
    if api.nvim_get_current_tabpage() == tab then
      bring_back(tab)
      M.share()
    end
  end)
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
  api.nvim_create_autocmd({ 'VimResized', 'TabEnter' }, { group = group, callback = vim.schedule_wrap(M.share) })
end

-- Those that may give way to another one, first to last.
local YIELDING = { 'page', 'answer', 'plan' }

---@param room sextant.Room
---@param wins integer[]
---@param kept? integer a window that stays
---@return integer? win
local function that_yields(room, wins, kept)
  for _, kind in ipairs(YIELDING) do
    for _, win in ipairs(wins) do
      local is_changed = vim.bo[api.nvim_win_get_buf(win)].modified
      if rooms[win].kind == kind and kind ~= room.kind and win ~= kept and not is_changed then
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
  local needs = (room.kind == 'page' or room.kind == 'plan') and math.min(room.wanted, READABLE) or LEAST
  while true do
    local wins, has_code = below(tab)
    if not has_code or budget(#wins + 1) >= needs + LEAST * #wins then
      return true
    end
    local win = that_yields(room, wins, kept)
    if not win then
      return #wins == 0 or budget(#wins + 1) >= LEAST * (#wins + 1)
    end
    give_way(tab, win)
  end
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
  local others = #below(tab)
  local win = room.open(math.max(LEAST, math.min(room.wanted, budget(others + 1) - LEAST * others)))
  rooms[win] = room
  room.given = api.nvim_win_get_height(win)
  M.share()
  return win
end

--- The window is to have other lines now, where there is room.
---@param win integer
---@param wanted integer
function M.fit(win, wanted)
  local room = rooms[win]
  if room and room.wanted ~= wanted then
    room.wanted = wanted
    M.share()
  end
end

--- The window of a kind in the current tab.
---@param kind string
---@return integer? win
function M.window(kind)
  for _, win in ipairs((below(api.nvim_get_current_tabpage()))) do
    if rooms[win].kind == kind then
      return win
    end
  end
end

--- The most lines that a window of a kind may have beside the others that are there now.
---@param kind string
---@return integer
function M.most(kind)
  local others = #below(api.nvim_get_current_tabpage()) - (M.window(kind) and 1 or 0)
  return math.max(LEAST, budget(others + 1) - LEAST * others)
end

---@return integer? win of the quickfix list in this tab
function M.list_window()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.fn.win_gettype(win) == 'quickfix' then
      return win
    end
  end
end

--- The lines of a list with so many entries.
---@param entries integer
---@return integer
function M.list_height(entries)
  return math.max(LEAST, math.min(entries, LIST_MOST))
end

return M
