--- Holds what the agent is doing now: for status lines, the answer's winbar, progress messages and events.
local progress = require('sextant.ui.progress_message')

local M = {}
local api = vim.api

---@class sextant.Status what the agent is doing
---@field state 'idle'|'running'|'question'|'waiting' `waiting`: a plan waits for approval, or is paused
---@field phase string what a running task waits for: `servers`, `model`, `thinking`, `answering`, `working`, `retry`, or
--- a tool; empty if idle
---@field detail string the tool and its target, or the reason and number of a retry
---@field step? integer the number of the running step
---@field of? integer the number of steps of the plan
---@field elapsed number seconds since the task began; of the last task, how long it took
---@field waited number seconds in this phase
---@field model string
---@field tokens integer used by the task so far
---@field question? string the open question
---@field options? string[] its answers, from 1
---@field request string
---@field next string[] requests that wait for the running task, oldest first
---@field waiting integer plans and tasks that `:AgentResume!` lists, in the workspace of the last command

---@type sextant.Status
local now = {
  state = 'idle',
  phase = '',
  detail = '',
  elapsed = 0,
  waited = 0,
  model = '',
  tokens = 0,
  request = '',
  next = {},
  waiting = 0,
}
local began, phase_began = 0, 0
-- The phase of the plan that waits for its user; nil without one.
---@type string?
local stands = nil
-- The state that an open question has interrupted.
---@type 'idle'|'running'|'waiting'
local before = 'idle'
---@type uv.uv_timer_t?
local ticking = nil
-- Milliseconds between two updates of the seconds.
local TICK_MS = 1000

-- The most cells of a request that waits, and the fewest where a bar has no room for more.
local NEXT_WIDTH, NEXT_LEAST = 30, 8
-- The fewest cells of a running task's phase in a bar: a long reason is cut, and the times and tokens stay.
local PHASE_LEAST = 24

local function seconds(since)
  return (vim.uv.hrtime() - since) / 1e9
end

--- What the agent is doing. Never waits, and starts nothing.
---@return sextant.Status
function M.now()
  local copy = vim.deepcopy(now)
  if ticking then
    copy.elapsed, copy.waited = seconds(began), seconds(phase_began)
  end
  return copy
end

---@param count integer
---@return string
local function short(count)
  return count < 1000 and tostring(count) or ('%.1fk'):format(count / 1000)
end

local WORDS = {
  servers = 'waiting for language servers',
  model = 'waiting for the model',
  thinking = 'thinking',
  answering = 'answering',
}

-- Names the event that the running task waits for, and its times.
---@return string[]
local function activity()
  local words = WORDS[now.phase] or vim.trim(('%s %s'):format(now.phase, now.detail))
  local waits = ('%s %d s'):format(words ~= '' and words or 'running', seconds(phase_began))
  return { now.phase == 'retry' and now.detail or waits, ('%d s in all'):format(seconds(began)) }
end

-- The tokens of the task so far; none if none are known.
---@return string[]
local function tokens()
  return now.tokens > 0 and { short(now.tokens) .. ' tokens' } or {}
end

--- The event that the running task waits for, with its seconds and tokens, for a bar with words of its own; empty if
--- nothing runs.
---@return string[]
function M.parts()
  return now.state == 'running' and vim.list_extend(activity(), tokens()) or {}
end

-- Returns the phase, and the parts of the line behind it.
---@param next_width? integer cells of a request that waits
---@return string phase, string[] parts
local function line_parts(next_width)
  local parts = {}
  if now.state == 'question' then
    parts[1] = 'question'
  elseif now.state == 'waiting' then
    parts[1] = 'plan ' .. (stands == 'paused' and stands or 'waits for approval')
  elseif now.state == 'running' then
    parts = activity()
    if now.step then
      parts[1] = ('step %d of %d · %s'):format(now.step, now.of, parts[1])
    end
  elseif began > 0 then
    parts[1] = ('idle, last task %d s'):format(now.elapsed)
  else
    parts[1] = 'idle'
  end
  if #now.next > 0 then
    local more = #now.next > 1 and (' and %d more'):format(#now.next - 1) or ''
    parts[#parts + 1] = ('next: %s%s'):format(
      require('sextant.ui.say').cut(now.next[1], next_width or NEXT_WIDTH),
      more
    )
  end
  vim.list_extend(parts, tokens())
  local phase = table.remove(parts, 1)
  return phase, parts
end

--- One line for a winbar or a status line: `waiting for the model 8 s · 1.2k tokens`.
---@param width? integer its most cells: the last parts give way, and of the phase there is the beginning
---@return string
function M.line(width)
  local phase, parts = line_parts()
  local line = table.concat({ phase, unpack(parts) }, ' · ')
  while width and #parts > 0 and api.nvim_strwidth(line) > width do
    parts[#parts] = nil
    line = table.concat({ phase, unpack(parts) }, ' · ')
  end
  return width and require('sextant.ui.say').cut(line, width) or line
end

-- The remarks of the user's review that the agent has not heard.
local unheard = 0

--- Notes how many remarks of the user's review wait to be sent.
---@param count integer
function M.remarks(count)
  if count ~= unheard then
    unheard = count
    vim.schedule(M.show_bars)
  end
end

--- The numbers that answer a question.
---@param options string[]
---@return string
function M.numbers(options)
  return #options > 1 and ('1 to %d'):format(#options) or '1'
end

-- The line in the form of 'winbar': where it does not fit, a request that waits is shortened first, then a long phase,
-- and then its tail is cut. The answer's window has the keys for a question, and the way for what is not sent.
---@param width integer
---@return string
local function bar_line(width)
  local phase, parts
  for next_width = NEXT_WIDTH, NEXT_LEAST, -1 do
    phase, parts = line_parts(next_width)
    if #now.next == 0 or api.nvim_strwidth(table.concat({ phase, unpack(parts) }, ' · ')) < width then
      break
    end
  end
  if now.state == 'question' then
    table.insert(parts, 1, M.numbers(now.options or {}) .. ', or i for words, in this window')
  elseif unheard > 0 and now.state ~= 'running' then
    local remarks = require('sextant.ui.say').counted(unheard, 'remark')
    table.insert(parts, 1, ('%s unsent: :AgentReview send'):format(remarks))
  end
  local rest = #parts > 0 and (' · ' .. table.concat(parts, ' · ')) or ''
  if now.state == 'running' then
    -- A space stands before the line.
    local room = width - 1 - api.nvim_strwidth(rest)
    phase = require('sextant.ui.say').cut(phase, math.max(room, PHASE_LEAST))
  end
  local function escaped(text)
    return (text:gsub('%%', '%%%%'))
  end
  return escaped(phase) .. '%<' .. escaped(rest)
end

---@type { show: fun(), is_in_sight: fun(): boolean }[]
local bars = {}

--- Calls `show` whenever the words of a bar may be other ones: at a change, and each second while a task runs.
---@param show fun()
---@param is_in_sight fun(): boolean
function M.watch(show, is_in_sight)
  bars[#bars + 1] = { show = show, is_in_sight = is_in_sight }
end

-- True if a window of this tab shows the words already.
---@return boolean
local function is_in_sight()
  return require('sextant.ui.scratch').window('answer') ~= nil
    or vim.iter(bars):any(function(bar)
      return bar.is_in_sight()
    end)
end

---@param kind 'begin'|'report'
local function tell_progress(kind)
  progress.report(M.line(), kind, is_in_sight())
end

local is_in_line = false

--- The user's own status line asks for the words: it is drawn again whenever they are other ones.
function M.in_line()
  is_in_line = true
end

local function show_bars()
  if is_in_line then
    vim.cmd('redrawstatus!')
  end
  for _, win in ipairs(require('sextant.ui.scratch').windows('answer')) do
    local bar = '%#SextantPhase# ' .. bar_line(api.nvim_win_get_width(win))
    if vim.wo[win].winbar ~= bar and api.nvim_win_get_height(win) > 1 then
      api.nvim_set_option_value('winbar', bar, { win = win, scope = 'local' })
    end
  end
  for _, bar in ipairs(bars) do
    bar.show()
  end
end

--- Shows the words in a window that has just opened. Neovim gives it the bar that the buffer's last window had.
M.show_bars = show_bars

local function changed()
  show_bars()
  if now.state == 'running' and now.phase ~= '' then
    tell_progress('report')
  end
  api.nvim_exec_autocmds('User', { pattern = 'SextantStatus', modeline = false, data = M.now() })
end

local function tick()
  if now.state == 'running' then
    show_bars()
    if is_in_sight() then
      progress.give_way()
    else
      progress.tick(M.line())
    end
  end
end

local function start_ticking()
  if not ticking then
    ticking = assert(vim.uv.new_timer())
    ticking:start(TICK_MS, TICK_MS, vim.schedule_wrap(tick))
  end
end

local function stop_ticking()
  if ticking then
    ticking:close()
    ticking = nil
  end
end

---@param request string
---@param model string
function M.started(request, model)
  require('sextant.ui.highlights').define()
  began, phase_began = vim.uv.hrtime(), vim.uv.hrtime()
  local kept = { next = now.next, waiting = now.waiting, request = request, model = model }
  now =
    vim.tbl_extend('error', kept, { state = 'running', phase = '', detail = '', elapsed = 0, waited = 0, tokens = 0 })
  start_ticking()
  tell_progress('begin')
  changed()
end

--- Called by the binary: the number of plans and tasks that wait, after a command.
---@param json string
function M.know_waiting(json)
  local count = vim.json.decode(json).count
  if count ~= now.waiting then
    now.waiting = count
    vim.schedule(changed)
  end
end

---@param requests string[]
function M.queued(requests)
  now.next = requests
  changed()
end

---@param phase string
---@param detail? string
---@param tokens? integer
function M.phase(phase, detail, tokens)
  if now.state == 'idle' or now.state == 'waiting' then
    return
  end
  detail = detail or ''
  now.tokens = tokens and tokens > 0 and tokens or now.tokens
  if now.state == 'question' then
    now.state, now.question, now.options = 'running', nil, nil
  end
  if now.phase == phase and now.detail == detail then
    return
  end
  now.phase, now.detail, phase_began = phase, detail, vim.uv.hrtime()
  changed()
end

---@param text string
---@param options string[]
function M.question(text, options)
  before = now.state ~= 'question' and now.state or before
  now.state, now.question, now.options = 'question', text, options
  changed()
end

--- The question is over, and what waited for it goes on.
function M.answered()
  now.question, now.options = nil, nil
  if now.state == 'question' then
    now.state, phase_began = before, vim.uv.hrtime()
  end
  changed()
end

--- The plan as it stands.
---@param event { phase: string, steps: integer, running?: integer }
function M.plan(event)
  now.step, now.of = event.running, event.steps > 0 and event.steps or nil
  if event.phase == 'executing' then
    if now.state ~= 'running' then
      M.started(now.request, now.model)
      now.step, now.of = event.running, event.steps
    end
  elseif event.phase == 'waiting for approval' then
    -- Without a step there is nothing to approve.
    return M.ended(event.steps > 0 and event.phase or nil, 'done')
  end
  changed()
end

--- The task is over. The question of a plan that waits for its user outlives the run.
---@param phase? string of that plan; nil without one
---@param outcome sextant.Outcome
function M.ended(phase, outcome)
  stands = phase
  if ticking then
    now.elapsed = seconds(began)
    progress.finish(outcome, is_in_sight())
  end
  stop_ticking()
  now.phase, now.detail = '', ''
  if not stands then
    now.question, now.options = nil, nil
  end
  before = stands and 'waiting' or 'idle'
  now.state = now.question and 'question' or before
  changed()
end

return M
