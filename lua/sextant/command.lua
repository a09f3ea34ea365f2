--- The commands: each hands the place of the cursor or the range to the binary.
local M = {}

local rpc = require('sextant.rpc.channel')
local say = require('sextant.ui.say').say

-- The user gets a message at the end of the process, whatever it was about.
rpc.on_gone(require('sextant.ui.show').process_gone)

-- The place of the entry under the cursor of a quickfix or location list, and its text.
---@return sextant.Code?, string?
local function listed()
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  if not info or info.quickfix == 0 then
    return nil
  end
  local list = info.loclist == 1 and vim.fn.getloclist(0) or vim.fn.getqflist()
  local entry = list[vim.fn.line('.')]
  if entry and entry.valid == 1 and entry.bufnr > 0 then
    return { buf = entry.bufnr, cursor = { math.max(entry.lnum, 1), math.max(entry.col - 1, 0) } }, entry.text
  end
end

local function where(args)
  local buf = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  -- In a window of Sextant's own, the command is about the code that the window describes. A range in the window is not
  -- a range of the code.
  local code, entry = listed()
  code = code or require('sextant.ui.scratch').is_ours(buf) and require('sextant.ui.code').last() or nil
  if code then
    buf, cursor = code.buf, code.cursor
  end
  local here = {
    path = vim.api.nvim_buf_get_name(buf),
    buftype = vim.bo[buf].buftype,
    line = cursor[1],
    column = cursor[2],
    entry = entry,
  }
  here.workspace = args.bang
  if args.range > 0 and not code then
    here.first, here.last = args.line1, args.line2
  end
  return here
end

local function text_of(args)
  return vim.trim(args.args)
end

-- The most bytes of a request that is still sent, for the binary to refuse it; reading a longer one takes it 60 times
-- its size.
local LONGEST = 1024 * 1024

-- Refuses a request that is not sent, with the event that its callback waits for.
---@param args table
---@param message string
local function refuse(args, message)
  say(message, vim.log.levels.ERROR)
  local failure = { kind = 'user', message = message, hint = '' }
  local data = { type = 'refused', request = text_of(args), failure = failure }
  vim.api.nvim_exec_autocmds('User', { pattern = 'SextantFailed', modeline = false, data = data })
end

---@return boolean
local function is_too_long(args)
  local long = #args.args > LONGEST
  if long then
    refuse(args, ('the request has %d KB, and requests of up to 64 KB are taken'):format(#args.args / 1024))
  end
  return long
end

-- Where a request is from.
---@class sextant.Asking
---@field place table
---@field steers boolean whether it is for the task that runs
---@field follows boolean whether it goes on with the conversation of the answer's window

---@param args table
---@return sextant.Asking
local function asking(args)
  local place = where(args)
  -- While a task runs, `!` means that task.
  local steers = args.bang and require('sextant.ui.show').status == 'running'
  place.workspace = place.workspace and not steers
  local follows = require('sextant.ui.scratch').window('answer') == vim.api.nvim_get_current_win()
  return { place = place, steers = steers, follows = follows }
end

---@param text string
---@param from sextant.Asking
local function send_request(text, from)
  if not from.steers then
    local alone = require('sextant.ui.show').status ~= 'running'
    require('sextant.ui.answer').expect(text, alone, from.follows)
  end
  rpc.send('ask', { text = text, place = from.place, steer = from.steers or nil, follows = from.follows })
end

--- Asks; without words, in an input that names the scope.
function M.ask(args)
  if is_too_long(args) then
    return
  end
  local text, from = text_of(args), asking(args)
  if text ~= '' then
    return send_request(text, from)
  end
  local scope = vim.tbl_extend('force', from.place, { task = from.steers })
  require('sextant.ui.ask_input').open(scope, function(words)
    send_request(words, from)
  end)
end

function M.plan(args)
  if text_of(args) == '' then
    local plan = require('sextant.ui.plan')
    if not plan.reopen() then
      -- Another Neovim may have left a plan.
      local place = where(args)
      plan.expect()
      rpc.send('show_plan', { place = place })
    end
    return
  end
  if is_too_long(args) then
    return
  end
  local change = text_of(args):match('^[Cc][Hh][Aa][Nn][Gg][Ee]:%s*(.+)$')
  if change and require('sextant.ui.plan').change(change) then
    return
  end
  local place = where(args)
  require('sextant.ui.plan').open(text_of(args))
  rpc.send('plan', { text = text_of(args), place = place })
end

--- Applies a code block of the conversation to a symbol.
function M.apply(args)
  args.range = 0
  require('sextant.ui.code_block').apply(text_of(args), where(args))
end

--- Shows what the last task changed as one diff.
function M.diff(args)
  args.range = 0
  rpc.send('diff', { part = text_of(args), place = where(args) })
end

--- Opens the review of what the agent changed, or decides on it.
function M.review(args)
  local lines = args.range > 0 and { args.line1 - 1, args.line2 - 1 } or nil
  args.range = 0
  require('sextant.ui.review_command').run(args.fargs, where(args), lines)
end

--- Shows the results of the runs in this workspace.
function M.stats(args)
  rpc.send('stats', { place = where(args) })
end

--- Shows the memory of this workspace.
function M.memory(args)
  rpc.send('memory', { place = where(args) })
end

local function needs_process(verb)
  if not rpc.running() then
    return say('nothing is running', vim.log.levels.INFO)
  end
  rpc.send(verb, {})
end

--- Stops the task, or takes the last request back that waits for it.
function M.stop(args)
  local which = args and text_of(args) or ''
  if which == 'next' then
    return needs_process('take_back')
  elseif which ~= '' then
    return say(
      ('there is no `:AgentStop %s`; `:AgentStop next` takes a request back'):format(which),
      vim.log.levels.WARN
    )
  end
  require('sextant.ui.show').stop()
  needs_process('stop')
end

--- Shows the causes and effects in a task: the last one, or the nth last.
function M.trace(args)
  args.range = 0
  rpc.send('trace', { task = text_of(args), place = where(args) })
end

function M.complete_trace(lead)
  return vim.tbl_filter(function(number)
    return vim.startswith(number, lead)
  end, { '1', '2', '3', '4', '5', '6', '7', '8', '9' })
end

-- A command about lasting data starts a process, in the workspace of this buffer or, if it is not a file, of the last
-- command.
function M.undo(args)
  args.range = 0
  rpc.send('undo', { target = text_of(args), partial = args.bang, place = where(args) })
end

--- The parts of the last task, and the requests of the tasks whose changes stand.
function M.complete_undo(lead, line)
  return require('sextant.edit.undo_completion').complete_undo(lead, line, where({ range = 0, bang = false }))
end

--- The parts of the last task.
function M.complete_diff(lead)
  return require('sextant.edit.undo_completion').complete_parts(lead, where({ range = 0, bang = false }))
end

function M.redo(args)
  args.range = 0
  rpc.send('redo', { place = where(args) })
end

--- Shows the changes of the last tasks, and which of them are undone.
function M.history(args)
  args.range = 0
  rpc.send('history', { place = where(args) })
end

-- The titles that were offered last.
---@type string[]
local waiting = {}

--- Goes on with the last task that waits, or with the one of this number or name; with `!`, lists all of them.
function M.resume(args)
  args.range = 0
  if args.bang then
    return rpc.send('waiting', { place = where(args) })
  end
  local number, title = text_of(args):match('^(%d+) (.+)$')
  local is_offered = number and waiting[tonumber(number)] == title
  require('sextant.ui.plan').expect()
  rpc.send('resume', { which = is_offered and number or text_of(args), place = where(args) })
end

--- The titles of what waits, each behind its number, by either of them.
function M.complete_resume(lead, line)
  -- An entry has several words, and the command line replaces the last one alone.
  if #vim.split(vim.trim(line), '%s+') > (lead == '' and 1 or 2) then
    return {}
  end
  local here = where({ range = 0, bang = false })
  waiting = require('sextant.rpc.inquiry').answer('titles_waiting', { place = here }) or {}
  local list = {}
  for number, title in ipairs(waiting) do
    if vim.startswith(tostring(number), lead) or title:lower():find(lead:lower(), 1, true) then
      list[#list + 1] = ('%d %s'):format(number, title)
    end
  end
  return list
end

local function modes()
  return require('sextant.options').choices('mode') or {}
end

--- Shows the mode of plans, or sets it until the user sets it again.
function M.mode(args)
  local wanted = text_of(args)
  local given = require('sextant').given
  if wanted == '' then
    return say('plans are carried out in mode ' .. (given.mode or require('sextant.options').defaults.mode))
  end
  if not vim.tbl_contains(modes(), wanted) then
    return say(('there is no mode %s; use %s'):format(wanted, table.concat(modes(), ' or ')), vim.log.levels.WARN)
  end
  given.mode = wanted
  if rpc.running() then
    rpc.send('mode', { mode = wanted })
  end
end

function M.complete_mode(lead)
  return vim.tbl_filter(function(mode)
    return vim.startswith(mode, lead)
  end, modes())
end

--- Answers the open question, or that of a paused plan.
function M.answer(args)
  local question = require('sextant.ui.question')
  question.answer(question.read(text_of(args)))
end

--- The options of the open question, each behind its number.
function M.complete_answer(lead)
  local options = require('sextant.status').now().options or {}
  local list = {}
  for choice, option in ipairs(options) do
    list[choice] = ('%d %s'):format(choice, option)
  end
  return vim.tbl_filter(function(text)
    return vim.startswith(text, lead)
  end, list)
end

--- Lists what a task introduced, what of it remains, or what it fixed.
function M.list(args)
  args.range = 0
  require('sextant.ui.introduced').list(args.fargs, where(args).path)
end

--- Lists the conversations of this workspace, or those that hold words.
function M.log(args)
  args.range = 0
  rpc.send('log', { words = text_of(args), place = where(args) })
end

--- Opens the answer window again.
function M.show()
  if not require('sextant.ui.answer').show() then
    say('no answer here yet; `:AgentLog` lists earlier ones')
  end
end

-- The commands by their short names.
local function short_names()
  local found = {}
  for name in pairs(vim.api.nvim_get_commands({})) do
    local short = name:match('^Agent(%u%l+)$')
    if short then
      found[short:lower()] = name
    end
  end
  return found
end

--- `:Agent {sub}`: the same as the long name, with its range and `!`.
function M.agent(args)
  local name, rest = args.args:match('^(%S+)%s*(.*)$')
  local long = short_names()[name or '']
  if not long then
    local known = vim.tbl_keys(short_names())
    table.sort(known)
    return say(('`:Agent` takes %s'):format(table.concat(known, ', ')), vim.log.levels.WARN)
  end
  local command = { cmd = long, bang = args.bang or nil, range = args.range > 0 and { args.line1, args.line2 } or nil }
  command.args = rest ~= '' and { rest } or nil
  vim.cmd(command)
end

-- The commands that open no window.
local WINDOWLESS = { stop = true, mode = true, answer = true, agent = true }

-- The commands whose answer is a page, and the name of the page.
local PAGES = {
  diff = 'diff',
  history = 'history',
  log = 'log',
  memory = 'memory',
  resume = 'waiting',
  stats = 'statistics',
  trace = 'trace',
}

--- Runs a command. Neovim opens no window while the command-line window is open.
---@param verb string
---@param args table
function M.run(verb, args)
  if vim.fn.getcmdwintype() ~= '' and not WINDOWLESS[verb] then
    return refuse(args, 'close the command-line window first: the command opens a window of its own')
  end
  if PAGES[verb] then
    require('sextant.ui.reader').asks(PAGES[verb])
  end
  M[verb](args)
end

function M.complete_agent(lead, line)
  local before = vim.trim(line:sub(1, #line - #lead)):gsub('^.*Agent!?', '')
  if vim.trim(before) ~= '' then
    local long = short_names()[before:match('%S+')]
    return long and vim.fn.getcompletion(('%s %s'):format(long, lead), 'cmdline') or {}
  end
  local names = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(short_names()))
  table.sort(names)
  return names
end

return M
