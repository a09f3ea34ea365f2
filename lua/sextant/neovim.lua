--- Hides the differences between the supported versions of Neovim. No other file asks for the version.
local M = {}

local PULL = 'textDocument/diagnostic'
local HAS_12 = vim.fn.has('nvim-0.12') == 1

--- True if this version of Neovim is supported.
---@return boolean
function M.is_supported()
  return vim.fn.has('nvim-0.11') == 1
end

--- Converts a value from a server: its `null` is nil before 0.12, and `vim.NIL`, which counts as true, from then on.
---@generic T
---@param value T
---@return T?
function M.value(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

--- The same for every value in a table; `null` in a list stays, so that the others keep their places. The table itself
--- is not changed: it goes back to the server as it came.
---@generic T
---@param value T
---@return T?
function M.without_null(value)
  if not HAS_12 or type(value) ~= 'table' then
    return M.value(value)
  end
  local is_list, out = vim.islist(value), {}
  for key, inner in pairs(value) do
    if inner ~= vim.NIL then
      out[key] = M.without_null(inner)
    elseif is_list then
      out[key] = inner
    end
  end
  return out
end

--- Options of an autocommand or a key, for one buffer alone.
---@param buf integer
---@param options table
---@return table
function M.in_buffer(buf, options)
  options[HAS_12 and 'buf' or 'buffer'] = buf
  return options
end

--- True if a function is Neovim's own. Functions that are compiled into 0.12 may have no source location.
---@param run function
---@return boolean
function M.is_own(run)
  local source = debug.getinfo(run, 'S').source
  return source:find('^@?vim/') ~= nil or (HAS_12 and source:find('^=?%?$') ~= nil)
end

--- Shows a progress message (`:help progress-message`), before 0.12 as a plain line; nothing where the user types.
---@param id integer? of the message to replace
---@param text string
---@param status 'running'|'success'|'failed'
---@return integer? id
function M.progress(id, text, status)
  if vim.o.cmdheight == 0 or vim.api.nvim_get_mode().mode ~= 'n' then
    return id
  elseif not HAS_12 then
    if id or status == 'running' then
      vim.api.nvim_echo({ { status == 'running' and 'Sextant: ' .. text or '' } }, false, {})
    end
    return 0
  end
  local options = { kind = 'progress', id = id, title = 'Sextant', status = status, source = 'sextant' }
  local ok, made = pcall(vim.api.nvim_echo, { { text } }, false, options)
  if status ~= 'running' then
    -- The end leaves nothing on the command line.
    vim.api.nvim_echo({ { '' } }, false, {})
  end
  return ok and made or id
end

--- The text of the command line; nil with a user interface that shows messages by itself and has a place for each.
---@return string?
function M.command_line()
  for _, ui in ipairs(vim.api.nvim_list_uis()) do
    if ui.ext_messages then
      return nil
    end
  end
  local cells = {}
  for column = 1, vim.v.echospace do
    cells[column] = vim.fn.screenstring(vim.o.lines - vim.o.cmdheight + 1, column)
  end
  return vim.trim(table.concat(cells))
end

-- Neovim's own function for this (`_provider_foreach`) looks for the current buffer, whose type may fit no other's.
local function registered(client, buf)
  local ok, found = pcall(function()
    return buf and client:_get_registrations('diagnosticProvider', buf) or client.registrations.diagnosticProvider
  end)
  return vim.tbl_map(function(registration)
    local options = registration.registerOptions
    return type(options) == 'table' and options or {}
  end, ok and type(found) == 'table' and found or {})
end

--- The client's declared pulls of diagnostics, one for each of its providers. From 0.12 on they may be several, and
--- registered after the start.
---@param client vim.lsp.Client
---@param buf integer? those that are for this buffer alone
---@return lsp.DiagnosticOptions[]
function M.pull_providers(client, buf)
  local found = HAS_12 and registered(client, buf) or {}
  if #found > 0 then
    return found
  end
  local declared = client.server_capabilities and client.server_capabilities.diagnosticProvider
  return { type(declared) == 'table' and declared or nil }
end

--- The names of the client's providers of pulled diagnostics for a buffer; `false` for one without a name, and for a
--- client that has declared none.
---@param client vim.lsp.Client
---@param buf integer
---@return (string|false)[]
function M.pull_names(client, buf)
  local names = {}
  for _, provider in ipairs(M.pull_providers(client, buf)) do
    local name = M.value(provider.identifier) or false
    if not vim.list_contains(names, name) then
      names[#names + 1] = name
    end
  end
  return #names > 0 and names or { false }
end

--- True if Neovim will pull for a buffer after a change was sent to the client. 0.11 does so for the current buffer,
--- 0.12 for every buffer in a window.
---@param client vim.lsp.Client
---@param buf integer
---@return boolean
function M.pulls_by_itself(client, buf)
  if not client:supports_method(PULL, buf) then
    return false
  elseif HAS_12 then
    return #vim.fn.win_findbuf(buf) > 0
  end
  return buf == vim.api.nvim_get_current_buf()
end

return M
