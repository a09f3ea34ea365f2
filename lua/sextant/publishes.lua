--- What servers published, with the version that Neovim's own handler drops.
local preamble = require('sextant.preamble')

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

---@class sextant.Document what was sent to one client
---@field version integer the newest
---@field closed? { version: integer, at: integer } the document that had this URI before

---@type table<integer, table<string, sextant.Publish>> by client, by URI
local store = {}
---@type table<integer, table<string, sextant.Document>>
local documents = {}
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
  }
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
  ['textDocument/didOpen'] = function(client_id, uri, params)
    local before = documents[client_id][uri]
    documents[client_id][uri] = { version = params.textDocument.version, closed = before and before.closed }
    if store[client_id] then
      store[client_id][uri] = nil
    end
  end,
  ['textDocument/didChange'] = function(client_id, uri, params)
    local document = documents[client_id][uri] or {}
    documents[client_id][uri] = document
    document.version = params.textDocument.version
  end,
  ['textDocument/didClose'] = function(client_id, uri)
    local document = documents[client_id][uri]
    documents[client_id][uri] = { version = -1, closed = { version = document and document.version or math.huge, at = vim.uv.now() } }
    if store[client_id] then
      store[client_id][uri] = nil
    end
    preamble.closed(client_id, uri)
  end,
}

local function on_notify(args)
  local note = sent[args.data.method]
  local client = note and vim.lsp.get_client_by_id(args.data.client_id)
  if not client then
    return
  end
  local params = args.data.params
  local uri = params.textDocument.uri
  documents[client.id] = documents[client.id] or {}
  note(client.id, uri, params)
  if client.name == 'clangd' and params.textDocument.version then
    local buf = vim.uri_to_bufnr(uri)
    if vim.api.nvim_buf_is_loaded(buf) then
      preamble.sent(client.id, buf, params)
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

--- Calls `listener(client_id, uri)` at every publish, attach and detach, until the returned function is called.
function M.listen(listener)
  listeners[listener] = true
  return function()
    listeners[listener] = nil
  end
end

return M
