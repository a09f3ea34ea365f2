--- Asks the servers for code actions at a place, and for the change that an action would make.
local buffers = require('sextant.edit.buffers')
local neovim = require('sextant.neovim')
local collect_diagnostics = require('sextant.lsp.collect_diagnostics')

local M = {}

---@type table<string, { client: vim.lsp.Client, action: table, edit: table?, buf: integer, tick: integer }>
local offers = {}
local count = 0

local METHOD_NOT_FOUND = -32601
-- The wait for a client that has not answered the last question for its actions.
local MUTE_MS = 200
---@type table<integer, true> by the client's id
local mute = {}

local function overlaps(a, b)
  local function before(p, q)
    return p.line < q.line or (p.line == q.line and p.character < q.character)
  end
  return not before(a['end'], b.start) and not before(b['end'], a.start)
end

local function items_at(client, buf, range)
  local items = collect_diagnostics.raw_items(client.id, buf)
  if not range then
    return items
  end
  return vim.tbl_filter(function(item)
    return overlaps(item.range, range)
  end, items)
end

-- Converts a range in the binary's UTF-16 to the client's own unit.
local function to_client(range, buf, encoding)
  if encoding == 'utf-16' then
    return range
  end
  local function convert(pos)
    local line = vim.api.nvim_buf_get_lines(buf, pos.line, pos.line + 1, false)[1] or ''
    local byte = vim.str_byteindex(line, 'utf-16', pos.character, false)
    return { line = pos.line, character = encoding == 'utf-8' and byte or vim.str_utfindex(line, 'utf-32', byte, false) }
  end
  return { start = convert(range.start), ['end'] = convert(range['end']) }
end

local function whole(buf)
  return { start = { line = 0, character = 0 }, ['end'] = { line = vim.api.nvim_buf_line_count(buf), character = 0 } }
end

---@param sent table the action as the server has sent it
---@param action table the same without its nulls
local function offer(client, buf, sent, action)
  count = count + 1
  local id = 'f' .. count
  offers[id] = { client = client, action = sent, edit = action.edit, buf = buf, tick = vim.b[buf].changedtick }
  local repairs = {}
  for _, item in ipairs(action.diagnostics or {}) do
    repairs[#repairs + 1] =
      { range = item.range, code = item.code and tostring(item.code) or nil, message = item.message }
  end
  return {
    id = id,
    client = client.name,
    encoding = client.offset_encoding,
    title = action.title,
    kind = action.kind or '',
    preferred = action.isPreferred == true,
    repairs = repairs,
  }
end

local function forget_old()
  for id, known in pairs(offers) do
    if not vim.api.nvim_buf_is_loaded(known.buf) or vim.b[known.buf].changedtick ~= known.tick then
      offers[id] = nil
    end
  end
end

--- The fixes offered for a range (UTF-16), or without a range the source actions of the file. The answer also names the
--- clients that have not answered. With `waits`, a client that has missed a question gets the whole time.
function M.fixes(params, reply)
  local buf = buffers.find(params.path)
  if not buf then
    return reply({ kind = 'not_found' })
  end
  forget_old()
  local clients = vim.lsp.get_clients({ bufnr = buf, method = 'textDocument/codeAction' })
  local found, silent, left, closed = {}, {}, #clients, false
  local function close()
    if not closed then
      closed = true
      reply(nil, { found = found, silent = silent })
    end
  end
  if left == 0 then
    return close()
  end
  for _, client in ipairs(clients) do
    local over = false
    local function answered(missing)
      if not over then
        over = true
        if missing then
          silent[#silent + 1] = client.name
        end
        left = left - 1
        if left == 0 then
          close()
        end
      end
    end
    local range = params.range and to_client(params.range, buf, client.offset_encoding) or nil
    local ask = {
      textDocument = { uri = vim.uri_from_bufnr(buf) },
      range = range or whole(buf),
      context = {
        diagnostics = items_at(client, buf, range),
        only = range and { 'quickfix' } or { 'source' },
        triggerKind = 1,
      },
    }
    local ok = client:request('textDocument/codeAction', ask, function(err, actions)
      mute[client.id] = nil
      for _, sent in ipairs(not err and type(actions) == 'table' and actions or {}) do
        local action = neovim.without_null(sent)
        -- A bare Command has a string here; it would run code that cannot be looked at first.
        if type(action) == 'table' and type(action.command) ~= 'string' and not action.disabled then
          found[#found + 1] = offer(client, buf, sent, action)
        end
      end
      -- A server without code actions has no action to offer.
      answered(err ~= nil and err.code ~= METHOD_NOT_FOUND)
    end, buf)
    if not ok then
      answered(true)
    end
    vim.defer_fn(function()
      mute[client.id] = mute[client.id] or not over or nil
      answered(true)
    end, math.max(1, math.min(params.ms, mute[client.id] and not params.waits and MUTE_MS or params.ms)))
  end
end

--- The change of an offer, as LSP's WorkspaceEdit.
function M.change(params, reply)
  local known = offers[params.id]
  if not known or not vim.api.nvim_buf_is_loaded(known.buf) or vim.b[known.buf].changedtick ~= known.tick then
    return reply({ kind = 'fix_gone' })
  end
  local encoding = known.client.offset_encoding
  if known.edit then
    return reply(nil, { edit = known.edit, encoding = encoding })
  end
  local closed = false
  local ok = known.client:request('codeAction/resolve', known.action, function(err, answer)
    if closed then
      return
    end
    closed = true
    local resolved = neovim.without_null(answer)
    if err or type(resolved) ~= 'table' or not resolved.edit then
      return reply({ kind = 'unsupported', message = 'a fix that is a command and not an edit' })
    end
    reply(nil, { edit = resolved.edit, encoding = encoding })
  end, known.buf)
  if not ok then
    return reply({ kind = 'unsupported', message = 'a fix of a server that has stopped' })
  end
  vim.defer_fn(function()
    if not closed then
      closed = true
      reply({ kind = 'timeout', ms = params.ms })
    end
  end, math.max(1, params.ms))
end

return M
