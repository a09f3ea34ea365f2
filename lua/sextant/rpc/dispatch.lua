--- Handles the binary's calls: the end of the handshake, and questions. Only the binary calls this.
local client_starts = require('sextant.lsp.client_starts')
local publishes = require('sextant.lsp.publishes')
local rpc = require('sextant.rpc.channel')
local servers = require('sextant.lsp.servers')

local M = {}

-- JSON's null is nil here: `vim.NIL` would count as true.
local function decode(json)
  return vim.json.decode(json, { luanil = { object = true, array = true } })
end

--- Called by the binary once it has read the greeting.
---@param json string
function M.welcome(json)
  local info = decode(json)
  local facts = info.servers
  info.servers = nil
  if rpc.welcome(info) then
    servers.know(facts)
    publishes.watch()
    client_starts.watch()
    rpc.open()
  end
end

-- The questions of the binary. Each handler gets the parameters and a `reply(err, result)` to call once.
local handlers = {
  read = { 'sextant.edit.buffers', 'read' },
  apply = { 'sextant.edit.apply', 'apply' },
  reread = { 'sextant.edit.buffers', 'reread' },
  close = { 'sextant.edit.buffers', 'close' },
  held = { 'sextant.edit.buffers', 'held' },
  sync = { 'sextant.edit.buffers', 'sync' },
  loaded = { 'sextant.edit.buffers', 'loaded' },
  attached = { 'sextant.edit.buffers', 'attached' },
  marks = { 'sextant.edit.buffers', 'marks' },
  restore_marks = { 'sextant.edit.buffers', 'restore_marks' },
  started = { 'sextant.lsp.client_starts', 'first' },
  sharing = { 'sextant.lsp.shared_clients', 'sharing' },
  settle = { 'sextant.lsp.collect_diagnostics', 'collect' },
  fixes = { 'sextant.lsp.fixes', 'fixes' },
  fix_change = { 'sextant.lsp.fixes', 'change' },
  look_up = { 'sextant.lsp.lookup', 'look_up' },
  forget_lookup = { 'sextant.lsp.lookup', 'forget' },
}

--- Called by the binary: runs a handler later, answers through a notification.
---@param id integer
---@param method string
---@param json string
function M.call(id, method, json)
  local reply = rpc.reply_to(id, method == 'settle')
  vim.schedule(function()
    local handler = handlers[method]
    if not handler then
      return reply({ kind = 'other', message = 'unknown method ' .. method })
    end
    local ok, err = pcall(function()
      require(handler[1])[handler[2]](decode(json), reply)
    end)
    if not ok then
      reply({ kind = 'other', message = tostring(err) })
    end
  end)
end

return M
