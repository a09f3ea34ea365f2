--- Finds the files that a client of an edited file looks at as well.
local buffers = require('sextant.edit.buffers')
local servers = require('sextant.lsp.servers')

local M = {}

-- True if a client has the file, or would be attached to it. One that reports on no other file than the edited one does
-- not count.
---@param client vim.lsp.Client
---@param path string
local function has(client, path)
  local buf = buffers.find(path)
  if buf then
    return client.attached_buffers[buf] ~= nil
  end
  local types = client.config and client.config.filetypes
  return type(types) == 'table' and vim.list_contains(types, vim.filetype.match({ filename = path }))
end

--- Answers with those of the other files that a client of an edited file is attached to.
---@param params { edited: string[], others: string[] } paths
function M.sharing(params, reply)
  reply(
    nil,
    vim.tbl_filter(function(other)
      local buf = buffers.find(other)
      return vim.iter(buf and vim.lsp.get_clients({ bufnr = buf, _uninitialized = true }) or {}):any(function(client)
        return not servers.knows(client, 'no_checker')
          and not servers.leaves_others(client, params.edited)
          and vim.iter(params.edited):any(function(path)
            return has(client, path)
          end)
      end)
    end, params.others)
  )
end

return M
