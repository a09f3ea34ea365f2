--- Shows a task: a window of ours with the words and results as they come, messages, the quickfix list.
local scratch = require('sextant.scratch')

local M = {}
local api = vim.api

local buf, win = nil, nil
local task = { open_plan = false }

local function options()
  return (require('sextant.options').resolve(require('sextant').given))
end

local function buffer()
  local made
  buf, made = scratch.buffer('answer', 'hide')
  if made then
    scratch.map(buf, '<C-c>', '<Cmd>AgentStop<CR>', 'Stop the task')
  end
  return buf
end

-- Appends at the end; a cursor on the last line goes along, any other stays where the reader put it.
local function append(text)
  local b = buffer()
  local last = api.nvim_buf_line_count(b)
  local tail = api.nvim_buf_get_lines(b, last - 1, last, false)[1]
  local follow = win and api.nvim_win_is_valid(win) and api.nvim_win_get_cursor(win)[1] >= last
  scratch.write(b, function()
    api.nvim_buf_set_text(b, last - 1, #tail, last - 1, #tail, vim.split(text, '\n', { plain = true }))
  end)
  if follow and api.nvim_win_is_valid(win) then
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(b), 0 })
  end
end

local function line(text)
  local b = buffer()
  local last = api.nvim_buf_get_lines(b, -2, -1, false)[1]
  append((last ~= '' and '\n' or '') .. text .. '\n')
end

-- The words of one question stay apart from those of the next.
local function end_line()
  if buf and api.nvim_buf_is_valid(buf) and api.nvim_buf_get_lines(buf, -2, -1, false)[1] ~= '' then
    append('\n')
  end
end

local function emit(name, data)
  api.nvim_exec_autocmds('User', { pattern = name, modeline = false, data = data })
end

--- Opens the answer window below, without entering it.
function M.open_answer(request)
  local b = buffer()
  if not (win and api.nvim_win_is_valid(win)) then
    win = api.nvim_open_win(b, false, { split = 'below', win = -1, height = options().window.height })
    vim.wo[win].winfixheight = true
    vim.wo[win].number = false
    vim.wo[win].relativenumber = false
    vim.wo[win].signcolumn = 'no'
    vim.wo[win].wrap = true
    vim.wo[win].linebreak = true
  end
  scratch.set(b, { '# ' .. request, '' })
  api.nvim_win_set_cursor(win, { 2, 0 })
end

-- Opening a window in the middle of insert mode would end it.
local function when_normal(run)
  if api.nvim_get_mode().mode:sub(1, 1) == 'n' then
    return run()
  end
  api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n',
    once = true,
    callback = function()
      vim.schedule(run)
    end,
  })
end

local function open_quickfix()
  when_normal(function()
    local here = api.nvim_get_current_win()
    vim.cmd('botright copen')
    if api.nvim_win_is_valid(here) then
      api.nvim_set_current_win(here)
    end
  end)
end

local function to_items(entries, root)
  return vim.tbl_map(function(entry)
    return {
      filename = vim.fs.joinpath(root, entry.path),
      lnum = entry.line,
      col = entry.column,
      type = entry.kind,
      text = entry.text,
    }
  end, entries)
end

-- A new list each time, so that `:colder` gives the user's own back; a late answer amends ours in place.
local function quickfix(event)
  local root = (require('sextant.rpc').info or {}).root or vim.fn.getcwd()
  local items = to_items(event.entries, root)
  local current = vim.fn.getqflist({ context = 1, id = 0 })
  local ours = type(current.context) == 'table' and current.context.sextant
  if event.amend and task.list and vim.fn.getqflist({ id = task.list, nr = 0 }).id ~= 0 then
    vim.fn.setqflist({}, 'r', { id = task.list, items = items, title = event.title })
  elseif #items > 0 or ours then
    vim.fn.setqflist({}, ' ', { items = items, title = event.title, context = { sextant = true } })
    task.list = vim.fn.getqflist({ id = 0 }).id
  end
  if event.open and #items > 0 then
    open_quickfix()
  end
end

-- In the answer window, and under the plan where one is shown. Without a window it is told as a message.
local function question(event)
  line('')
  line('? ' .. event.text)
  for choice, option in ipairs(event.options) do
    line(('  %d. %s'):format(choice, option))
  end
  line('  :AgentAnswer N answers')
  local in_plan = require('sextant.plan').ask(event.text, event.options)
  if not in_plan and not (win and api.nvim_win_is_valid(win)) then
    require('sextant.rpc').say(('%s :AgentAnswer 1 to %d'):format(event.text, #event.options))
  end
end

local renderers = {
  started = function(event)
    task = {}
    require('sextant.undo').started()
    M.status = 'running'
    emit('SextantStarted', event)
  end,
  risk = function(event)
    line(('risk %s: %s'):format(event.level, table.concat(event.reasons, '; ')))
  end,
  question = function(event)
    question(event)
    emit('SextantQuestion', event)
  end,
  mode = function(event)
    require('sextant').given.mode = event.mode
    require('sextant.rpc').send('mode', { mode = event.mode })
  end,
  progress = function(event)
    line('… ' .. event.text)
  end,
  words = function(event)
    append(event.text)
  end,
  acting = function(event)
    line(('%d. %s %s'):format(event.step, event.tool, event.target))
  end,
  acted = function(event)
    line((event.ok and '   ' or '   ✗ ') .. event.text:gsub('\n', '\n   '))
  end,
  interrupted = function(event)
    local how_far = event.of > 0 and (', %d of %d steps done'):format(event.done, event.of) or ''
    local text = ('a task was interrupted: “%s”%s. :AgentResume goes on, :AgentUndo takes it back'):format(
      event.request,
      how_far
    )
    for _, note in ipairs(event.notes) do
      line('… ' .. note)
    end
    line('… ' .. text)
    require('sextant.rpc').say(text)
    emit('SextantInterrupted', event)
  end,
  edited = function(event)
    require('sextant.undo').touched(event.symbols)
    emit('SextantEdited', event)
  end,
  plan = function(event)
    end_line()
    M.status = event.phase == 'executing' and 'running' or 'idle'
    require('sextant.plan').update(event.markdown, event.phase)
    emit('SextantPlan', event)
  end,
  trace = function(event)
    require('sextant.trace').open(event.markdown)
  end,
  page = function(event)
    require('sextant.trace').open(event.markdown, event.name)
  end,
  introduced = function(event)
    quickfix(event)
  end,
  finished = function(event)
    M.status = 'idle'
    line('')
    line(event.summary)
    -- Where there is one line, the figures have to do; a message of several would wait for a key.
    local figures = event.summary:match('[^\n]*')
    require('sextant.plan').note(figures)
    if not (win and api.nvim_win_is_valid(win)) then
      require('sextant.rpc').say(figures)
    end
    emit('SextantFinished', event)
  end,
  failed = function(event)
    M.status = 'idle'
    local failure = event.failure
    local text = failure.hint ~= '' and (failure.message .. '\n  → ' .. failure.hint) or failure.message
    line('')
    line('✗ ' .. text)
    require('sextant.plan').note('✗ ' .. failure.message)
    require('sextant.rpc').say(text, failure.kind == 'cancelled' and vim.log.levels.INFO or vim.log.levels.ERROR)
    emit('SextantFailed', event)
  end,
}

--- Shows one event of the binary.
function M.event(event)
  local render = renderers[event.type]
  if render then
    render(event)
  end
end

--- The process is gone: whatever was shown as running is not.
function M.process_gone(text)
  M.status = 'idle'
  if buf and api.nvim_buf_is_valid(buf) then
    line('✗ ' .. text)
  end
  require('sextant.plan').note('✗ ' .. text)
end

--- `running` or `idle`; for a status line.
M.status = 'idle'

return M
