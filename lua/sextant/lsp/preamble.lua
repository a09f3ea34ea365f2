--- Finds the texts that clangd answers for from what it has kept: it publishes first with the old preamble.
local M = {}
local api = vim.api

---@class sextant.Preamble
---@field head string
---@field rows integer
---@field since integer? the version from which on its own directives are others
---@field header boolean? true if a header was saved since it was opened

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
      state.header = true
    end
  end
end

--- Notes the n-th publish of a version.
function M.published(client_id, uri, version, count)
  local state = known[key(client_id, uri)]
  if state and state.since and version and version >= state.since and count >= 2 then
    state.since = nil
  end
end

--- True if a single publish may still be of an old preamble.
function M.is_open(client_id, uri)
  local state = known[key(client_id, uri)]
  return state ~= nil and state.since ~= nil
end

--- True if a header was saved since the text was opened. Publishes of that text prove nothing about the header.
function M.keeps_headers(client_id, uri)
  local state = known[key(client_id, uri)]
  return state ~= nil and state.header == true
end

--- True if the head of an open text includes a file of this name.
function M.includes(client_id, path)
  local name, prefix = vim.fs.basename(path), client_id .. ' '
  return vim.iter(pairs(known)):any(function(id, state)
    return vim.startswith(id, prefix)
      and vim.iter(vim.gsplit(state.head, '\n', { plain = true })):any(function(line)
        return line:find('include', 1, true) ~= nil and line:find(name, 1, true) ~= nil
      end)
  end)
end

return M
