--- Knows the work that a server does on its own: until it ends, an answer about the whole project may lack a part.
--
-- clangd answers from its index while it builds that, and reports the building. Without a `compile_commands.json` it has
-- no index beside the open texts, and publishes each that it has read. vtsls reports the loading of a project, and
-- answers from the open texts until that ends. Neovim keeps the titles of open progress, also of before the first
-- command. src/diagnostics/server/background_work.rs is the same for a shell.
local servers = require('sextant.lsp.servers')

local M = {}

---@type table<integer, integer> the number of works that have begun, by client
local begun = {}

---@type table<integer, table<string|integer, string>> the last message of open progress, by client and token
local messages = {}

--- Takes a `$/progress` in.
---@param client_id integer
---@param params { token: string|integer, value: { kind: string, message: string? }? }
function M.progress(client_id, params)
  local value = params.value
  if type(value) ~= 'table' or params.token == nil then
    return
  end
  messages[client_id] = messages[client_id] or {}
  if value.kind == 'begin' then
    begun[client_id] = (begun[client_id] or 0) + 1
  end
  if value.kind == 'end' then
    messages[client_id][params.token] = nil
  elseif type(value.message) == 'string' then
    messages[client_id][params.token] = value.message
  end
end

--- The number of works so far. One that begins and ends before an answer arrives has shaped that.
---@param client_id integer
---@return integer
function M.begun(client_id)
  return begun[client_id] or 0
end

--- The part that the server has not read yet, where its answers about the whole project depend on that.
---@param client vim.lsp.Client
---@param unpublished integer the open texts about which nothing was published
---@return string?
function M.unread(client, unpublished)
  local indexes = servers.knows(client, 'answers_while_indexing') or servers.knows(client, 'answers_while_loading')
  if not indexes and servers.is_known(client) then
    return nil
  end
  local works = {}
  for token, title in pairs(client.progress and client.progress.pending or {}) do
    local message = (messages[client.id] or {})[token]
    works[#works + 1] = vim.trim(('%s %s'):format(tostring(title), message or ''))
  end
  table.sort(works)
  local has_index = messages[client.id] or client.progress and client.progress:peek() ~= nil
  if #works == 0 and indexes and not has_index and unpublished > 0 then
    return 'reading ' .. require('sextant.ui.say').counted(unpublished, 'file')
  end
  return #works > 0 and table.concat(works, ', ') or nil
end

--- Drops a client that is gone.
---@param client_id integer
function M.forget(client_id)
  messages[client_id], begun[client_id] = nil, nil
end

return M
