--- What a server tells of itself beside its diagnostics: that it has loaded, or that it cannot check at all.
--
-- Everything is noted of every client, since the facts that say whom it concerns come with the first command and a
-- server speaks once. src/diagnostics/server/server_status.rs is the same for a shell.
local M = {}

-- Characters of a message that are kept.
local NOTE = 200

---@class sextant.Mood
---@field complaints integer errors that it has logged
---@field last string the first line of the last one
---@field trouble? string why it cannot check any file, until it says otherwise
---@field at_rest? boolean whether it said last that it has loaded everything
---@field says_so? boolean whether it tells of its own state, so that nothing else is taken for that

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

--- What is listened to, by method.
---@type table<string, fun(client_id: integer, params: table)>
M.methods = {
  ['window/logMessage'] = message,
  ['window/showMessage'] = message,
  -- ESLint's word on its last run: 1 is well; a warning or an error is not.
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
  -- Whether the status is told is the user's to configure. Without it: a compiler's first run ends after all loading.
  ['$/progress'] = function(client_id, params)
    local token, value = params.token, params.value
    local checked = type(token) == 'string' and token:find('rust-analyzer/flycheck', 1, true)
    if checked and type(value) == 'table' and value.kind == 'end' and not of(client_id).says_so then
      of(client_id).at_rest = true
    end
  end,
}

--- How many errors it has logged.
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

--- Why an empty list that was asked for after so many complaints says nothing; nil where it does.
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

--- It has found something, so it can check.
---@param client_id integer
function M.has_found(client_id)
  of(client_id).trouble = nil
end

--- The client is gone.
---@param client_id integer
function M.forget(client_id)
  moods[client_id] = nil
end

return M
