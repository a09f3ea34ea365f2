--- Tracks the texts that a server has, by version, and sends those that Neovim still holds back.
local servers = require('sextant.lsp.servers')

local M = {}
local SEPARATORS = { unix = '\n', dos = '\r\n', mac = '\r' }

--- The whole text of a buffer, as it would be written.
---@param buf integer
---@return string
function M.text_of(buf)
  local separator = SEPARATORS[vim.bo[buf].fileformat]
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), separator)
  return vim.bo[buf].endofline and text .. separator or text
end

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

--- True if a header is changed and not saved. clangd reads the headers of other files from the disk.
---@param client vim.lsp.Client
---@param own string the URI of the file that is asked about
function M.has_unsaved_header(client, own)
  if not servers.knows(client, 'preamble') then
    return false
  end
  return vim.iter(pairs(client.attached_buffers)):any(function(buf)
    local path = vim.api.nvim_buf_get_name(buf)
    return vim.bo[buf].modified and path ~= vim.uri_to_fname(own) and not servers.leaves_others(client, { path })
  end)
end

-- True if a shell script may source another file. It is the rule of src/diagnostics/server/sourced_files.rs.
---@param text string
---@return boolean
local function sources_others(text)
  for word in text:gmatch('%S+') do
    if word:find('source', 1, true) or word:sub(-1) == '.' and not word:sub(-2, -2):find('[%w\128-\255]') then
      return true
    end
  end
  return false
end

--- True if the client's diagnostics of a text depend on other files only through those that it sources.
---@param client vim.lsp.Client
---@param buf integer
---@return boolean
function M.stands_alone(client, buf)
  return servers.knows(client, 'looks_once') and not sources_others(M.text_of(buf))
end

--- True if the client looks at a text once, and reads the files that this one sources from the disk: it has to get the
--- text again, once all are written.
---@param client vim.lsp.Client
---@param buf integer
---@return boolean
function M.is_due_again(client, buf)
  local is_open = vim.iter(pairs(client.attached_buffers)):any(function(other)
    return other ~= buf and vim.bo[other].modified
  end)
  return servers.knows(client, 'looks_once') and not is_open and not M.stands_alone(client, buf)
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
