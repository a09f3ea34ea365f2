--- Fills the quickfix list with a task's new diagnostics: one list a task, absolute paths, the project in its title.
local M = {}
local api = vim.api

---@type table<string, integer> the list of the last task that changed something in each workspace, by root; of a
---client's task by both
local lists = {}
-- The task whose diagnostics the list of a key shows.
---@type table<string, string>
local task_of = {}
-- The keys whose list was closed here because nothing of it was there any more.
---@type table<string, true>
local emptied = {}
-- The lists that have opened their window. One that is closed now was closed by the user, and an update leaves it so.
---@type table<integer, true>
local opened = {}

local function to_items(entries, root)
  return vim.tbl_map(function(entry)
    return {
      filename = vim.fs.joinpath(root, entry.path),
      lnum = entry.line,
      col = entry.column,
      type = entry.kind,
      text = entry.text,
    }
  end, entries)
end

local open

---@param count integer
---@param enters? boolean
function open(count, enters)
  require('sextant.ui.say').when_normal(function()
    local room = require('sextant.ui.room')
    local function enter()
      local win = enters and room.list_window()
      if win then
        api.nvim_set_current_win(win)
      end
    end
    -- The user's own height of an open list stays.
    if room.list_window() then
      return enter()
    end
    local function split(height)
      local here = api.nvim_get_current_win()
      vim.cmd(('botright copen %d'):format(height))
      local win = api.nvim_get_current_win()
      api.nvim_set_current_win(here)
      return win
    end
    local function come_back()
      if vim.fn.getqflist({ size = 0 }).size > 0 then
        open(count)
      end
    end
    room.open({ kind = 'list', wanted = room.list_height(count), open = split, back = come_back }, enters == true)
    enter()
  end)
end

--- Brings a list that was put here up to date, if it is still there.
---@param key string
---@param items table[]
---@param title string
function M.amend(key, items, title)
  local known = lists[key]
  if known and vim.fn.getqflist({ id = known, nr = 0 }).id ~= 0 then
    vim.fn.setqflist({}, 'r', { id = known, items = items, title = title })
  end
end

--- Puts a list that the user has asked for, and enters it.
---@param key string
---@param items table[]
---@param title string
function M.put(key, items, title)
  local current = vim.fn.getqflist({ context = 1 }).context
  if type(current) == 'table' and current.sextant == key then
    M.amend(key, items, title)
  else
    vim.fn.setqflist({}, ' ', { items = items, title = title, context = { sextant = key } })
    lists[key] = vim.fn.getqflist({ id = 0 }).id
  end
  open(#items, true)
end

-- An empty list of ours takes no room; the user's own list stays.
---@param key string
---@return boolean closed
local function close(key)
  local current = vim.fn.getqflist({ context = 1, size = 1 })
  local ours = type(current.context) == 'table' and current.context.sextant == key
  local win = require('sextant.ui.room').list_window()
  if ours and current.size == 0 and win and win ~= api.nvim_get_current_win() then
    opened[lists[key]] = nil
    return (pcall(api.nvim_win_close, win, false))
  end
  return false
end

-- A new list for each task, so that `:colder` gives the user's own back; later findings, an undo too, amend it in
-- place.
---@param event table `introduced`, with the root of its workspace
function M.show(event)
  local root = event.root
  local key = event.of and (root .. '\0' .. event.of) or root
  task_of[key], emptied[key] = event.task, nil
  local items = to_items(event.entries, root)
  local title = require('sextant.ui.quickfix_title').of(event, 'new')
  local current = vim.fn.getqflist({ context = 1, id = 0 })
  local ours = type(current.context) == 'table' and current.context.sextant == key
  local known = lists[key]
  if event.amend and known and vim.fn.getqflist({ id = known, nr = 0 }).id ~= 0 then
    vim.fn.setqflist({}, 'r', { id = known, items = items, title = title })
  elseif #items > 0 or ours then
    vim.fn.setqflist({}, ' ', { items = items, title = title, context = { sextant = key } })
    lists[key] = vim.fn.getqflist({ id = 0 }).id
  end
  if event.open and #items > 0 and not opened[lists[key]] then
    opened[lists[key]] = true
    open(#items)
  elseif #items == 0 then
    close(key)
  end
end

--- Lets the list of a task follow what is still there of it; one that becomes empty is closed, and comes back.
---@param task { task: string, root: string, of?: string }
---@param items table[]
function M.follow(task, items)
  local key = task.of and (task.root .. '\0' .. task.of) or task.root
  local known = lists[key]
  local there = known and vim.fn.getqflist({ id = known, nr = 0, items = 0, idx = 0 }) or { id = 0 }
  if task_of[key] ~= task.task or there.id == 0 then
    return
  end
  local place = {}
  for at, item in ipairs(items) do
    place[item.text] = place[item.text] or at
  end
  local is_same, idx = #there.items == #items, nil
  for at, item in ipairs(there.items) do
    local now = place[item.text]
    is_same = is_same and now ~= nil
    idx = idx or at >= there.idx and now or nil
  end
  if is_same then
    return
  end
  -- The place in the list stays at its entry, or at the next one that is kept.
  vim.fn.setqflist({}, 'r', { id = known, items = items, idx = idx or math.max(1, #items) })
  if #items == 0 then
    emptied[key] = close(key) or nil
  elseif emptied[key] then
    emptied[key], opened[known] = nil, true
    open(#items)
  end
end

return M
