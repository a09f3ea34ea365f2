--- Keeps the servers' publishes, with the version that Neovim's own handler drops.
local compile_runs = require('sextant.lsp.compile_runs')
local compiled_elsewhere = require('sextant.lsp.compiled_elsewhere')
local server_status = require('sextant.lsp.server_status')
local neovim = require('sextant.neovim')
local neovim_pulls = require('sextant.lsp.neovim_pulls')
local preamble = require('sextant.lsp.preamble')
local push_freshness = require('sextant.lsp.push_freshness')
local servers = require('sextant.lsp.servers')
local settings_reads = require('sextant.lsp.settings_reads')
local texts = require('sextant.lsp.texts')

-- `reopens` is true while Sextant opens a document again, which is no change.
local M = { reopens = false }

local PUBLISH = 'textDocument/publishDiagnostics'
local REFRESH = 'workspace/diagnostic/refresh'
-- The longest time that a publish for a closed document may still be under way, in milliseconds.
local ECHO_MS = 10000

---@class sextant.Publish
---@field version? integer
---@field items table[]
---@field at integer milliseconds of vim.uv.now()
---@field count integer how many publishes of this version came
---@field ambiguous boolean may be of a document that was closed and opened again with the same versions
---@field epoch integer the last change that could concern it, of those that were sent to the client

---@class sextant.Document what was sent to one client
---@field version integer the newest
---@field change integer the number of its last change
---@field concerns? integer the number of its last change that may concern others
---@field at integer of its last change, milliseconds of vim.uv.now()
---@field edited? integer the number of its last change of the text or save
---@field unsaved? boolean changed since it was opened or saved
---@field closed? { version: integer, at: integer } the document that had this URI before

---@type table<integer, table<string, sextant.Publish>> by client, by URI
local store = {}
---@type table<integer, table<string, sextant.Document>>
local documents = {}
---@type table<integer, integer> how many changes each client was sent
local changes = {}
-- When a client with a compiler was last sent a save, in seconds since 1970. One client's crate may need another's.
local saved_at = 0
---@type table<function, boolean>
local listeners = {}
local wrapped = {}
---@type table<integer, true> buffers that a client was attached to, until they are unloaded
local had_client = {}
local group = nil

---@param uri string? nil where it is about the server itself
local function notify(client_id, uri)
  for listener in pairs(listeners) do
    listener(client_id, uri)
  end
end

local function is_ambiguous(client_id, uri, version)
  local document = documents[client_id] and documents[client_id][uri]
  local closed = document and document.closed
  return closed ~= nil and version ~= nil and version <= closed.version and vim.uv.now() - closed.at < ECHO_MS
end

-- A publish while a text is changed and not saved, even of an older version, shows that the server does not wait.
local function learn_of_saves(client_id, uri)
  local document = documents[client_id] and documents[client_id][uri]
  local client = vim.lsp.get_client_by_id(client_id)
  if client and document and document.unsaved then
    servers.note_unsaved_word(client)
  end
end

-- The answer of clangd and of bash-language-server to the closing of a document is an empty list without a version. All
-- publishes of the closed document come before it. It is not shown where the document is open again.
local function ends_closed(client_id, params)
  local client = vim.lsp.get_client_by_id(client_id)
  local document = documents[client_id] and documents[client_id][params.uri]
  local is_open_again = document and document.closed and document.version >= 0
  local ends = client and is_open_again and not params.version and servers.is_reopened(client)
  if ends then
    document.closed = nil
  end
  return ends
end

-- Returns true for a publish that is not to be shown.
local function record(client_id, params)
  if ends_closed(client_id, params) then
    return true
  end
  local byuri = store[client_id] or {}
  store[client_id] = byuri
  local before = byuri[params.uri]
  local version = type(params.version) == 'number' and params.version or nil
  local count = (before and before.version == version and version) and before.count + 1 or 1
  local publish = {
    version = version,
    items = params.diagnostics,
    at = vim.uv.now(),
    count = count,
    ambiguous = is_ambiguous(client_id, params.uri, version),
    epoch = M.epoch(client_id),
  }
  local document = documents[client_id] and documents[client_id][params.uri]
  byuri[params.uri] = push_freshness.newest(before, publish, document and document.version)
  learn_of_saves(client_id, params.uri)
  compile_runs.published(client_id, params.uri, params.diagnostics)
  preamble.published(client_id, params.uri, version, count)
  notify(client_id, params.uri)
end

-- The handlers of server messages, by method. One that returns true keeps the message from Neovim.
---@type table<string, fun(client_id: integer, params: table): boolean?>
local heard = {
  [PUBLISH] = function(client_id, params)
    settings_reads.read(client_id)
    return params.uri and record(client_id, params)
  end,
  [REFRESH] = function(client_id)
    settings_reads.read(client_id)
    notify(client_id)
  end,
}
-- A registration after the start changes the way to ask a client. Neovim itself handles it after this.
heard['client/registerCapability'] = function(client_id, params)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and servers.registers_pulls(params) then
    vim.schedule(function()
      servers.learn(client, nil)
      notify(client_id)
    end)
  end
end
for method, note in pairs(server_status.methods) do
  heard[method] = function(client_id, params)
    note(client_id, params)
    if method == '$/progress' then
      compile_runs.progress(client_id, params, changes[client_id] or 0)
    elseif method == 'experimental/serverStatus' then
      compile_runs.reported(client_id, params.message)
    end
    notify(client_id)
  end
end

local function wrap(method, orig)
  return function(err, params, ctx, ...)
    -- A refresh has no parameters.
    if (type(params) == 'table' or method == REFRESH) and heard[method](ctx.client_id, params) then
      return
    end
    local handler = orig or vim.lsp.handlers[method]
    if handler then
      return handler(err, params, ctx, ...)
    end
    -- Neovim's own answer to a request without a handler; for a notification it is not read.
    return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.MethodNotFound)
  end
end

-- Notes Neovim's messages to a server. A document that is opened again starts its versions again. Earlier publishes no
-- longer count, and one that is under way may be for the old document.
local function text_of(before, params, unsaved)
  local version, closed = params.textDocument.version, before and before.closed
  return { version = version, at = vim.uv.now(), unsaved = unsaved, closed = closed }
end
local sent = {
  ['textDocument/didOpen'] = function(before, params)
    return text_of(before, params), true
  end,
  ['textDocument/didChange'] = function(before, params)
    return text_of(before, params, true), false
  end,
  ['textDocument/didSave'] = function(before, _, client)
    if before then
      before.unsaved = false
      -- For a server that gets no other message, the saving is the change.
      before.at = servers.reads_the_disk(client) and vim.uv.now() or before.at
    end
    return before, false
  end,
  ['textDocument/didClose'] = function(before)
    return {
      version = -1,
      at = vim.uv.now(),
      closed = { version = before and before.version or math.huge, at = vim.uv.now() },
    },
      true
  end,
}

-- An opened text is the one that the server has read, unless it is not saved or was closed before.
local function is_known(before, method, uri)
  return M.reopens or method == 'textDocument/didOpen' and not before and not vim.bo[vim.uri_to_bufnr(uri)].modified
end

local function on_sent(client, method, params)
  local note = sent[method]
  if not note then
    return
  end
  local id, uri = client.id, params.textDocument.uri
  documents[id] = documents[id] or {}
  if method == 'textDocument/didSave' and (not servers.has_facts() or servers.knows(client, 'compiles_beside')) then
    saved_at = compile_runs.now()
  end
  if method == 'textDocument/didSave' and servers.knows(client, 'preamble') then
    if not servers.leaves_others(client, { vim.uri_to_fname(uri) }) then
      preamble.header_saved(id, uri)
    end
  end
  local before = documents[id][uri]
  local edited = before and before.edited
  local document, reopened = note(before, params, client)
  local concerns = before and before.concerns
  changes[id] = changes[id] or 0
  if not is_known(before, method, uri) then
    changes[id] = changes[id] + 1
    concerns = changes[id]
  end
  if document then
    document.change = changes[id]
    document.concerns = concerns
    document.edited = not reopened and changes[id] or edited
  end
  documents[id][uri] = document
  if reopened then
    (store[id] or {})[uri] = nil
    preamble.closed(id, uri)
  end
  -- Before the handshake, the servers that this concerns are not known yet.
  if params.textDocument.version and (not servers.has_facts() or servers.knows(client, 'preamble')) then
    local buf = vim.uri_to_bufnr(uri)
    if vim.api.nvim_buf_is_loaded(buf) then
      preamble.sent(id, buf, params)
    end
  end
end

-- A proxy replaces the handlers table of one client. A handler that the user sets later is then wrapped as well, and
-- still called.
local function watch_client(client)
  neovim_pulls.watch_client(client, on_sent)
  if wrapped[client.id] then
    return
  end
  wrapped[client.id] = true
  local inner = client.handlers
  local wrappers = {}
  for method in pairs(heard) do
    wrappers[method] = wrap(method, rawget(inner, method))
  end
  client.handlers = setmetatable({}, {
    __index = setmetatable(wrappers, { __index = inner }),
    __newindex = function(t, key, value)
      rawset(t, key, heard[key] and wrap(key, value) or value)
    end,
  })
end

-- A client is watched from its first attach on, which comes after its first document was sent. For that document alone,
-- Neovim's event is used: from 0.12 on it leaves out the messages about a buffer that has been detached since.
local function on_notify(args)
  local client = args.data.method == 'textDocument/didOpen' and vim.lsp.get_client_by_id(args.data.client_id)
  local params = args.data.params
  if client and not (documents[client.id] and documents[client.id][params.textDocument.uri]) then
    on_sent(client, args.data.method, params)
  end
end

local function note_attached(buf)
  if not had_client[buf] then
    had_client[buf] = true
    local options = {
      once = true,
      callback = function()
        had_client[buf] = nil
      end,
    }
    vim.api.nvim_create_autocmd('BufUnload', neovim.in_buffer(buf, options))
  end
end

--- Starts to watch running and later clients.
function M.watch()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup('sextant_publishes', {})
  for _, client in ipairs(vim.lsp.get_clients({ _uninitialized = true })) do
    watch_client(client)
    servers.note_attached(client)
    vim.iter(pairs(client.attached_buffers or {})):each(note_attached)
  end
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(args)
      local client = vim.lsp.get_client_by_id(args.data.client_id)
      if client then
        watch_client(client)
        servers.note_attached(client)
      end
      note_attached(args.buf)
      notify(args.data.client_id, vim.uri_from_bufnr(args.buf))
    end,
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(args)
      local id, uri = args.data.client_id, vim.uri_from_bufnr(args.buf)
      local ending = vim.lsp.get_client_by_id(id)
      if ending then
        servers.note_detached(ending)
      end
      -- The event comes before the buffer is detached.
      vim.schedule(function()
        local client = vim.lsp.get_client_by_id(id)
        if not client or client:is_stopped() then
          store[id], documents[id] = nil, nil
          server_status.forget(id)
          compile_runs.forget(id)
          compiled_elsewhere.forget(id)
        end
        notify(id, uri)
      end)
    end,
  })
  vim.api.nvim_create_autocmd('LspNotify', { group = group, callback = on_notify })
end

--- True if a client is attached to the buffer, or was since it was loaded.
---@param buf integer
function M.was_attached(buf)
  return had_client[buf] == true
end

---@return sextant.Publish? without a URI that of any document
function M.last(client_id, uri)
  local by_uri = store[client_id] or {}
  return by_uri[uri or next(by_uri)]
end

--- The last change that may concern other documents, of those that were sent to the client. The relevant changes are
--- looked up when it is called: the facts about servers come with the first command, the changes may be older.
function M.epoch(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client or servers.looks_at_one_file(client) then
    return 0
  elseif not servers.knows(client, 'only_headers') then
    return changes[client_id] or 0
  end
  local newest = 0
  for uri, document in pairs(documents[client_id] or {}) do
    if (document.concerns or 0) > newest and not servers.leaves_others(client, { vim.uri_to_fname(uri) }) then
      newest = document.concerns
    end
  end
  return newest
end

--- The last change of a text, or save, of those that were sent to the client.
function M.last_edit(client_id)
  return vim.iter(pairs(documents[client_id] or {})):fold(0, function(last, _, document)
    return math.max(last, document.edited or 0)
  end)
end

--- When a client with a compiler was last sent a save, in seconds since 1970.
function M.saved_at()
  return saved_at
end

--- True if no document that this one may depend on has changed later: only then does its version identify the text that
--- the server saw.
function M.is_newest(client_id, uri)
  local document = documents[client_id] and documents[client_id][uri]
  local client = vim.lsp.get_client_by_id(client_id)
  local is_newest = (document and document.change or 0) >= M.epoch(client_id)
  return is_newest and not (client and texts.has_unsaved_header(client, uri))
end

--- True if this was published after the document was last changed.
function M.is_later(client_id, uri, publish)
  local document = documents[client_id] and documents[client_id][uri]
  return not document or publish.at >= document.at
end

--- Calls `listener(client_id, uri)` at every publish, attach and detach, until the returned function is called. At
--- every message of the server about itself it calls `listener(client_id)`.
function M.listen(listener)
  listeners[listener] = true
  return function()
    listeners[listener] = nil
  end
end

return M
