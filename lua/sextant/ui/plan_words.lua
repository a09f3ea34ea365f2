--- Words the phase of a plan for its window's title, and the keys of the phase for its footer.
local M = {}

---@param s sextant.PlanState
---@return string words, string keys
function M.of(s)
  local steps = require('sextant.ui.say').counted(s.steps, 'step')
  local progress = ('%d of %s done'):format(s.done, steps)
  if s.question then
    return 'paused: question', '1 2 … answer · c change · q close'
  elseif s.phase == 'planning' then
    return 'planning', '<C-c> stop · q close'
  elseif s.phase == 'queued' then
    return 'waits for the running task', ':AgentStop next takes it back · q close'
  elseif s.phase == 'waiting for approval' then
    local so_far = s.done > 0 and (', ' .. progress) or ''
    return s.phase .. so_far, '<CR> approve and run · s one step · e edit · c change · ? keys · q close'
  elseif s.phase == 'executing' then
    local which = s.running and ('step %d of %d'):format(s.running, s.steps) or progress
    return 'running ' .. which, '<C-c> stop · ? keys · q close'
  elseif s.phase == 'paused' then
    return 'paused, ' .. progress, 'a go on · s one step · r again · x skip · e edit · ? keys · q close'
  elseif s.phase == 'completed' then
    local failed = s.failed > 0 and (', %d failed'):format(s.failed) or ''
    return ('done, %d of %s%s'):format(s.done, steps, failed), 'R takes back from here · ? keys · q close'
  elseif s.phase == 'gone' then
    return 'failed', ':AgentResume goes on · q close'
  end
  return s.phase, 'q close'
end

return M
