--- Remembers where the user has asked for a page: a late answer takes the focus from nobody who has gone elsewhere.
local M = {}
local api = vim.api

-- The commands that show the pages again.
local COMMANDS = {
  diff = ':AgentDiff',
  history = ':AgentHistory',
  log = ':AgentLog',
  memory = ':AgentMemory',
  statistics = ':AgentStats',
  trace = ':AgentTrace',
  waiting = ':AgentResume!',
}

---@type { tab: integer, win: integer }?
local asked = nil
-- The page that the user has asked for last.
---@type string?
local wanted = nil

--- The user asks for a page in the current window.
---@param name string of the page
function M.asks(name)
  asked = { tab = api.nvim_get_current_tabpage(), win = api.nvim_get_current_win() }
  wanted = name
end

---@return boolean
local function is_there()
  if not asked then
    return true
  end
  -- The window itself may have given way.
  local stays = asked.win == api.nvim_get_current_win() or not api.nvim_win_is_valid(asked.win)
  return stays and asked.tab == api.nvim_get_current_tabpage() and api.nvim_get_mode().mode == 'n'
end

--- True if the user still is where they asked for a page; else a message names the way to it.
---@param name string of the page
---@return boolean
function M.waits_for(name)
  -- Pages are made side by side: one that was asked for earlier does not take the place of a later one.
  if wanted and wanted ~= name then
    return false
  end
  local waits = is_there()
  -- A page that comes again by itself, as a list after a change, is in its window.
  asked = nil
  if not waits then
    require('sextant.ui.say').say(('the %s is ready; %s shows it'):format(name, COMMANDS[name] or 'its command'))
  end
  return waits
end

return M
