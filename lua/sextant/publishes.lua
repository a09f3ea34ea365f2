--- What servers published, with the version that Neovim's own handler drops.
local M = {}

local PUBLISH = 'textDocument/publishDiagnostics'

---@class sextant.Publish
---@field version? integer
---@field items table[]
---@field at integer milliseconds of vim.uv.now()
---@field count integer how many publishes of this version came

---@type table<integer, table<string, sextant.Publish>> by client, by URI
local store = {}
---@type table<integer, boolean> clients that have published anything
local has_published = {}
---@type table<function, boolean>
local listeners = {}
local wrapped = {}
local group = nil

local function record(client_id, params)
  local byuri = store[client_id] or {}
  store[client_id] = byuri
  local before = byuri[params.uri]
  local version = type(params.version) == 'number' and params.version or nil
  local count = (before and before.version == version and version) and before.count + 1 or 1
  byuri[params.uri] = { version = version, items = params.diagnostics or {}, at = vim.uv.now(), count = count }
  has_published[client_id] = true
  for listener in pairs(listeners) do
    listener(client_id, params.uri)
  end
end

local function wrap(orig)
  return function(err, params, ctx, ...)
    if params and params.uri then
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
      for listener in pairs(listeners) do
        listener(args.data.client_id, vim.uri_from_bufnr(args.buf))
      end
    end,
  })
  -- A reopened document starts its versions again: what was published before says nothing any more.
  vim.api.nvim_create_autocmd('LspNotify', {
    group = group,
    callback = function(args)
      if args.data.method == 'textDocument/didOpen' then
        local byuri = store[args.data.client_id]
        if byuri then
          byuri[args.data.params.textDocument.uri] = nil
        end
      end
    end,
  })
end

---@return sextant.Publish?
function M.last(client_id, uri)
  return store[client_id] and store[client_id][uri]
end

--- Whether the client has ever published diagnostics while we watched.
function M.ever(client_id)
  return has_published[client_id] == true
end

--- Calls `listener(client_id, uri)` at every publish and attach, until the returned function is called.
function M.listen(listener)
  listeners[listener] = true
  return function()
    listeners[listener] = nil
  end
end

return M
