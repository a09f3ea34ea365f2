--- Completes `:AgentUndo`: the steps of the plan, the symbols that the task to be undone has changed, and requests.
local M = {}

---@class sextant.Standing what an undo can take
---@field requests string[] of tasks, newest first
---@field symbols string[] of the newest of them

-- The parts of the task that an undo takes.
---@param lead string
---@param symbols string[]
---@return string[]
local function parts(lead, symbols)
  local found = { 'task', 'step' }
  local _, steps = require('sextant.ui.plan').markdown():gsub('%f[^%z\n]%- %[', '')
  for number = 1, steps do
    found[#found + 1] = tostring(number)
  end
  for _, name in ipairs(symbols) do
    found[#found + 1] = name
    -- The last part of a path is enough to name it.
    found[#found + 1] = name:match('^.-::(.+)$')
  end
  return vim.tbl_filter(function(text)
    return vim.startswith(text, lead)
  end, found)
end

---@param place table of the cursor
---@return sextant.Standing
local function standing_at(place)
  return require('sextant.rpc.inquiry').answer('standing', { place = place }) or { requests = {}, symbols = {} }
end

--- The parts of the task alone, for `:AgentDiff`.
---@param lead string
---@param place table of the cursor
---@return string[]
function M.complete_parts(lead, place)
  return parts(lead, standing_at(place).symbols)
end

-- A request as `:AgentUndo` takes it: one word alone would be the name of a symbol.
---@param request string
---@return string
local function as_words(request)
  return request:find(' ', 1, true) and request or ('"%s"'):format(request)
end

--- The parts of the task, and the requests of the tasks whose changes stand.
---@param lead string
---@param line string
---@param place table of the cursor
---@return string[]
function M.complete_undo(lead, line, place)
  local typed = line:match('^.-AgentUndo!?%s+(.*)$') or lead
  -- The command line replaces the last word alone.
  local before = typed:sub(1, #typed - #lead)
  local standing = standing_at(place)
  local found = before == '' and parts(lead, standing.symbols) or {}
  for _, request in ipairs(standing.requests) do
    local words = as_words(request)
    local from, low = words:lower(), typed:lower()
    if vim.startswith(from, low) or before == '' and from:find(low, 1, true) then
      found[#found + 1] = words:sub(#before + 1)
    end
  end
  return found
end

return M
