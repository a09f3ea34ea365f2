--- Knows from when on each client may have read the files on disk: from its first attachment on.
local M = {}

-- The times of files lag behind the clock by a tick, in seconds.
local TICK_S = 0.05

---@type table<vim.lsp.Client, number> seconds since 1970; 0 where it is not known
local starts = setmetatable({}, { __mode = 'k' })
local group = nil

local function now()
  local time = vim.uv.clock_gettime('realtime')
  return time and time.sec + time.nsec / 1e9 or os.time()
end

-- When this Neovim was started; it makes its socket then. 0 where it has none.
local function neovim_started()
  local stat = vim.uv.fs_stat(vim.v.servername)
  return stat and stat.mtime.sec + stat.mtime.nsec / 1e9 or 0
end

--- Starts to note the attachments. Of clients that were attached before, only Neovim's own start is known.
---@param attached integer? the id of a client that is attached right now
function M.watch(attached)
  if group then
    return
  end
  group = vim.api.nvim_create_augroup('sextant_client_starts', {})
  for _, client in ipairs(vim.lsp.get_clients({ _uninitialized = true })) do
    starts[client] = client.id == attached and now() or neovim_started()
  end
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(args)
      local client = vim.lsp.get_client_by_id(args.data.client_id)
      if client then
        starts[client] = starts[client] or now()
      end
    end,
  })
end

--- True if a client has read the disk after a file was written.
---@param client vim.lsp.Client
---@param at number seconds since 1970
---@return boolean
function M.is_before(client, at)
  return at + TICK_S < (starts[client] or 0)
end

--- Answers with the seconds since 1970 at which the first client may have read a file; 0 if that is not known.
function M.first(_, reply)
  local first = math.huge
  for _, client in ipairs(vim.lsp.get_clients()) do
    local start = starts[client] or 0
    first = start > 0 and math.min(first, start - TICK_S) or first
  end
  reply(nil, first < math.huge and first or 0)
end

return M
