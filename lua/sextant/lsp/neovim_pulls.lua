--- Follows Neovim's own pulls for the visible buffer: the text of each, and the time when its answer may be used.
--
-- Neovim pulls after every change of the current buffer. A second pull for the same text would make the server work
-- twice and wait for itself. So messages are noted at the client's RPC functions, in both directions. There every
-- request has its number, and no message to the server is missing in between.
local server_status = require('sextant.lsp.server_status')
local servers = require('sextant.lsp.servers')
local texts = require('sextant.lsp.texts')

local M = {}

-- The greatest age, in milliseconds, of a pull that was sent before any question. The files on disk are not watched.
local RECENT_MS = 1000
local CANCEL = '$/cancelRequest'

---@class sextant.NeovimPull
---@field id integer?
---@field uri string
---@field buf integer
---@field texts string the texts that the server had
---@field at integer when it was sent, milliseconds of vim.uv.now()
---@field complaints integer errors that the server had logged then
---@field at_rest boolean whether the server had reported that it has loaded
---@field void boolean? of an older text, or cancelled: its answer is worth nothing
---@field cancelled boolean? called off by Neovim
---@field answer { err: table?, result: any }?
---@field waiting table<function, boolean>

---@class sextant.Watched what was seen of one client
---@field pulls table<string, sextant.NeovimPull> the newest, by URI
---@field open table<integer, sextant.NeovimPull> those without an answer, by id
---@field ours boolean whether the request that is being sent is ours
---@field sent_count table<string, integer> how often each document was sent

---@type table<table, sextant.Watched> by client
local watched = setmetatable({}, { __mode = 'k' })

local function wake(pull)
  local waiting = pull.waiting
  pull.waiting = {}
  for waiter in pairs(waiting) do
    waiter()
  end
end

local function drop(seen, pull)
  pull.void = true
  if seen.pulls[pull.uri] == pull then
    seen.pulls[pull.uri] = nil
  end
  -- Not within the send: the waiter will send a request of its own.
  vim.schedule(function()
    wake(pull)
  end)
end

-- True if a server that gets this message may answer differently from now on.
local function outdates(client, method, params, pull)
  if vim.startswith(method, '$/') then
    return false
  end
  local document = type(params) == 'table' and params.textDocument
  if not vim.startswith(method, 'textDocument/') or type(document) ~= 'table' then
    return true
  elseif document.uri ~= pull.uri then
    return not servers.looks_at_one_file(client)
  end
  return method ~= 'textDocument/didSave' or not servers.knows(client, 'pull_of_buffer')
end

local function on_notify(client, seen, method, params)
  local called_off = method == CANCEL and type(params) == 'table' and seen.open[params.id]
  if called_off then
    called_off.cancelled = true
    drop(seen, called_off)
  end
  for _, pull in pairs(seen.pulls) do
    if outdates(client, method, params, pull) then
      drop(seen, pull)
    end
  end
  if method == 'textDocument/didChange' or method == 'textDocument/didOpen' then
    local uri = params.textDocument.uri
    seen.sent_count[uri] = (seen.sent_count[uri] or 0) + 1
  end
end

-- Neovim 0.11 names the lines on screen, which LSP does not know: a server might look at nothing else.
local function is_whole(client, buf, params)
  local range = params.range
  if not range or servers.knows(client, 'pull_of_buffer') then
    return true
  end
  local last = vim.api.nvim_buf_line_count(buf) - 1
  return range.start.line == 0 and range.start.character == 0 and range['end'].line > last
end

local function new_pull(client, seen, params)
  local buf = vim.uri_to_bufnr(params.textDocument.uri)
  if not vim.api.nvim_buf_is_loaded(buf) or not is_whole(client, buf, params) then
    return nil
  end
  local pull = {
    uri = params.textDocument.uri,
    buf = buf,
    texts = texts.texts_of(client, buf),
    at = vim.uv.now(),
    complaints = server_status.complaints(client.id),
    at_rest = server_status.at_rest(client.id),
    waiting = {},
  }
  local before = seen.pulls[pull.uri]
  if before then
    drop(seen, before)
  end
  seen.pulls[pull.uri] = pull
  return pull
end

-- Called in the tick of the answer, before Neovim shows it.
local function answered(seen, pull, err, result)
  if not pull.void then
    pull.answer = { err = err, result = result }
    if err and seen.pulls[pull.uri] == pull then
      seen.pulls[pull.uri] = nil
    end
    wake(pull)
  end
end

--- Starts to watch a client. Its RPC functions are replaced by ones that note every message and call them.
---@param client vim.lsp.Client
---@param on_sent fun(client: vim.lsp.Client, method: string, params: any) called with every notification that goes out
function M.watch_client(client, on_sent)
  local rpc = client.rpc
  if watched[client] or type(rpc) ~= 'table' then
    return
  end
  local seen = { pulls = {}, open = {}, sent_count = {}, ours = false }
  watched[client] = seen
  local request, notify = rpc.request, rpc.notify
  rpc.notify = function(method, params, ...)
    pcall(on_notify, client, seen, method, params)
    pcall(on_sent, client, method, params)
    return notify(method, params, ...)
  end
  rpc.request = function(method, params, callback, on_reply)
    local ours = seen.ours
    seen.ours = false
    if ours or method ~= servers.PULL or type(params) ~= 'table' or type(params.textDocument) ~= 'table' then
      return request(method, params, callback, on_reply)
    end
    local known, pull = pcall(new_pull, client, seen, params)
    if not known or not pull then
      return request(method, params, callback, on_reply)
    end
    local ok, id = request(method, params, function(err, result, ...)
      if pull.cancelled then
        -- Some servers answer it all the same, with an empty list, which would stay: to the next pull they answer that
        -- nothing has changed.
        return
      end
      local good, problem = pcall(answered, seen, pull, err, result)
      if not good then
        vim.schedule(function()
          error(problem)
        end)
      end
      return callback(err, result, ...)
    end, function(...)
      -- Neovim drops the answer of a request that the server cancels; any other answer follows this at once.
      vim.schedule(function()
        seen.open[pull.id or 0] = nil
        if not pull.answer and not pull.void then
          drop(seen, pull)
        end
      end)
      if on_reply then
        return on_reply(...)
      end
    end)
    pull.id = id
    if ok then
      seen.open[id] = pull
    else
      drop(seen, pull)
    end
    return ok, id
  end
end

--- Runs `send`, whose request is Sextant's and must not count as Neovim's.
function M.as_ours(client, send)
  local seen = watched[client]
  if seen then
    seen.ours = true
  end
  local ok, id = send()
  if seen then
    seen.ours = false
  end
  return ok, id
end

--- The number of times that the document was sent to the client; it changes when Neovim is about to pull.
function M.sent(client, uri)
  local seen = watched[client]
  return seen and seen.sent_count[uri] or 0
end

--- Neovim's pull for the current texts, answered or under way; nil if there is no valid one.
---@return sextant.NeovimPull?
function M.of(client, buf)
  local seen = watched[client]
  local pull = seen and seen.pulls[vim.uri_from_bufnr(buf)]
  if
    pull
    and pull.buf == buf
    and not pull.void
    and pull.texts == texts.texts_of(client, buf)
    and vim.uv.now() - pull.at <= RECENT_MS
  then
    return pull
  end
end

--- Calls `listener` once, when the pull is answered or void, unless the returned function is called before.
---@param pull sextant.NeovimPull
function M.listen(pull, listener)
  pull.waiting[listener] = true
  return function()
    pull.waiting[listener] = nil
  end
end

return M
