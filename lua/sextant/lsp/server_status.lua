--- Keeps a server's reports about itself beside its diagnostics: that it has loaded, or that it cannot check at all.
--
-- Every client's messages are noted, since the facts about the relevant servers come with the first command and a
-- server reports once. src/diagnostics/server/server_status.rs is the same for a shell.
local background_work = require('sextant.lsp.background_work')

local M = {}

-- Characters of a message that are kept.
local NOTE = 200

---@class sextant.Mood
---@field complaints integer errors that it has logged
---@field last string the first line of the last one
---@field trouble? string why it cannot check any file, until it reports otherwise
---@field at_rest? boolean whether its last report was that it has loaded everything
---@field says_so? boolean whether it reports its own state, so that no other message is taken for it

---@type table<integer, sextant.Mood> by client
local moods = {}

---@param client_id integer
---@return sextant.Mood
local function of(client_id)
  moods[client_id] = moods[client_id] or { complaints = 0, last = '' }
  return moods[client_id]
end

---@param client_id integer
---@param params { type?: integer, message?: string }
local function message(client_id, params)
  if params.type == vim.lsp.protocol.MessageType.Error then
    local mood = of(client_id)
    mood.complaints = mood.complaints + 1
    -- A zero byte would make it a blob, which no text function takes.
    mood.last = vim.fn.strcharpart(tostring(params.message):match('[^\n%z]*'), 0, NOTE)
  end
end

---@param why string
local function cannot_check(why)
  return function(client_id)
    of(client_id).trouble = 'it cannot check: ' .. why
  end
end

--- The handlers of messages, by method.
---@type table<string, fun(client_id: integer, params: table)>
M.methods = {
  ['window/logMessage'] = message,
  ['window/showMessage'] = message,
  -- ESLint's report on its last run: 1 is well; a warning or an error is not.
  ['eslint/status'] = function(client_id, params)
    of(client_id).trouble = params.state ~= 1 and 'it says that it could not check' or nil
  end,
  ['eslint/noLibrary'] = cannot_check('eslint/noLibrary'),
  ['eslint/noConfig'] = cannot_check('eslint/noConfig'),
  ['eslint/probeFailed'] = cannot_check('eslint/probeFailed'),
  ['experimental/serverStatus'] = function(client_id, params)
    local mood = of(client_id)
    mood.says_so, mood.at_rest = true, params.quiescent == true
  end,
  -- The user configures whether the status is reported. Without it, a compiler's first run ends after all loading.
  ['$/progress'] = function(client_id, params)
    background_work.progress(client_id, params)
    local token, value = params.token, params.value
    local checked = type(token) == 'string' and token:find('rust-analyzer/flycheck', 1, true)
    if checked and type(value) == 'table' and value.kind == 'end' and not of(client_id).says_so then
      of(client_id).at_rest = true
    end
  end,
}

--- The number of errors that it has logged.
---@param client_id integer
---@return integer
function M.complaints(client_id)
  return of(client_id).complaints
end

---@param client_id integer
---@return boolean
function M.at_rest(client_id)
  return of(client_id).at_rest == true
end

--- The reason why an empty list, asked for after so many complaints, does not count; nil if it does.
---@param client_id integer
---@param complaints integer
---@return string?
function M.objection(client_id, complaints)
  local mood = of(client_id)
  if mood.trouble then
    return mood.trouble
  elseif mood.complaints ~= complaints then
    return 'it logged an error meanwhile: ' .. mood.last
  end
end

--- Notes that it has found something, so it can check.
---@param client_id integer
function M.has_found(client_id)
  of(client_id).trouble = nil
end

--- Drops a client that is gone.
---@param client_id integer
function M.forget(client_id)
  moods[client_id] = nil
  background_work.forget(client_id)
end

return M
