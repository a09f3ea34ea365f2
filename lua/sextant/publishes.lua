--- What servers published, with the version that Neovim's own handler drops.
local neovim_pulls = require('sextant.neovim_pulls')
local preamble = require('sextant.preamble')
local servers = require('sextant.servers')

local M = {}

local PUBLISH = 'textDocument/publishDiagnostics'
-- How long a publish for a closed document may still be under way, in milliseconds.
local ECHO_MS = 10000

---@class sextant.Publish
---@field version? integer
---@field items table[]
---@field at integer milliseconds of vim.uv.now()
---@field count integer how many publishes of this version came
---@field ambiguous boolean may be of a document that was closed and opened again with the same versions
---@field epoch integer how many changes the client had been told of

---@class sextant.Document what was sent to one client
---@field version integer the newest
---@field epoch integer of its last change
---@field at integer of its last change, milliseconds of vim.uv.now()
---@field unsaved? boolean changed since it was opened or saved
---@field closed? { version: integer, at: integer } the document that had this URI before

---@type table<integer, table<string, sextant.Publish>> by client, by URI
local store = {}
---@type table<integer, table<string, sextant.Document>>
local documents = {}
---@type table<integer, integer> how often each client was told of a change that may concern other documents
local epochs = {}
---@type table<function, boolean>
local listeners = {}
local wrapped = {}
local group = nil

local function tell(client_id, uri)
  for listener in pairs(listeners) do
    listener(client_id, uri)
  end
end

local function is_ambiguous(client_id, uri, version)
  local document = documents[client_id] and documents[client_id][uri]
  local closed = document and document.closed
  return closed ~= nil and version ~= nil and version <= closed.version and vim.uv.now() - closed.at < ECHO_MS
end

-- A publish while a text is changed and not saved, be it of an older version, tells that the server does not wait.
local function learn_of_saves(client_id, uri)
  local document = documents[client_id] and documents[client_id][uri]
  local client = vim.lsp.get_client_by_id(client_id)
  if client and document and document.unsaved then
    servers.note_unsaved_word(client)
  end
end

local function record(client_id, params)
  local byuri = store[client_id] or {}
  store[client_id] = byuri
  local before = byuri[params.uri]
  local version = type(params.version) == 'number' and params.version or nil
  local count = (before and before.version == version and version) and before.count + 1 or 1
  byuri[params.uri] = {
    version = version,
    items = params.diagnostics,
    at = vim.uv.now(),
    count = count,
    ambiguous = is_ambiguous(client_id, params.uri, version),
    epoch = M.epoch(client_id),
  }
  learn_of_saves(client_id, params.uri)
  preamble.published(client_id, params.uri, version, count)
  tell(client_id, params.uri)
end

local function wrap(orig)
  return function(err, params, ctx, ...)
    if type(params) == 'table' and params.uri then
      record(ctx.client_id, params)
    end
    local handler = orig or vim.lsp.handlers[PUBLISH]
    if handler then
      return handler(err, params, ctx, ...)
    end
  end
end

-- The handlers table of one client is replaced by a proxy, so that a handler that the user sets later is
-- wrapped as well and still called.
local function watch_client(client)
  neovim_pulls.watch_client(client)
  if wrapped[client.id] then
    return
  end
  wrapped[client.id] = true
  local inner = client.handlers
  client.handlers = setmetatable({}, {
    __index = setmetatable({ [PUBLISH] = wrap(rawget(inner, PUBLISH)) }, { __index = inner }),
    __newindex = function(t, key, value)
      rawset(t, key, key == PUBLISH and wrap(value) or value)
    end,
  })
end

-- What Neovim told a server. A document that is opened again starts its versions again: what was published
-- before says nothing any more, and what is still under way may be of the old one.
local sent = {
  ['textDocument/didOpen'] = function(before, params)
    return { version = params.textDocument.version, at = vim.uv.now(), closed = before and before.closed }, true
  end,
  ['textDocument/didChange'] = function(before, params)
    return {
      version = params.textDocument.version,
      at = vim.uv.now(),
      unsaved = true,
      closed = before and before.closed,
    },
      false
  end,
  ['textDocument/didSave'] = function(before, _, client)
    if before then
      before.unsaved = false
      -- For whoever is told of nothing else, the saving is the change.
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

local function on_notify(args)
  local note = sent[args.data.method]
  local client = note and vim.lsp.get_client_by_id(args.data.client_id)
  if not client then
    return
  end
  local params = args.data.params
  local id, uri = client.id, params.textDocument.uri
  documents[id] = documents[id] or {}
  local document, anew = note(documents[id][uri], params, client)
  if not servers.leaves_others(client, { vim.uri_to_fname(uri) }) then
    epochs[id] = M.epoch(id) + 1
  end
  if document then
    document.epoch = M.epoch(id)
  end
  documents[id][uri] = document
  if anew then
    if store[id] then
      store[id][uri] = nil
    end
    preamble.closed(id, uri)
  end
  if client.name == 'clangd' and params.textDocument.version then
    local buf = vim.uri_to_bufnr(uri)
    if vim.api.nvim_buf_is_loaded(buf) then
      preamble.sent(id, buf, params)
    end
  end
end

--- Starts to watch: clients that run, and those to come.
function M.watch()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup('sextant_publishes', {})
  for _, client in ipairs(vim.lsp.get_clients({ _uninitialized = true })) do
    watch_client(client)
  end
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(args)
      local client = vim.lsp.get_client_by_id(args.data.client_id)
      if client then
        watch_client(client)
      end
      tell(args.data.client_id, vim.uri_from_bufnr(args.buf))
    end,
  })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(args)
      local id, uri = args.data.client_id, vim.uri_from_bufnr(args.buf)
      -- It comes before the buffer is detached.
      vim.schedule(function()
        local client = vim.lsp.get_client_by_id(id)
        if not client or client:is_stopped() then
          store[id], documents[id] = nil, nil
        end
        tell(id, uri)
      end)
    end,
  })
  vim.api.nvim_create_autocmd('LspNotify', { group = group, callback = on_notify })
end

---@return sextant.Publish?
function M.last(client_id, uri)
  return store[client_id] and store[client_id][uri]
end

--- How many changes that may concern other documents the client has been told of.
function M.epoch(client_id)
  return epochs[client_id] or 0
end

--- Whether no document that this one may depend on has changed later: only then does its version say what the server saw.
function M.is_newest(client_id, uri)
  local document = documents[client_id] and documents[client_id][uri]
  return (document and document.epoch or 0) == M.epoch(client_id)
end

--- Whether this was published after the document was last changed.
function M.is_later(client_id, uri, publish)
  local document = documents[client_id] and documents[client_id][uri]
  return not document or publish.at >= document.at
end

--- Calls `listener(client_id, uri)` at every publish, attach and detach, until the returned function is called.
function M.listen(listener)
  listeners[listener] = true
  return function()
    listeners[listener] = nil
  end
end

return M
