--- Which texts a server has: the version of each, and sending what Neovim still holds back.
local servers = require('sextant.lsp.servers')

local M = {}

---@return integer
function M.version_of(buf)
  return vim.lsp.util.buf_versions[buf]
end

--- Sends what Neovim still holds back of the client's files: what it says of one may depend on the others.
function M.flush(client)
  local ok, tracking = pcall(require, 'vim.lsp._changetracking')
  if not ok or not pcall(tracking.flush, client) then
    client:notify('$/setTrace', { value = 'off' })
  end
end

--- The texts that an answer about a buffer depends on, by version; it is of these or of none.
---@return string
function M.texts_of(client, buf)
  if servers.looks_at_one_file(client) then
    return tostring(M.version_of(buf))
  end
  local parts = {}
  for other in pairs(client.attached_buffers) do
    parts[#parts + 1] = other .. ':' .. tostring(M.version_of(other))
  end
  table.sort(parts)
  return table.concat(parts, ' ')
end

return M
