--- Words the phase of a plan for its window's title, the keys of the phase for its footer, and its text.
local M = {}

---@class sextant.PlanState
---@field phase string that of the engine, or one of the window's own: planning, queued, stopped, gone
---@field request? string
---@field risk? sextant.Risk the estimate of the request
---@field markdown? string
---@field root? string the workspace that the plan is of
---@field steps integer
---@field done integer
---@field failed integer
---@field running? integer number of the step that runs
---@field top string[] what went wrong and the way out, above everything else
---@field asked? sextant.Question the open one
---@field question? string[] its lines in the window as it is
---@field note? string how a run ended
---@field whole? boolean whether the reason is shown whole where it leaves the steps no room

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
  elseif s.phase == 'run in another session' then
    return s.phase, ':AgentResume! lists what waits · q close'
  elseif s.phase == 'gone' then
    return 'failed', ':AgentResume goes on · q close'
  end
  return s.phase, 'q close'
end

--- Adds what the running task waits for: `running step 3 of 5 · waiting for the model 8 s` over the text, its time and
--- tokens before the keys.
---@param words string
---@param keys string
---@param parts string[] of the status; none if nothing runs
---@param columns integer that the title has
---@return string words, string keys
function M.with_status(words, keys, parts, columns)
  if #parts == 0 then
    return words, keys
  end
  local rest = vim.list_extend(vim.list_slice(parts, 2), { keys })
  return require('sextant.ui.say').cut(words .. ' · ' .. parts[1], columns), table.concat(rest, ' · ')
end

-- The lines of a plan: without a title it has that of its request, and the titles of steps do without the folder that
-- all of them share, which stands behind the title.
---@param markdown string
---@param request? string
---@return string[]
local function document(markdown, request)
  local lines = vim.split(vim.trim(markdown), '\n', { plain = true })
  lines[1] = lines[1]:gsub('^#%s*$', function()
    return '# ' .. (request or 'Plan')
  end)
  return require('sextant.ui.plan_steps').without_shared(lines)
end

-- The whole text of the window.
---@param s sextant.PlanState
---@param note? string how a run ended
---@return string[]
local function lines_of(s, note)
  local lines = vim.list_extend({}, s.top)
  local function part(more)
    if #lines > 0 then
      lines[#lines + 1] = ''
    end
    vim.list_extend(lines, more)
  end
  if note then
    part(vim.split(note, '\n', { plain = true }))
  end
  if s.question then
    part(s.question)
  end
  if s.markdown then
    part(document(s.markdown, s.request))
  else
    part({ '# ' .. (s.request or '') })
  end
  if s.phase == 'planning' then
    part({ 'Planning…' })
  end
  return lines
end

--- The text of the window, with what stands above the steps shortened if they have no room otherwise.
---@param s sextant.PlanState
---@param columns integer
---@param room integer the most rows of the window
---@return string[]
function M.shown(s, columns, room)
  local reason = require('sextant.ui.plan_reason')
  local lines = lines_of(s, s.note)
  if s.whole then
    return lines
  elseif s.note then
    lines = lines_of(s, reason.note(s.note, lines, columns, room))
  end
  return reason.shorten(lines, columns, room)
end

return M
