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

return M
