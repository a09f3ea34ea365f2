--- The floating plan window: the plan document, its phase in the title, the keys of the phase in the footer.
local layout = require('sextant.ui.plan_layout')
local plan_change = require('sextant.ui.plan_change')
local scratch = require('sextant.ui.scratch')
local steps = require('sextant.ui.plan_steps')

local M = {}
local api = vim.api

---@type sextant.PlanState?
local state = nil
-- A request for a plan that the binary has not taken on yet, and the state to restore if it refuses.
---@type { before: sextant.PlanState?, opened: boolean, behind: boolean }?
local asked = nil
local expected = false
-- True if the next end belongs to the plan: to a request of its window (until the plan comes), or to a run (until that
-- ends). Any other task reports its end elsewhere.
---@type 'wish'|'run'|nil
local awaits = nil
-- The estimate of the request for the last plan.
---@type sextant.Risk?
local risk = nil

---@type fun(): integer
local buffer
---@type fun()
local draw

---@return sextant.PlanState
local function empty(phase)
  return { phase = phase, steps = 0, done = 0, failed = 0, top = {} }
end

-- The phase, with what its task waits for, and the keys.
---@return string, string
local function words()
  local of = require('sextant.ui.plan_words')
  local phase, keys = of.of(state or empty('planning'))
  -- Another task may run beside a plan that waits.
  local parts = awaits and require('sextant.status').parts() or {}
  if awaits == 'wish' and state and state.markdown and #parts > 0 then
    phase, keys = 'planning again', select(2, of.of(empty('planning')))
  end
  return of.with_status(phase, keys, parts, layout.title_width())
end

-- Fits the windows to the text, with the phase and its keys.
local function lay_out()
  layout.fit(buffer(), words())
end

local function approve(steps)
  if not (state and state.markdown) then
    local text = 'there is no plan to run' .. (awaits == 'wish' and ' yet' or '; `:AgentPlan {request}` makes one')
    return require('sextant.ui.say').say(text, vim.log.levels.WARN)
  end
  awaits = 'run'
  plan_change.goes_on(true)
  require('sextant.rpc.channel').send('approve', { steps = steps, root = state.root })
end

--- Sends a wish for another plan, and leaves the present one in its window until it comes. False without a plan.
---@param words string
---@return boolean
function M.change(words)
  local is_here = state ~= nil and state.markdown ~= nil
  if is_here and vim.trim(words) ~= '' and not plan_change.is_refused(state) then
    awaits = 'wish'
    require('sextant.rpc.channel').send('plan', { text = 'change: ' .. words, root = state.root })
  end
  return is_here
end

local function change()
  plan_change.ask(state, M.change)
end

-- The plan's window shows its text for editing.
local function edit()
  local win = scratch.window('plan')
  if not (win and state and state.markdown) then
    return require('sextant.ui.say').say('there is no plan to edit', vim.log.levels.WARN)
  end
  require('sextant.ui.plan_text').open(win, state.markdown, state.root)
end

local function answer(choice)
  awaits = state and state.markdown and 'run' or awaits
  require('sextant.ui.question').answer(choice, state and state.root)
end

local function toggle_reason()
  if state then
    state.whole = not state.whole
    draw()
    require('sextant.ui.plan_view').show_top()
  end
end

local watches = false

local function retitle()
  if state and awaits then
    layout.retitle(buffer(), words())
  end
end

function buffer()
  local buf, made = scratch.buffer('plan', 'hide')
  if not made then
    return buf
  end
  require('sextant.ui.plan_keys').map(buf, {
    state = function()
      return state
    end,
    approve = approve,
    change = change,
    edit = edit,
    toggle_reason = toggle_reason,
  })
  require('sextant.ui.question').map(buf, answer)
  if not watches then
    watches = true
    require('sextant.status').watch(retitle, function()
      return state ~= nil and awaits ~= nil and scratch.window('plan') ~= nil
    end)
  end
  api.nvim_create_autocmd('VimResized', {
    group = api.nvim_create_augroup('sextant_plan', {}),
    callback = vim.schedule_wrap(draw),
  })
  layout.on_other_room(draw)
  return buf
end

function draw()
  if not state then
    return
  end
  local buf, view = buffer(), require('sextant.ui.plan_view')
  local views = view.take(buf)
  state.question = state.asked and require('sextant.ui.question').plan_lines(state.asked, layout.size())
  scratch.set(buf, require('sextant.ui.plan_words').shown(state, layout.size()))
  steps.draw(buf, state.running, state.risk, layout.columns())
  view.put(buf, views)
  lay_out()
  view.fill()
  if require('sextant.ui.plan_question').keep(buf, state.question) then
    return
  end
  local running = state.running and steps.line(buf, state.running)
  local paused = state.phase == 'paused' and steps.next_line(buf)
  if running or paused then
    layout.follow(running or paused, running ~= nil)
  end
end

-- Entering it takes no focus away: the user has just asked for it.
---@param enter boolean
local function open_window(enter)
  local here_now = scratch.window('plan')
  if not here_now then
    return layout.open(buffer(), words, enter)
  end
  if enter then
    api.nvim_set_current_win(here_now)
  end
end

local function close_windows()
  for _, win in ipairs(scratch.windows('plan')) do
    pcall(api.nvim_win_close, win, true)
  end
end

--- The current document, for the completion of step numbers.
---@return string
function M.markdown()
  return state and state.markdown or ''
end

--- The phase of a plan that waits for its user; nil without one.
---@return string?
function M.stands()
  local phase = state and state.markdown and state.phase
  return (phase == 'waiting for approval' or phase == 'paused') and phase or nil
end

--- Opens the window for a plan that the user has just asked for.
---@param request string
function M.open(request)
  asked = {
    before = asked and asked.before or state,
    opened = scratch.window('plan') == nil,
    behind = asked ~= nil or require('sextant.status').now().state == 'running',
  }
  state = empty('planning')
  state.request, awaits, risk = request, 'wish', nil
  draw()
  open_window(true)
end

--- True if a request for a plan waits to be taken on.
---@return boolean
function M.waits()
  return asked ~= nil
end

--- A request is taken on: where it is this plan's, the plan before it is gone.
---@param request string
function M.accept(request)
  if not asked or state and state.request ~= request then
    return
  end
  asked = nil
  if state and state.phase == 'queued' then
    state.phase = 'planning'
    draw()
  end
end

--- Shows whether the plan's request waits for a running task.
---@param requests string[] all that wait
function M.queued(requests)
  if asked and state and state.phase == 'planning' and vim.list_contains(requests, state.request) then
    state.phase = 'queued'
    draw()
  end
end

--- The request is not taken on: the earlier plan is restored.
---@param request string its last words
function M.refuse(request)
  local was = asked
  if not (was and vim.endswith(state and state.request or '', request)) then
    return
  end
  asked, state, awaits = nil, was.before, nil
  if was.opened then
    close_windows()
  end
  draw()
end

--- The user has asked to go on with a task that may be a plan: its window opens when it comes.
function M.expect()
  expected = true
end

--- Shows the last plan again, and enters its window.
---@return boolean shown
function M.reopen()
  if not state then
    return false
  end
  draw()
  open_window(true)
  return true
end

-- There is nothing to approve: a line shows the reason. The window stays for a request that waits.
---@param markdown string
---@param waits boolean
local function nothing_to_do(markdown, waits)
  if not waits then
    state = nil
    close_windows()
  end
  local title, reason = markdown:match('^# ([^\n]*)\n*([^\n]*)')
  local words = vim.tbl_filter(function(part)
    return part and part ~= ''
  end, { title or '', reason or '' })
  require('sextant.ui.say').say(#words > 0 and table.concat(words, ': ') or 'the plan has no steps', nil, { 'answer' })
end

--- The estimate of a task: that of a plan which comes, or of another task.
---@param event sextant.Risk
function M.risk(event)
  risk = awaits == 'wish' and event or risk
end

--- Shows a changed plan document.
---@param event table `plan`
function M.update(event)
  local whole = state and state.whole
  -- Until the request is taken on, a plan is that of the task before it.
  if asked and asked.behind and event.steps == 0 then
    return nothing_to_do(event.markdown, true)
  end
  asked = nil
  if event.phase == 'executing' then
    awaits = 'run'
  elseif awaits == 'wish' then
    awaits = nil
    plan_change.done()
  end
  if event.steps == 0 then
    return nothing_to_do(event.markdown, false)
  end
  -- A late answer has changed an outcome: the question and the words of the end still hold.
  local kept, before = event.amend and state or {}, state or {}
  state = empty(event.phase)
  state.whole, state.note, state.asked = whole, kept.note, kept.asked
  -- A plan of an earlier process has none.
  state.risk = not expected and risk or nil
  state.request = event.request or before.request
  require('sextant.ui.plan_text').renew(event.markdown, event.root)
  for _, key in ipairs({ 'markdown', 'root', 'steps', 'done', 'failed', 'running' }) do
    state[key] = event[key]
  end
  draw()
  if expected then
    expected = false
    -- The user may have begun to type in the code since.
    open_window(api.nvim_get_mode().mode == 'n')
  end
end

--- The binary has read the plan's text: without faults the plan takes its window back.
---@param faults { line: integer, message: string }[]
function M.checked(faults)
  local text = require('sextant.ui.plan_text')
  if not text.checked(faults) then
    return
  end
  for _, win in ipairs(text.windows()) do
    if api.nvim_win_get_config(win).relative ~= '' then
      require('sextant.ui.plan_view').carry(win)
      layout.show(win, buffer())
      layout.furnish(win)
    end
  end
  lay_out()
end

--- Shows the question that the work waits with; `1`, `2`, … answer. Without an event it is over.
---@param event? sextant.Question
---@return boolean held whether the plan's buffer shows it
function M.ask(event)
  if not (state and state.markdown) then
    return false
  end
  require('sextant.ui.plan_question').enter()
  state.asked = event
  draw()
  return true
end

--- Shows the end of a run.
---@param text string
---@return boolean held whether the plan's buffer shows it
function M.note(text)
  if not (state and state.markdown and awaits) then
    return false
  end
  awaits = nil
  state.note = text
  draw()
  require('sextant.ui.plan_view').show_end()
  return true
end

--- Shows a plan that was not made, or whose run broke off: the error and the hint on top.
---@param failure { kind: string, message: string, hint: string }
---@return boolean held whether the plan's buffer shows it in sight: an open question keeps the room
function M.fail(failure)
  expected = false
  if not (state and awaits) then
    return false
  end
  asked, awaits = nil, nil
  state.top = { '✗ ' .. failure.message, failure.hint ~= '' and ('  → ' .. failure.hint) or nil }
  if state.phase == 'planning' then
    state.phase = failure.kind == 'cancelled' and 'stopped' or 'failed'
  end
  draw()
  require('sextant.ui.plan_view').show_end()
  return state.asked == nil
end

--- Marks the plan as gone with the process.
---@param text string
---@return boolean held whether the plan's buffer shows it
function M.process_gone(text)
  if not state then
    return false
  end
  asked, awaits, state.asked = nil, nil, nil
  -- A completed plan stays completed, whichever process ends afterwards.
  if state.phase == 'completed' then
    return false
  end
  state.phase = state.phase == 'planning' and 'failed' or 'gone'
  state.top = { '✗ ' .. text }
  draw()
  return true
end

return M
