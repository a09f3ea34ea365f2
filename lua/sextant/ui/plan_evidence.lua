--- Shows what is known of a step of the plan: its details, and the diagnostics that its reasons name.
local steps = require('sextant.ui.plan_steps')

local M = {}

---@param path string `FILE::SYMBOL`, or a file
---@return string file, string? name
local function parts(path)
  local file, name = path:match('^(.-)::(.*)$')
  return file or path, name
end

-- True if a line is one of a symbol; a path without names means its file.
---@param path string
---@param outlines table<string, sextant.OutlinedSymbol[]>
---@param line integer from 1
local function holds(path, outlines, line)
  local file, name = parts(path)
  return not name
    or vim.iter(outlines[file] or {}):any(function(symbol)
      return symbol.name == name and symbol.first <= line and line <= symbol.last
    end)
end

-- The diagnostics in the symbols of a step whose code its reasons name.
---@param step sextant.PlanStep
---@param root string
---@param outlines table<string, sextant.OutlinedSymbol[]>
---@return string[]
local function reports(step, root, outlines)
  local reasons, found = steps.reasons(step), {}
  for _, path in ipairs(step.symbols) do
    local buf = vim.fn.bufnr(vim.fs.joinpath(root, (parts(path))))
    for _, report in ipairs(buf ~= -1 and vim.diagnostic.get(buf) or {}) do
      local code = report.code and tostring(report.code)
      if code and reasons:find(code, 1, true) and holds(path, outlines, report.lnum + 1) then
        local line = ('%d: %s [%s]'):format(report.lnum + 1, report.message:match('[^\n]*'), code)
        if not vim.list_contains(found, line) then
          found[#found + 1] = line
        end
      end
    end
  end
  return found
end

---@param step sextant.PlanStep
---@param root string
---@param outlines table<string, sextant.OutlinedSymbol[]>
local function show_evidence(step, root, outlines)
  local lines = {}
  for _, detail in ipairs(step.details) do
    lines[#lines + 1] = ('%s: %s'):format(detail.label, detail.text)
  end
  local known = reports(step, root, outlines)
  if #known > 0 then
    vim.list_extend(lines, { '', 'reported now:' })
    vim.list_extend(lines, vim.list_slice(known, 1, 10))
  end
  if #lines == 0 then
    lines = { 'nothing besides its title' }
  end
  require('sextant.ui.key_help').open(('Step %d'):format(step.number), lines, { key = 'K' })
end

--- Shows what is known of a step: its details, and the diagnostics in its symbols that its reasons name.
---@param step sextant.PlanStep
---@param root string
function M.show(step, root)
  local files = {}
  for _, path in ipairs(step.symbols) do
    local file, name = parts(path)
    if name and not vim.list_contains(files, file) then
      files[#files + 1] = file
    end
  end
  if #files == 0 then
    return show_evidence(step, root, {})
  end
  require('sextant.outline').ask(files, root, function(outlines)
    show_evidence(step, root, outlines)
  end)
end

return M
