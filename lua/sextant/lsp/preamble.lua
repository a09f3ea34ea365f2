--- Finds the versions that clangd publishes twice: when its preamble changed, it publishes first with the old one.
local M = {}
local api = vim.api

-- Two publishes after the save of a header end the doubt about it: the second is of the new one. A file that does not
-- include it has no second one, and after this time the header has been read.
local HEADER_MS = 10000

---@class sextant.Preamble
---@field head string
---@field rows integer
---@field since integer? the version from which on its own directives are others
---@field header { at: integer, publishes: integer }? the last save of a header, and the publishes since

---@type table<string, sextant.Preamble> by client and URI
local known = {}

local function key(client_id, uri)
  return client_id .. ' ' .. uri
end

-- The lines above the first declaration: directives, comments, empty lines.
local function head_of(buf)
  local rows, directives, inside, continued = 0, {}, false, false
  while true do
    local lines = api.nvim_buf_get_lines(buf, rows, rows + 100, false)
    for _, line in ipairs(lines) do
      local text = vim.trim(line)
      local directive = not inside and (continued or text:sub(1, 1) == '#')
      if directive then
        directives[#directives + 1] = text
        continued = text:sub(-1) == '\\'
      elseif inside or text:sub(1, 2) == '/*' then
        inside = not text:find('*/', 1, true)
      elseif text ~= '' and text:sub(1, 2) ~= '//' then
        return table.concat(directives, '\n'), rows
      end
      rows = rows + 1
    end
    if #lines < 100 then
      return table.concat(directives, '\n'), rows
    end
  end
end

local function touches(changes, rows)
  return vim.iter(changes or {}):any(function(change)
    local range = change.range
    return range
      and (range.start.line <= rows and (range['end'].line > range.start.line or change.text:find('#', 1, true)))
  end)
end

--- Notes a text that was sent to the server.
---@param params table of didOpen or didChange
function M.sent(client_id, buf, params)
  local id = key(client_id, params.textDocument.uri)
  local head, rows = head_of(buf)
  local before = known[id]
  known[id] = { head = head, rows = rows, since = before and before.since, header = before and before.header }
  if before and (before.head ~= head or touches(params.contentChanges, math.max(rows, before.rows))) then
    known[id].since = params.textDocument.version
  end
end

function M.closed(client_id, uri)
  known[key(client_id, uri)] = nil
end

--- Notes the save of a header, which any other file may include.
function M.header_saved(client_id, uri)
  local own, prefix = key(client_id, uri), client_id .. ' '
  for id, state in pairs(known) do
    if id ~= own and vim.startswith(id, prefix) then
      state.header = { at = vim.uv.now(), publishes = 0 }
    end
  end
end

--- Notes the n-th publish of a version.
function M.published(client_id, uri, version, count)
  local state = known[key(client_id, uri)]
  local header = state and state.header
  if header then
    header.publishes = header.publishes + 1
    if header.publishes >= 2 then
      state.header = nil
    end
  end
  if state and state.since and version and version >= state.since and count >= 2 then
    state.since = nil
  end
end

--- Whether a single publish may still be of an old preamble.
function M.is_open(client_id, uri)
  local state = known[key(client_id, uri)]
  if not state then
    return false
  end
  local header = state.header
  return state.since ~= nil or (header ~= nil and vim.uv.now() - header.at < HEADER_MS)
end

return M
