--- Tracks the texts that a server has, by version, and sends those that Neovim still holds back.
local servers = require('sextant.lsp.servers')

local M = {}

---@return integer
function M.version_of(buf)
  return vim.lsp.util.buf_versions[buf]
end

--- Sends the texts of the client's files that Neovim still holds back: diagnostics of one file may depend on the
--- others.
function M.flush(client)
  local ok, tracking = pcall(require, 'vim.lsp._changetracking')
  if not ok or not pcall(tracking.flush, client) then
    client:notify('$/setTrace', { value = 'off' })
  end
end

--- The texts that an answer about a buffer depends on, by version; the answer is for these or invalid.
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
