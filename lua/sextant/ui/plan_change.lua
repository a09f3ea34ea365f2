--- Asks for a change of the plan in the user's words. A plan that runs is not changed: none waits for it.
local M = {}

local say = require('sextant.ui.say').say

-- True from the key that lets the plan go on to the first event of its run.
local goes_on = false
-- The words that no plan has come of: the next prompt offers them.
local kept = ''

--- Notes that the user lets the plan go on, or that the binary has taken that on or refused it.
---@param is_begun boolean
function M.goes_on(is_begun)
  goes_on = is_begun
end

--- Refuses a change while a task runs, with the way out.
---@param state? sextant.PlanState
---@return boolean
function M.is_refused(state)
  local plan_runs = goes_on or state ~= nil and state.phase == 'executing'
  if plan_runs then
    say('the plan runs; stop it first (:AgentStop)', vim.log.levels.WARN)
    return true
  end
  local task_runs = require('sextant.status').now().state == 'running'
  if task_runs then
    say('a task runs; the plan can be changed after it (:AgentStop stops it)', vim.log.levels.WARN)
  end
  return task_runs
end

--- Notes that a plan has come of the words.
function M.done()
  kept = ''
end

--- Asks for the words, and sends them.
---@param state? sextant.PlanState
---@param send fun(words: string): boolean false without a plan
function M.ask(state, send)
  if M.is_refused(state) then
    return
  end
  vim.ui.input({ prompt = 'Change in the plan: ', default = kept }, function(words)
    kept = words or kept
    if words and not send(words) then
      say('there is no plan to change', vim.log.levels.WARN)
    end
  end)
end

return M
