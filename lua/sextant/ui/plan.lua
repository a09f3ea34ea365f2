--- The floating plan window: the plan document, its phase in the title, the keys of the phase in the footer.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

---@class sextant.PlanState
---@field phase string that of the engine, or one of the window's own: planning, stopped, gone
---@field request? string of a plan that is not there yet
---@field markdown? string
---@field root? string the workspace that the plan is of
---@field steps integer
---@field done integer
---@field failed integer
---@field running? integer number of the step that runs
---@field top string[] what went wrong and the way out, above everything else
---@field question? string[]
---@field note? string how a run ended

---@type sextant.PlanState?
local state = nil
-- A request for a plan that the binary has not taken on yet, and the state to restore if it refuses.
---@type { before: sextant.PlanState?, opened: boolean }?
local asked = nil
local expected = false
-- Whether the next end belongs to the plan: to a request of its window (until the plan comes), or to a run (until that
-- ends). Any other task reports its end elsewhere.
---@type 'wish'|'run'|nil
local awaits = nil

---@return sextant.PlanState
local function empty(phase)
  return { phase = phase, steps = 0, done = 0, failed = 0, top = {} }
end

-- The border of 'winborder', or Sextant's default if that is empty.
---@return string|string[]
local function border()
  local wanted = vim.fn.exists('+winborder') == 1 and vim.o.winborder or ''
  if wanted:find(',') then
    return vim.split(wanted, ',')
  end
  return wanted ~= '' and wanted or 'rounded'
end

local function layout()
  local width = math.max(20, math.min(100, vim.o.columns - 6))
  local height = math.max(5, math.min(24, vim.o.lines - 6))
  local words, keys = require('sextant.ui.plan_words').of(state or empty('planning'))
  local config = {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width - 2) / 2)),
    border = border(),
    style = 'minimal',
  }
  if config.border ~= 'none' then
    config.title = (' Sextant plan · %s '):format(words)
    config.footer, config.footer_pos = (' %s '):format(keys), 'center'
  end
  return config, words
end

local function dress(win, words)
  scratch.furnish(win)
  -- Without a border there is no title: the phase stands in the window's own bar.
  local bare = border() == 'none'
  api.nvim_set_option_value('winbar', bare and ('Sextant plan · ' .. words) or '', { win = win, scope = 'local' })
end

local function lay_out()
  local config, words = layout()
  for _, win in ipairs(scratch.windows('plan')) do
    if api.nvim_win_get_config(win).relative ~= '' then
      api.nvim_win_set_config(win, config)
      dress(win, words)
    end
  end
end

local function approve(steps)
  if not (state and state.markdown) then
    return require('sextant.ui.say').say(
      'there is no plan to run; `:AgentPlan {request}` makes one',
      vim.log.levels.WARN
    )
  end
  awaits = 'run'
  require('sextant.rpc.channel').send('approve', { steps = steps, root = state.root })
end

local function change()
  if not (state and state.markdown) then
    return require('sextant.ui.say').say('there is no plan to change', vim.log.levels.WARN)
  end
  local root = state.root
  vim.ui.input({ prompt = 'Change in the plan: ' }, function(words)
    if words and vim.trim(words) ~= '' then
      awaits = 'wish'
      require('sextant.rpc.channel').send('plan', { text = 'change: ' .. words, root = root })
    end
  end)
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
  require('sextant.rpc.channel').send('answer', { choice = choice, root = state and state.root })
end

local function buffer()
  local buf, made = scratch.buffer('plan', 'hide')
  if not made then
    return buf
  end
  local function map(lhs, run, desc)
    scratch.map(buf, lhs, run, desc)
  end
  map('<CR>', function()
    approve('all')
  end, 'Approve the plan and run it')
  map('s', function()
    approve('one')
  end, 'Run the next step of the plan')
  map('c', change, 'Ask for changes in the plan')
  map('e', edit, 'Edit the plan as text')
  map('gf', function()
    require('sextant.ui.follow').go()
  end, 'Go to the code of the name under the cursor')
  map('<C-c>', '<Cmd>AgentStop<CR>', 'Stop the plan')
  for choice = 1, 8 do
    map('g' .. choice, function()
      answer(choice)
    end, 'Answer ' .. choice .. ' to the open question')
  end
  map('q', '<Cmd>close<CR>', 'Close the window; :AgentPlan opens it again')
  api.nvim_create_autocmd('VimResized', {
    group = api.nvim_create_augroup('sextant_plan', {}),
    callback = lay_out,
  })
  return buf
end

---@param s sextant.PlanState
---@return string[]
local function lines_of(s)
  local lines = vim.list_extend({}, s.top)
  local function part(more)
    if #lines > 0 then
      lines[#lines + 1] = ''
    end
    vim.list_extend(lines, more)
  end
  if s.note then
    part(vim.split(s.note, '\n', { plain = true }))
  end
  if s.question then
    part(s.question)
  end
  if s.markdown then
    part(vim.split(vim.trim(s.markdown), '\n', { plain = true }))
  else
    part({ '# ' .. (s.request or '') })
  end
  if s.phase == 'planning' then
    part({ 'Planning…' })
  end
  return lines
end

local function draw()
  if not state then
    return
  end
  local cursors = {}
  for _, win in ipairs(scratch.windows('plan')) do
    cursors[win] = api.nvim_win_get_cursor(win)
  end
  scratch.set(buffer(), lines_of(state))
  for win, cursor in pairs(cursors) do
    pcall(api.nvim_win_set_cursor, win, cursor)
  end
  lay_out()
end

-- Entering it takes no focus away: the user has just asked for it.
local function open_window()
  local here = scratch.window('plan')
  if here then
    return api.nvim_set_current_win(here)
  end
  local config, words = layout()
  dress(api.nvim_open_win(buffer(), true, config), words)
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

--- Opens the window for a plan that the user has just asked for.
---@param request string
function M.open(request)
  asked = { before = asked and asked.before or state, opened = scratch.window('plan') == nil }
  state = empty('planning')
  state.request, awaits = request, 'wish'
  draw()
  open_window()
end

--- Whether a request for a plan waits to be taken on.
---@return boolean
function M.waits()
  return asked ~= nil
end

--- The request is taken on: the plan before it is gone.
function M.accept()
  asked = nil
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

--- Leaves the screen to the user's next window; `:AgentPlan` shows the plan again.
function M.make_way()
  for _, win in ipairs(scratch.windows('plan')) do
    local here = api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
    if here and api.nvim_win_get_config(win).relative ~= '' then
      pcall(api.nvim_win_close, win, true)
    end
  end
end

--- Shows the last plan again, and enters its window.
---@return boolean shown
function M.reopen()
  if not state then
    return false
  end
  draw()
  open_window()
  return true
end

-- There is nothing to approve: a line shows the reason.
local function nothing_to_do(markdown)
  state = nil
  close_windows()
  local title, reason = markdown:match('^# ([^\n]*)\n*([^\n]*)')
  require('sextant.ui.say').say(('%s: %s'):format(title or '', reason or ''), nil, { 'answer' })
end

--- Shows a changed plan document.
---@param event table `plan`
function M.update(event)
  asked = nil
  if event.phase == 'executing' then
    awaits = 'run'
  elseif awaits == 'wish' then
    awaits = nil
  end
  if event.steps == 0 then
    return nothing_to_do(event.markdown)
  end
  state = empty(event.phase)
  for _, key in ipairs({ 'markdown', 'root', 'steps', 'done', 'failed', 'running' }) do
    state[key] = event[key]
  end
  draw()
  if expected then
    expected = false
    open_window()
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
      api.nvim_win_set_buf(win, buffer())
      scratch.furnish(win)
    end
  end
  lay_out()
end

--- Shows the question that the work waits with; `g1`, `g2`, … answer.
---@param text string
---@param options string[]
---@return boolean held whether the plan's buffer shows it
function M.ask(text, options)
  if not (state and state.markdown) then
    return false
  end
  local lines = vim.split('? ' .. text, '\n', { plain = true })
  for choice, option in ipairs(options) do
    lines[#lines + 1] = ('  g%d  %s'):format(choice, option)
  end
  state.question = lines
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
  return true
end

--- Shows a plan that was not made, or whose run broke off: the error and the hint on top.
---@param failure { kind: string, message: string, hint: string }
---@return boolean held whether the plan's buffer shows it
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
  return true
end

--- Marks the plan as gone with the process.
---@param text string
---@return boolean held whether the plan's buffer shows it
function M.process_gone(text)
  if not state then
    return false
  end
  asked, awaits, state.question = nil, nil, nil
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
