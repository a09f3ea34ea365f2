--- Finds the clients that may still answer by settings that have changed on disk.
local servers = require('sextant.lsp.servers')

local M = {}

---@type table<integer, integer> by client: when it was notified, in milliseconds of vim.uv.now()
local unread = {}

--- Notes that a client was notified of changed settings.
---@param client vim.lsp.Client
---@param path string
function M.notified(client, path)
  if servers.rereads(client, vim.fs.basename(path)) then
    unread[client.id] = vim.uv.now()
  end
end

--- Notes a message of a client about its diagnostics: the first one after its settings have changed is by the new ones.
---@param client_id integer
function M.read(client_id)
  unread[client_id] = nil
end

--- The time for which its answers may be by old settings, in milliseconds.
---@param client vim.lsp.Client
---@return integer? nil if they are by the new ones
function M.rereads_for(client)
  local left = unread[client.id] and unread[client.id] + servers.shared().reread_ms - vim.uv.now()
  if left and left > 0 then
    return left
  end
  unread[client.id] = nil
  return nil
end

return M
