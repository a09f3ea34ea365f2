--- Asks for the words of a request, in a prompt that names its scope.
local M = {}

---@class sextant.AskScope
---@field path string of the code; empty where it has no file
---@field workspace? boolean
---@field line? integer
---@field first? integer of a range
---@field last? integer
---@field task? boolean whether it is for the task that runs

---@param scope sextant.AskScope
---@return string
local function named(scope)
  if scope.task then
    return 'Add to the running task: '
  elseif scope.workspace then
    return 'Ask about the workspace: '
  elseif scope.path == '' then
    return 'Ask: '
  end
  local file = vim.fs.basename(scope.path)
  if scope.first and scope.first ~= scope.last then
    return ('Ask about %s, lines %d to %d: '):format(file, scope.first, scope.last)
  end
  return ('Ask about %s, line %d: '):format(file, scope.first or scope.line)
end

--- Calls back with the words if there are any.
---@param scope sextant.AskScope
---@param run fun(words: string)
function M.open(scope, run)
  vim.ui.input({ prompt = named(scope) }, function(words)
    if words and vim.trim(words) ~= '' then
      run(vim.trim(words))
    end
  end)
end

return M
