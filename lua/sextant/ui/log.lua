--- Lists the conversations of a workspace, and opens one of them again.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

---@class sextant.LoggedConversation
---@field id string
---@field at integer seconds since 1970
---@field turns integer
---@field title string the first request

-- The fewest rows of a conversation beside the list, and its bar.
local READABLE, BAR = 8, 1

-- The conversation of each line of the list.
---@type table<integer, string>
local by_line = {}
---@type string?
local root = nil

-- Does something with the conversation under the cursor.
---@param act fun(id: string)
---@return fun()
local function with_one(act)
  return function()
    local id = by_line[vim.fn.line('.')]
    if not id then
      return require('sextant.ui.say').say('no conversation is on this line')
    end
    act(id)
  end
end

local reopen = with_one(function(id)
  require('sextant.rpc.channel').send('reopen', { id = id, root = root })
end)

local again = with_one(function(id)
  require('sextant.ui.ask_again').ask(id, root)
end)

local function find()
  vim.ui.input({ prompt = 'Find in conversations: ' }, function(words)
    if words then
      vim.cmd({ cmd = 'AgentLog', args = words ~= '' and { words } or {} })
    end
  end)
end

local KEYS = {
  { '<CR>', reopen, 'open the conversation again; i there asks on' },
  { 'a', again, 'ask its first request again, with its scope and mode' },
  { 's', find, 'list those that hold words' },
  { 'q', '<Cmd>close<CR>', 'close the list' },
}

local function help()
  local lines = vim.tbl_map(function(key)
    return ('%-5s %s'):format(key[1], key[3])
  end, KEYS)
  require('sextant.ui.key_help').open('Conversations', lines)
end

---@param event { root: string, words: string, conversations: sextant.LoggedConversation[] }
---@return string[]
local function lines_of(event)
  by_line = {}
  local title = event.words ~= '' and ('# Conversations with “%s”'):format(event.words) or '# Conversations'
  local lines = { title, '' }
  for _, one in ipairs(event.conversations) do
    local turns = require('sextant.ui.say').counted(one.turns, 'turn')
    lines[#lines + 1] = ('%s  %-8s  %s'):format(os.date('%Y-%m-%d %H:%M', one.at), turns, one.title)
    by_line[#lines] = one.id
  end
  if #event.conversations == 0 then
    lines[#lines + 1] = 'none'
  end
  return lines
end

--- Closes the list where it leaves the conversation that it has opened no room to be read.
function M.give_way()
  local conversation, list = scratch.window('answer'), scratch.window('log')
  if conversation and list and api.nvim_win_get_height(conversation) - BAR < READABLE then
    -- As by its key: windows that gave way to the list come back.
    api.nvim_set_current_win(list)
    api.nvim_win_close(list, true)
    api.nvim_set_current_win(conversation)
  end
end

--- Opens the list below and enters it, where the reader waits for it.
---@param event { root: string, words: string, conversations: sextant.LoggedConversation[] }
function M.open(event)
  if not require('sextant.ui.reader').waits_for('log') then
    return
  end
  root = event.root
  local win = scratch.open('log', lines_of(event))
  local buf = api.nvim_win_get_buf(win)
  for _, key in ipairs(KEYS) do
    scratch.map(buf, key[1], key[2], key[3])
  end
  scratch.map(buf, 'g?', help, 'Show the keys')
  -- One line a conversation: a long request is cut at the edge.
  api.nvim_set_option_value('wrap', false, { win = win, scope = 'local' })
  api.nvim_win_set_cursor(win, { math.min(3, api.nvim_buf_line_count(buf)), 0 })
end

return M
