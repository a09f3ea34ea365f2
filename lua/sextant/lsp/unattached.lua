--- Brings changed files to the clients that are not attached to them: a client with another root may have read them from
--- the disk.
--
-- Neovim sends a text to the attached clients alone, and on most systems it watches no files for the others.
local buffers = require('sextant.edit.buffers')
local client_starts = require('sextant.lsp.client_starts')
local neovim = require('sextant.neovim')
local preamble = require('sextant.lsp.preamble')
local servers = require('sextant.lsp.servers')
local settings_reads = require('sextant.lsp.settings_reads')
local texts = require('sextant.lsp.texts')

local M = {}
local api = vim.api

local CREATED, CHANGED, DELETED = 1, 2, 3
local INCREMENTAL = 2
-- Clocks of file systems may differ by so much, in seconds.
local CLOCK_S = 1

---@type table<vim.lsp.Client, table<string, string>> the state on disk that each client has been notified of, by path
local noticed = setmetatable({}, { __mode = 'k' })

-- Identifies the content of a file on disk, with its time. A deleted file has a state of its own.
local function state_of(path)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return 'gone', math.huge
  end
  return ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino), stat.mtime.sec
end

-- A change that leaves the text as it is, in the form that the client takes.
---@param client vim.lsp.Client
---@param text string
local function no_change(client, text)
  local sync = neovim.without_null(client.server_capabilities.textDocumentSync)
  local kind = type(sync) == 'table' and sync.change or sync
  if kind == INCREMENTAL then
    local start = { line = 0, character = 0 }
    return { range = { start = start, ['end'] = start }, text = '' }
  end
  return { text = text }
end

-- A server that registered for no changes on disk may keep its old text. It drops that one for the text of an opened
-- document, and what follows from it after a change of this document.
---@param client vim.lsp.Client
local function open_once(client, buf, uri)
  local text = texts.text_of(buf)
  local language = client.get_language_id(buf, vim.bo[buf].filetype)
  local document = { uri = uri, languageId = language, version = 0, text = text }
  local change = { textDocument = { uri = uri, version = 1 }, contentChanges = { no_change(client, text) } }
  client.rpc.notify('textDocument/didOpen', { textDocument = document })
  client.rpc.notify('textDocument/didChange', change)
  client.rpc.notify('textDocument/didClose', { textDocument = { uri = uri } })
end

---@param client vim.lsp.Client
---@param path string
local function notify(client, path)
  local states = noticed[client] or {}
  noticed[client] = states
  local before, state, at = states[path], state_of(path)
  states[path] = state
  -- A file that is older than the attachment was not changed by an edit since.
  if before == state or (not before and at + CLOCK_S < servers.attached_since(client)) then
    return
  end
  local uri, buf = vim.uri_from_fname(path), buffers.find(path)
  local kind = state == 'gone' and DELETED or before == 'gone' and CREATED or CHANGED
  client.rpc.notify('workspace/didChangeWatchedFiles', { changes = { { uri = uri, type = kind } } })
  if servers.knows(client, 'preamble') then
    -- It reads included files again after any save.
    client.rpc.notify('textDocument/didSave', { textDocument = { uri = uri } })
    preamble.header_saved(client.id, uri)
  elseif buf and state ~= 'gone' then
    open_once(client, buf, uri)
  end
end

-- True if the client would have the file, if its root were another one.
---@param client vim.lsp.Client
local function is_of(client, buf)
  local types = client.config and client.config.filetypes
  return #vim.lsp.get_clients({ bufnr = buf, name = client.name }) > 0
    or type(types) == 'table' and vim.list_contains(types, vim.bo[buf].filetype)
end

-- The files that other clients of the same server are attached to, which the user may have written.
---@param client vim.lsp.Client
---@return string[] paths
local function of_siblings(client)
  local paths = {}
  for _, sibling in ipairs(vim.lsp.get_clients({ name = client.name })) do
    for buf in pairs(sibling ~= client and sibling.attached_buffers or {}) do
      if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
        paths[#paths + 1] = vim.api.nvim_buf_get_name(buf)
      end
    end
  end
  return paths
end

--- Notifies a client of files on disk that it is not attached to. Returns an edited file whose text it cannot have, since
--- it is not saved.
---@param client vim.lsp.Client
---@param edited string[] paths
---@return string?
function M.bring(client, edited)
  if not client.initialized then
    -- It reads the disk after its start.
    return nil
  end
  local unsaved
  for _, path in ipairs(vim.list_extend(of_siblings(client), edited)) do
    local buf = buffers.find(path)
    if not buf or not client.attached_buffers[buf] then
      local concerns = buf == nil or is_of(client, buf)
      if buf and concerns and vim.bo[buf].modified then
        unsaved = vim.list_contains(edited, path) and path or unsaved
      elseif concerns then
        notify(client, path)
      end
    end
  end
  return unsaved
end

-- True if a client is asked about files of this kind.
---@param client vim.lsp.Client
---@param path string
local function takes(client, path)
  local types = client.config and client.config.filetypes
  return type(types) ~= 'table' or vim.list_contains(types, vim.filetype.match({ filename = path }))
end

-- True if a client has the text of a file, or has read the disk after the change.
---@param client vim.lsp.Client
---@param change sextant.OutsideChange
local function has(client, change)
  local buf = buffers.find(change.path)
  local is_attached = buf ~= nil and client.attached_buffers[buf] ~= nil
  if change.at then
    return is_attached or client_starts.is_before(client, change.at)
  end
  -- A client does not know from the text what a file's coming or going means for imports.
  return is_attached and change.type == CHANGED
end

---@class sextant.OutsideChange
---@field path string
---@field type integer LSP's number
---@field of_all boolean true for settings, which any client may read
---@field at number? when it was made, in seconds since 1970, where that may have been before a client's start

--- Notifies the clients of files that other programs have made, changed or deleted.
---@param outside sextant.OutsideChange[]
function M.report(outside)
  for _, client in ipairs(#outside > 0 and vim.lsp.get_clients() or {}) do
    local changes, is_configured = {}, true
    for _, one in ipairs(client.initialized and outside or {}) do
      if not has(client, one) and (one.of_all or takes(client, one.path)) then
        changes[#changes + 1] = { uri = vim.uri_from_fname(one.path), type = one.type }
        settings_reads.notified(client, one.path)
        is_configured = is_configured and not (one.of_all and one.type ~= CHANGED)
      end
    end
    if #changes > 0 then
      client.rpc.notify('workspace/didChangeWatchedFiles', { changes = changes })
      if not is_configured then
        -- pyright looks for its files of settings only then: one that has come is not watched.
        client.rpc.notify('workspace/didChangeConfiguration', { settings = client.settings })
      end
      if servers.knows(client, 'preamble') then
        -- It goes on with what it has read of them for each open file.
        vim.iter(changes):each(function(change)
          preamble.header_saved(client.id, change.uri)
        end)
      end
    end
  end
  for _, one in ipairs(outside) do
    if one.type ~= CHANGED then
      return servers.note_come_or_gone()
    end
  end
end

return M
