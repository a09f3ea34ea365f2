--- Asks for a change of the plan in the user's words. A plan that runs is not changed: none waits for it.
local M = {}

local say = require('sextant.ui.say').say

--- Refuses a change of a plan that runs, with the way out.
---@param state? sextant.PlanState
---@return boolean
function M.is_refused(state)
  local runs = state ~= nil and state.phase == 'executing'
  if runs then
    say('the plan runs; stop it first (:AgentStop)', vim.log.levels.WARN)
  end
  return runs
end

--- Asks for the words, and sends them.
---@param state? sextant.PlanState
---@param send fun(words: string): boolean false without a plan
function M.ask(state, send)
  if M.is_refused(state) then
    return
  end
  vim.ui.input({ prompt = 'Change in the plan: ' }, function(words)
    if words and not send(words) then
      say('there is no plan to change', vim.log.levels.WARN)
    end
  end)
end

return M
