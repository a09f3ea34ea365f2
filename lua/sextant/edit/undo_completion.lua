--- Completes `:AgentUndo`: the steps and the symbols that the last task has touched.
local M = {}

---@type table<string, true>
local symbols = {}

--- Starts the list of a new task.
function M.started()
  symbols = {}
end

--- Notes the symbols of a changed file.
function M.touched(names)
  for _, name in ipairs(names or {}) do
    symbols[name] = true
  end
end

---@param lead string
---@return string[]
function M.complete(lead)
  local found = { 'task', 'step' }
  local _, steps = require('sextant.ui.plan').markdown():gsub('%f[^%z\n]%- %[', '')
  for number = 1, steps do
    found[#found + 1] = tostring(number)
  end
  local names = vim.tbl_keys(symbols)
  table.sort(names)
  for _, name in ipairs(names) do
    found[#found + 1] = name
    -- The last part of a path is enough to name it.
    local short = name:match('^.-::(.+)$')
    if short then
      found[#found + 1] = short
    end
  end
  return vim.tbl_filter(function(text)
    return vim.startswith(text, lead)
  end, found)
end

-- A request as `:AgentUndo` takes it: one word alone would be the name of a symbol.
---@param request string
---@return string
local function as_words(request)
  return request:find(' ', 1, true) and request or ('"%s"'):format(request)
end

--- The same, and the requests of the tasks whose changes stand.
---@param lead string
---@param line string
---@param place table of the cursor
---@return string[]
function M.complete_undo(lead, line, place)
  local typed = line:match('^.-AgentUndo!?%s+(.*)$') or lead
  -- The command line replaces the last word alone.
  local before = typed:sub(1, #typed - #lead)
  local found = before == '' and M.complete(lead) or {}
  for _, request in ipairs(require('sextant.rpc.inquiry').answer('requests_standing', { place = place }) or {}) do
    local words = as_words(request)
    local from, low = words:lower(), typed:lower()
    if vim.startswith(from, low) or before == '' and from:find(low, 1, true) then
      found[#found + 1] = words:sub(#before + 1)
    end
  end
  return found
end

return M
