--- Shows a task: each event goes to its window, list or message.
local answer = require('sextant.ui.answer')
local calls = require('sextant.ui.calls')
local plan = require('sextant.ui.plan')
local say = require('sextant.ui.say')
local status = require('sextant.status')

local M = {}
local api = vim.api

--- `running` or `idle`; for a status line.
M.status = 'idle'
-- True between a stop by the user and the end of the task.
M.stopped = false
-- True if the running task is of a request made here, and not in a shell.
local own = false
-- The request made here that has asked a question before its task began.
---@type string?
local asked_first = nil
-- True if the running task has changed a file.
local changed = false
-- True from an edit to the result of its call.
local edited = false
-- True if the answer has words or results of the running task.
local answers = false
-- The level and the reasons of the estimate that the answer shows.
---@type string?
local estimated = nil
-- The request of the task that began last, until it ends or has a plan; and that of the last plan.
---@type string?, string?
local begun, planned = nil, nil

local function emit(name, data)
  api.nvim_exec_autocmds('User', { pattern = name, modeline = false, data = data })
end

---@param failure { message: string, hint: string }
---@return string
local function words_of(failure)
  return failure.hint ~= '' and (failure.message .. '\n  → ' .. failure.hint) or failure.message
end

local function level_of(failure)
  return failure.kind == 'cancelled' and vim.log.levels.INFO or vim.log.levels.ERROR
end

-- The places of the text that was just written: the plan's buffer, the answer's.
---@param in_plan boolean
---@return string[]
local function places(in_plan)
  return in_plan and { 'answer', 'plan' } or { 'answer' }
end

-- Opens the review of what the task changed, where the user's options want it.
---@param event { root: string, short?: string }
---@param said? sextant.SaidEnd the message of the end
local function review_changes(event, said)
  local wanted = require('sextant.options').resolve(require('sextant').given).review == 'after'
  if changed and wanted then
    local verdict = event.short and event.short:match('^Not done: .-%.%f[%s%z]')
    require('sextant.ui.review').after_task(event.root, verdict, said)
  end
  changed = false
end

-- Something was not taken on: the current text stays. A request that is starting goes on, unless it is the refused one.
local function refused(event)
  if event.request then
    answer.refuse(event.request)
    plan.refuse(event.request)
  end
  require('sextant.ui.plan_keys').marked(false)
  require('sextant.ui.progress_message').notice()
  say.say(words_of(event.failure), level_of(event.failure))
  emit('SextantFailed', event)
end

-- Shows that an earlier task waits for the user: in the answer, and in a message where that is out of sight.
---@param text string
local function notice(text)
  local line = answer.line('… ' .. text)
  require('sextant.ui.progress_message').notice()
  say.say(text, nil, not answer.waits() and { 'answer' } or nil, { line = line })
end

require('sextant.ui.question').on_answer(calls.answered)

-- The question that was asked last.
---@type string?
local asked_last = nil

-- Shows a question in the answer window, and in the plan's if one is shown. Without a window it becomes a message. One
-- that is asked again leaves the message of what failed before it.
local function question(event)
  local questions = require('sextant.ui.question')
  answer.line('')
  local first = api.nvim_buf_line_count(answer.text())
  vim.tbl_map(answer.line, questions.lines(event))
  questions.make_room(first)
  answer.rest_at(first)
  local in_plan = plan.ask(event)
  questions.select(event)
  local text = questions.message(event)
  local words = event.text:match('[^\n]*')
  -- The way to answer stays where the question itself is cut.
  local how = { words = words, line = first, short = words, tail = ' · :AgentAnswer' }
  local shown = say.say(text, nil, places(in_plan), how)
  if not shown and asked_last ~= event.text then
    say.note(text)
  end
  asked_last = event.text
end

-- Reports the end of a task. Where no window shows its answer, the message names the way there.
---@param event { summary: string, short?: string }
---@param in_plan boolean
---@param line? integer of the summary in the answer
---@return sextant.SaidEnd? said nil where a window shows it
local function report_end(event, in_plan, line)
  local is_hidden = answers and not in_plan and require('sextant.ui.scratch').window('answer') == nil
  local tail = is_hidden and ' · :AgentShow' or nil
  local is_said = say.say(event.summary, nil, places(in_plan), { short = event.short, tail = tail, line = line })
  return is_said and { text = event.summary, short = event.short, tail = tail or '' } or nil
end

local renderers = {
  started = function(event)
    M.status = 'running'
    M.stopped = false
    changed, answers, estimated = false, false, nil
    calls.reset()
    begun = event.request
    own = answer.accept(event.request) or asked_first == event.request
    if not own then
      answer.head(event.request)
    end
    asked_first = nil
    plan.accept(event.request)
    status.started(event.request, event.model)
    emit('SextantStarted', event)
  end,
  risk = function(event)
    -- The estimate of a plan repeats that of its request where only the number of steps is another one.
    local words = event.level .. table.concat(event.reasons, ';')
    if estimated ~= words then
      estimated = words
      answer.line(event.line)
    end
    plan.risk(event)
  end,
  question = function(event)
    -- A direct request may ask which name is meant before it begins.
    if M.status ~= 'running' and answer.accept() then
      asked_first = answer.heading()
    end
    question(event)
    status.question(event.text, event.options)
    emit('SextantQuestion', event)
  end,
  answered = function()
    require('sextant.ui.question').make_room()
    status.answered()
    plan.ask()
  end,
  queued = function(event)
    status.queued(event.requests)
    plan.queued(event.requests)
  end,
  mode = function(event)
    require('sextant').given.mode = event.mode
    require('sextant.rpc.channel').send('mode', { mode = event.mode })
  end,
  progress = function(event)
    answer.aside('… ' .. event.text)
  end,
  place = function(event)
    if event.pointed or own then
      require('sextant.ui.go_to_code').arrive(event)
    end
  end,
  block_target = function(event)
    require('sextant.ui.code_block').confirm(event)
  end,
  places = function(event)
    if own then
      require('sextant.ui.quickfix').show(vim.tbl_extend('force', event, { of = 'places', open = true }))
    end
  end,
  phase = function(event)
    status.phase(event.phase, event.detail, event.tokens)
    if event.phase == 'retry' then
      answer.line('… ' .. event.detail)
    end
  end,
  words = function(event)
    -- After a stop the rest is not read any more.
    if not M.stopped then
      answers = answers or not event.thought
      status.phase(event.thought and 'thinking' or 'answering')
      answer.stream(event.text, event.thought)
    end
  end,
  acting = function(event)
    answers = true
    status.phase(event.tool, event.target)
    calls.begin(event)
  end,
  acted = function(event)
    calls.finish(event)
    -- Only now it is known what an edit has introduced.
    if edited then
      edited = false
      require('sextant.ui.review').edited()
    end
  end,
  interrupted = function(event)
    local how_far = event.of > 0 and (', %d of %d done'):format(event.done, event.of) or ''
    local text = ('a task was interrupted%s; :AgentResume goes on: “%s”; :AgentUndo takes it back'):format(
      how_far,
      event.request
    )
    for _, note in ipairs(event.notes) do
      answer.line('… ' .. note)
    end
    notice(text)
    emit('SextantInterrupted', event)
  end,
  waiting = function(event)
    notice(
      ('“%s” waits, %d of %s done; :AgentResume goes on with it, :AgentUndo takes it back'):format(
        event.request,
        event.done,
        say.counted(event.of, 'step')
      )
    )
  end,
  edited = function(event)
    changed, edited = true, true
    require('sextant.ui.review').edited()
    emit('SextantEdited', event)
  end,
  plan = function(event)
    if event.amend then
      plan.update(event)
      return emit('SextantPlan', event)
    end
    answer.end_line()
    begun, planned = nil, begun or planned
    local starts = event.phase == 'executing' and M.status ~= 'running'
    if starts then
      calls.reset()
    end
    if starts and planned and answer.heading() ~= planned then
      -- Another request may have been answered since the plan was made.
      answer.head(planned)
    end
    M.status = event.phase == 'executing' and 'running' or 'idle'
    plan.update(vim.tbl_extend('force', event, { request = planned }))
    if M.status == 'idle' then
      answer.rest_at_end(0)
    end
    status.plan(event)
    emit('SextantPlan', event)
  end,
  review = function(event)
    require('sextant.ui.review').update(event)
    emit('SextantReview', event)
  end,
  plan_checked = function(event)
    plan.checked(event.faults)
  end,
  trace = function(event)
    require('sextant.ui.trace').open(event, 'trace')
  end,
  page = function(event)
    require('sextant.ui.trace').open(event, event.name)
  end,
  log = function(event)
    require('sextant.ui.log').open(event)
  end,
  conversation = function(event)
    answer.reopen(event.exchanges, require('sextant.ui.reopened').show)
    require('sextant.ui.log').give_way()
  end,
  introduced = function(event)
    require('sextant.ui.quickfix').show(event)
    require('sextant.ui.introduced').show(event)
  end,
  finished = function(event)
    begun = nil
    answer.line('')
    local line = answer.line(event.summary)
    answer.settle()
    -- Below an answer that changed nothing, a summary of one line has only the figures; else it is the outcome.
    local is_figures = M.status == 'running' and not changed and not event.summary:find('\n', 1, true)
    answer.rest_at_end(is_figures and 1 or 0)
    M.status = 'idle'
    M.stopped = false
    -- A message of one line has only the figures.
    local in_plan = plan.note(event.summary:match('[^\n]*'))
    status.ended(plan.stands(), event.ok and 'done' or 'not done')
    review_changes(event, report_end(event, in_plan, line))
    require('sextant.ui.review').turn_over(event.root)
    emit('SextantFinished', event)
  end,
  failed = function(event)
    -- While another task runs, this is the end of that one, and the request still waits.
    local early = M.status ~= 'running' and (answer.waits() or plan.waits())
    if early and answer.waits() then
      answer.refuse()
      return refused(event)
    end
    local text = words_of(event.failure)
    begun = nil
    answer.line('')
    local line = answer.line('✗ ' .. text)
    answer.settle()
    answer.rest_at_end(0)
    M.status = 'idle'
    M.stopped = false
    local in_plan = (early or not plan.waits()) and plan.fail(event.failure)
    status.ended(plan.stands(), event.failure.kind == 'cancelled' and 'stopped' or 'failed')
    say.say(text, level_of(event.failure), places(in_plan), { line = line })
    emit('SextantFailed', event)
  end,
  refused = refused,
}

-- The events by which it is known whether a plan goes on that the user has let go on.
local AFTER_GO = { failed = true, finished = true, plan = true, question = true, refused = true }

local function render(event)
  local renderer = renderers[event.type]
  if renderer then
    if AFTER_GO[event.type] then
      require('sextant.ui.plan_change').goes_on(false)
    end
    event.root = event.root or (require('sextant.rpc.channel').info or {}).root or vim.fn.getcwd()
    renderer(event)
  end
end

-- Bytes of an event that is decoded in one turn of the loop and shown in another: each of the two takes milliseconds.
local LARGE = 32 * 1024
-- The events that are not decoded yet, oldest first.
---@type string[]
local inbox = {}
-- True if a large event waits for its turn; the others wait behind it.
local holding = false

local function show_next()
  if holding or #inbox == 0 then
    return
  end
  local json = table.remove(inbox, 1)
  -- JSON's null is nil here: `vim.NIL` would count as true.
  local event = vim.json.decode(json, { luanil = { object = true, array = true } })
  if #json <= LARGE then
    return render(event)
  end
  holding = true
  -- A timer, since a function scheduled by a scheduled one runs in the same turn.
  vim.defer_fn(function()
    holding = false
    for _ = 1, #inbox do
      vim.schedule(show_next)
    end
    render(event)
  end, 1)
end

--- Called by the binary: shows an event, later.
---@param json string
function M.event(json)
  inbox[#inbox + 1] = json
  vim.schedule(show_next)
end

--- The user stops the running task: only its end is shown from here on.
function M.stop()
  M.stopped = M.status == 'running'
end

--- The process is gone: no task runs any more.
---@param text string
function M.process_gone(text)
  M.status = 'idle'
  M.stopped = false
  status.ended(nil, 'failed')
  require('sextant.ui.plan_change').goes_on(false)
  answer.drop()
  local line = require('sextant.ui.scratch').window('answer') and answer.line('✗ ' .. text) or nil
  say.say(text, vim.log.levels.ERROR, places(plan.process_gone(text)), { line = line })
end

return M
