--- Keeps the facts about single language servers that the binary sends, and those that were learned here.
local neovim = require('sextant.neovim')
local preamble = require('sextant.lsp.preamble')

local M = {}

M.PULL = 'textDocument/diagnostic'

---@alias sextant.Fact
---| 'answers_pulls'
---| 'publishes_once'
---| 'one_file'
---| 'only_headers'
---| 'answers_early'
---| 'publishes_at_pull'
---| 'pull_of_buffer'
---| 'preamble'
---| 'woken_by_request'
---| 'tells_when_loaded'
---| 'compiles_beside'
---| 'hides_trouble'
---| 'no_checker'
---| 'changes_by_range'
---| 'style_as_warnings'
---| 'whole_package'
---| 'answers_while_indexing'
---| 'looks_once'

---@class sextant.Tool
---@field names string[] in lower case; `*name*` is every name with this in it
---@field facts sextant.Fact[]
---@field settings string[] files that it reads again some time after they have changed

---@class sextant.ServerFacts as src/diagnostics/server_facts.rs hands them over
---@field tools sextant.Tool[]
---@field late_ms integer how long an unanswered question may still be answered late
---@field quiet_ms integer silence after a publish that proves nothing, before it is taken for the last of its kind
---@field confirm_ms integer the pause before an answer is asked for again
---@field reread_ms integer the longest time that a server may still answer by settings that have changed
---@field most integer diagnostics of one file that the binary takes; it reports the limit
---@field message integer characters of a message that it takes
---@field unended_codes string[] a compiler's errors of texts that end inside of a string, a character or a comment
---@field style { codes: integer[], setting: string } what `style_as_warnings` is about, and what turns it off
---@field notes table<string, string> why nothing is known

---@type sextant.ServerFacts? nil before the first command
local shared = nil
---@class sextant.KnownFacts
---@field facts table<string, true>
---@field settings table<string, true> names of files
---@field is_known boolean the table has a row of the server

---@type table<vim.lsp.Client, sextant.KnownFacts>
local of_client = setmetatable({}, { __mode = 'k' })

--- Takes the facts that come with the handshake.
---@param facts sextant.ServerFacts
function M.know(facts)
  shared = facts
  of_client = setmetatable({}, { __mode = 'k' })
end

--- The facts. Nothing is settled before the handshake.
---@return sextant.ServerFacts
function M.shared()
  return assert(shared, 'the binary has not handed over its facts about servers')
end

--- True if the handshake has been done.
---@return boolean
function M.has_facts()
  return shared ~= nil
end

---@param pattern string
---@param name string
local function is_named(pattern, name)
  local part = pattern:match('^%*(.*)%*$')
  if part then
    return name:find(part, 1, true) ~= nil
  end
  return pattern == name
end

---@param client vim.lsp.Client
---@return sextant.KnownFacts
local function known_of(client)
  if not shared then
    return { facts = {}, settings = {}, is_known = false }
  elseif of_client[client] then
    return of_client[client]
  end
  local info = neovim.value(client.server_info)
  local own = info and info.name
  local found = { facts = {}, settings = {}, is_known = false }
  for _, name in ipairs({ client.name:lower(), type(own) == 'string' and own:lower() or nil }) do
    for _, tool in ipairs(shared.tools) do
      local named = vim.iter(tool.names):any(function(pattern)
        return is_named(pattern, name)
      end)
      found.is_known = found.is_known or named
      for _, fact in ipairs(named and tool.facts or {}) do
        found.facts[fact] = true
      end
      for _, file in ipairs(named and tool.settings or {}) do
        found.settings[file] = true
      end
    end
  end
  -- Its own name for itself comes with the end of its start.
  if client.initialized then
    of_client[client] = found
  end
  return found
end

--- True if the fact is known of the client; before the handshake no fact is.
---@param client vim.lsp.Client
---@param fact sextant.Fact
---@return boolean
function M.knows(client, fact)
  return known_of(client).facts[fact] == true
end

--- True if the client reads this file of settings again some time after a change.
---@param client vim.lsp.Client
---@param name string of the file, without its folder
---@return boolean
function M.rereads(client, name)
  return known_of(client).settings[name] == true
end

--- True if a server that registers these methods answers pulls from then on.
---@param params table of `client/registerCapability`
---@return boolean
function M.registers_pulls(params)
  local registrations = type(params.registrations) == 'table' and params.registrations or {}
  return vim.iter(registrations):any(function(registration)
    return type(registration) == 'table' and registration.method == M.PULL
  end)
end

--- True if a document of the client may be opened again, with the text that the server has.
---@param client vim.lsp.Client
---@return boolean
function M.is_reopened(client)
  return M.knows(client, 'preamble') or M.knows(client, 'looks_once')
end

--- True if the table of facts has a row of the client's server.
---@param client vim.lsp.Client
---@return boolean
function M.is_known(client)
  return known_of(client).is_known
end

local TS_REQUEST = 'typescript.tsserverRequest'
local TS_RELOAD = 'typescript.reloadProjects'

--- gopls's request to diagnose files. Its publishes come before the answer; it leaves one out whose list stays equal.
M.DIAGNOSE = 'gopls.diagnose_files'

--- True if the version of a publish proves that it is complete for that text.
---@param client vim.lsp.Client
---@return boolean
function M.publishes_once(client)
  local given = require('sextant').given.publishes_once
  return M.knows(client, 'publishes_once') or (type(given) == 'table' and vim.list_contains(given, client.name))
end

---@type table<string, true> names of the clients that were asked to stop, until one of that name is attached
local stopped = {}
---@type table<string, true> names of the clients that were enabled by `vim.lsp.enable` when they were attached
local enabled = {}

--- The names of the clients that run.
---@return string[]
function M.running()
  local names = {}
  for _, client in ipairs(vim.lsp.get_clients({ _uninitialized = true })) do
    names[client.name] = not client:is_stopped() or nil
  end
  return vim.tbl_keys(names)
end

--- The names of the clients that the user has stopped or disabled. A client that has died does not count.
---@return string[]
function M.stopped()
  local names = vim.deepcopy(stopped)
  for name in pairs(enabled) do
    names[name] = names[name] or not vim.lsp.is_enabled(name) or nil
  end
  for _, name in ipairs(M.running()) do
    names[name] = nil
  end
  return vim.tbl_keys(names)
end

---@type table<vim.lsp.Client, integer> seconds since 1970
local since = setmetatable({}, { __mode = 'k' })

--- When the client was first seen attached, in seconds since 1970.
---@param client vim.lsp.Client
---@return integer
function M.attached_since(client)
  return since[client] or 0
end

---@param client vim.lsp.Client
function M.note_attached(client)
  since[client] = since[client] or os.time()
  stopped[client.name] = nil
  enabled[client.name] = vim.lsp.is_enabled(client.name) or nil
end

--- Notes a client that is detached from a buffer, because the buffer was taken from it or because it ends.
---@param client vim.lsp.Client
function M.note_detached(client)
  -- Neovim sets it only if the end was asked for.
  if client._is_stopping then
    stopped[client.name] = true
  end
end

---@type table<string, string> by client name: `pull` or `push`
local learned = {}

---@type table<string, boolean> by client name: seen to publish one version twice
local two_phase = {}

--- True if the client was seen to amend its publish for one version.
function M.amends(client)
  return two_phase[client.name] == true
end

function M.note_amendment(client)
  two_phase[client.name] = true
end

local function declared(client, capability)
  return neovim.without_null(client.server_capabilities and client.server_capabilities[capability])
end

local function sync_of(client)
  local sync = declared(client, 'textDocumentSync')
  return type(sync) == 'table' and sync or {}
end

--- True if the client sends its server saves and not changes: the server knows only the saved text.
function M.reads_the_disk(client)
  local sync = sync_of(client)
  return (sync.change or 0) == 0 and sync.save and true or false
end

---@type table<string, boolean> by client name: seen to publish while a text was changed and not saved
local speaks_unsaved = {}

function M.note_unsaved_word(client)
  speaks_unsaved[client.name] = true
end

--- True if silence on an unsaved text may be the server's habit.
function M.may_wait_for_a_save(client)
  return sync_of(client).save and not speaks_unsaved[client.name]
end

local function is_source(path)
  return path:match('%.c$') or path:match('%.cc$') or path:match('%.cpp$') or path:match('%.cxx$')
end

--- True if the client's diagnostics of a file depend on that file alone.
function M.looks_at_one_file(client)
  local providers = neovim.pull_providers(client)
  local says_so = #providers > 0
    and vim.iter(providers):all(function(provider)
      return provider.interFileDependencies == false and provider.workspaceDiagnostics ~= true
    end)
  return says_so or M.knows(client, 'one_file')
end

--- True if edits of these files leave the client's diagnostics of every other file as they are.
---@param edited string[] paths
function M.leaves_others(client, edited)
  if M.knows(client, 'only_headers') then
    return vim.iter(edited):all(function(path)
      return is_source(path) and not preamble.includes(client.id, path)
    end)
  end
  return M.looks_at_one_file(client)
end

local function has_command(client, name)
  local provider = declared(client, 'executeCommandProvider')
  return provider and vim.tbl_contains(provider.commands or {}, name)
end

--- The best way to ask the client about a buffer.
---@return 'pull'|'push'|'command'|'diagnose'
function M.way(client, buf)
  if learned[client.name] then
    return learned[client.name]
  elseif client:supports_method(M.PULL, buf) or M.knows(client, 'answers_pulls') then
    return 'pull'
  elseif has_command(client, TS_REQUEST) then
    return 'command'
  elseif has_command(client, M.DIAGNOSE) then
    return 'diagnose'
  end
  return 'push'
end

--- True if it is still unknown if the client answers a pull.
function M.is_unknown(client)
  return not learned[client.name] and not M.knows(client, 'answers_pulls')
end

---@param way 'pull'|'push'|nil nil takes back what was learned
function M.learn(client, way)
  learned[client.name] = way
end

---@type table<integer, true> ids of the clients whose tsserver has not read its projects since a file came or went
local outdated = {}

--- Notes that a file was made or deleted. tsserver keeps an import unresolved whose file comes later: it watches the
--- file's folder, and is asked before it hears of it.
function M.note_come_or_gone()
  for _, client in ipairs(vim.lsp.get_clients()) do
    outdated[client.id] = has_command(client, TS_RELOAD) or nil
  end
end

--- The request by which tsserver reads its projects again, once after a file came or went.
---@return table? params of workspace/executeCommand
function M.reload_request(client)
  local due = outdated[client.id]
  outdated[client.id] = nil
  return due and { command = TS_RELOAD } or nil
end

local TS_COMMANDS = { 'syntacticDiagnosticsSync', 'semanticDiagnosticsSync', 'suggestionDiagnosticsSync' }
local TS_SEVERITY = { error = 1, warning = 2, suggestion = 4, message = 3 }

--- The requests that together return all of tsserver's diagnostics of a file.
---@return table[] params of workspace/executeCommand
function M.tsserver_requests(path)
  return vim.tbl_map(function(name)
    return { command = TS_REQUEST, arguments = { name, { file = path } } }
  end, TS_COMMANDS)
end

-- vtsls publishes these errors of tsserver as warnings, unless its user says otherwise.
local function is_softened(client, diag)
  if diag.category ~= 'error' or not M.knows(client, 'style_as_warnings') then
    return false
  end
  local style, settings = M.shared().style, neovim.without_null(client.settings or {})
  local value = vim.tbl_get(settings, unpack(vim.split(style.setting, '.', { plain = true })))
  return value ~= false and vim.list_contains(style.codes, diag.code)
end

--- Converts a diagnostic of tsserver, which counts from one, to LSP's form, with the severity that the client
--- publishes: with another one an old diagnostic would be a new one.
---@param client vim.lsp.Client
function M.from_tsserver(client, diag)
  local from, to = diag.start or diag.startLocation, diag['end'] or diag.endLocation
  return {
    range = {
      start = { line = from.line - 1, character = from.offset - 1 },
      ['end'] = { line = to.line - 1, character = to.offset - 1 },
    },
    severity = is_softened(client, diag) and TS_SEVERITY.warning or TS_SEVERITY[diag.category] or 1,
    code = diag.code,
    message = diag.text or diag.message,
    source = 'typescript',
  }
end

return M
