--- What is known of single language servers, each fact measured: who answers a pull, who looks at one file at a time.
local M = {}

M.PULL = 'textDocument/diagnostic'

-- Servers that answer a pull without advertising it.
local ANSWERS_PULL = { pyright = true, basedpyright = true, pyrefly = true }
-- Clients that hold documents but have nothing to say about them.
local NOT_A_CHECKER = { copilot = true, ['GitHub Copilot'] = true, copilot_ls = true }
--- Of a client that declares so, and of one that may do so for all that is known.
M.SAVED_ONLY = 'it checks saved files only, and this one is not saved'
M.PERHAPS_SAVED_ONLY = 'it may check saved files only, and this one is not saved'
-- Servers that never look at another file.
local ONE_FILE = { pylsp = true, jedi_language_server = true, ruff = true }
local TS_REQUEST = 'typescript.tsserverRequest'

-- Servers that were measured to publish a version once and whole; src/diagnostics/server/client.rs has the same list.
local PUBLISH_ONCE = {
  pyright = true,
  basedpyright = true,
  ruff = true,
  ty = true,
  pylsp = true,
  jedi_language_server = true,
  ['jedi-language-server'] = true,
  clangd = true,
  bashls = true,
  ['bash-language-server'] = true,
}

--- Whether the version of a publish proves that it is all there is to say of that text.
function M.publishes_once(client)
  local given = require('sextant').given.publishes_once
  return PUBLISH_ONCE[client.name] == true or (type(given) == 'table' and vim.list_contains(given, client.name))
end

---@type table<string, string> by client name: `pull` or `push`
local learned = {}

function M.is_checker(client)
  return not NOT_A_CHECKER[client.name]
end

---@type table<string, boolean> by client name: seen to publish one version twice
local two_phase = {}

--- Whether the client was seen to amend what it had published for one version.
function M.amends(client)
  return two_phase[client.name] == true
end

function M.note_amendment(client)
  two_phase[client.name] = true
end

local function sync_of(client)
  return client.server_capabilities and client.server_capabilities.textDocumentSync or {}
end

--- Whether the client tells its server of saves and not of changes: all that this knows of a text is what was saved.
function M.reads_the_disk(client)
  local sync = sync_of(client)
  return (sync.change or 0) == 0 and sync.save and true or false
end

---@type table<string, boolean> by client name: seen to publish while a text was changed and not saved
local speaks_unsaved = {}

function M.note_unsaved_word(client)
  speaks_unsaved[client.name] = true
end

--- Whether silence on an unsaved text may be the server's habit.
function M.may_wait_for_a_save(client)
  return sync_of(client).save and not speaks_unsaved[client.name]
end

local function is_source(path)
  return path:match('%.c$') or path:match('%.cc$') or path:match('%.cpp$') or path:match('%.cxx$')
end

-- Servers whose pull has answered from the text before without an error (pyrefly 1.4.1: about 1 in 200).
local ANSWERS_EARLY = { pyrefly = true }

--- Whether one answer of the client to a pull proves nothing by itself.
function M.must_confirm(client)
  return ANSWERS_EARLY[client.name] == true
end

-- Servers whose answer to a pull is of the whole buffer: no range is looked at, and no save changes it.
local PULL_OF_BUFFER = { ruff = true, ty = true }

--- Whether Neovim's own pull of the lines that are shown, before the buffer is written, is as good as any.
function M.pull_is_of_buffer(client)
  return PULL_OF_BUFFER[client.name] == true
end

--- Whether what the client says of a file depends on that file alone.
function M.looks_at_one_file(client)
  local provider = client.server_capabilities and client.server_capabilities.diagnosticProvider
  local declared = type(provider) == 'table'
    and provider.interFileDependencies == false
    and not provider.workspaceDiagnostics
  return declared or ONE_FILE[client.name] == true
end

--- Whether edits of these files leave what the client says of any other file as it is.
---@param edited string[] paths
function M.leaves_others(client, edited)
  if client.name == 'clangd' then
    -- Only a header is part of another file.
    return vim.iter(edited):all(is_source)
  end
  return M.looks_at_one_file(client)
end

local function has_command(client, name)
  local provider = client.server_capabilities and client.server_capabilities.executeCommandProvider
  return provider and vim.tbl_contains(provider.commands or {}, name)
end

--- How the client is best asked about a buffer.
---@return 'pull'|'push'|'command'
function M.way(client, buf)
  if learned[client.name] then
    return learned[client.name]
  elseif client:supports_method(M.PULL, buf) or ANSWERS_PULL[client.name] then
    return 'pull'
  elseif has_command(client, TS_REQUEST) then
    return 'command'
  end
  return 'push'
end

--- Whether it is still open if the client answers a pull.
function M.is_unknown(client)
  return not learned[client.name] and not ANSWERS_PULL[client.name]
end

---@param way 'pull'|'push'|nil nil takes back what was learned
function M.learn(client, way)
  learned[client.name] = way
end

local TS_COMMANDS = { 'syntacticDiagnosticsSync', 'semanticDiagnosticsSync', 'suggestionDiagnosticsSync' }
local TS_SEVERITY = { error = 1, warning = 2, suggestion = 4, message = 3 }

--- The requests that together are all that tsserver has to say of a file.
---@return table[] params of workspace/executeCommand
function M.tsserver_requests(path)
  return vim.tbl_map(function(name)
    return { command = TS_REQUEST, arguments = { name, { file = path } } }
  end, TS_COMMANDS)
end

--- A diagnostic of tsserver, which counts from one, in LSP's words.
function M.from_tsserver(diag)
  local from, to = diag.start or diag.startLocation, diag['end'] or diag.endLocation
  return {
    range = {
      start = { line = from.line - 1, character = from.offset - 1 },
      ['end'] = { line = to.line - 1, character = to.offset - 1 },
    },
    severity = TS_SEVERITY[diag.category] or 1,
    code = diag.code,
    message = diag.text or diag.message,
    source = 'typescript',
  }
end

return M
