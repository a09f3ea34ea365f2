--- Shows the agent's changes that wait for review in the code itself, and sends the user's decisions to the binary.
local keys = require('sextant.ui.borrowed_keys')
local marks = require('sextant.ui.review_marks')
local places = require('sextant.ui.review_places')
local say = require('sextant.ui.say')
local watch = require('sextant.ui.review_watch')
local words = require('sextant.ui.review_words')

local M = {}
local api = vim.api

---@type sextant.Review?
local state = nil
-- True if the hunks are drawn; a review that is closed goes on in the binary.
local open = false
-- True if the next look opens the review, without a move of the cursor.
local expected = false
-- The reason why the task that the next look belongs to is not done, and the message of its end.
---@type sextant.TaskEnd
local came_to = {}
-- True if the next look reports the remarks that the agent has not heard.
local reminds = false
-- The number of changes that could come back when the last hunk was decided. The review opens again where one did.
---@type integer?
local ended_with = nil
---@type sextant.Review? as it was when the user took the last decision back
local back_from = nil
-- The buffers that had hunks since the review was opened.
---@type table<integer, true>
local seen = {}
-- Those whose changes are all decided: of the keys they have the one that takes a decision back.
---@type table<integer, true>
local ended = {}
local HINT = { 'ga accept', 'gR reject', ']h next', 'g? help' }

local function send(params)
  params.root = state and state.root
  require('sextant.rpc.channel').send('review', params)
end

-- The hint of the keys stands on the hunk with the cursor.
local function point()
  local hunk = open and places.hunk_at(state)
  if hunk then
    marks.point(api.nvim_get_current_buf(), hunk)
  end
end

local function waiting()
  return state and state.total - state.reviewed or 0
end

---@param target sextant.ReviewPlace
local function go_to(target)
  require('sextant.ui.code').open(places.path_of(state, target.file), target.hunk.line + 1)
  marks.reveal(target.hunk)
end

--- Goes to the next or previous hunk, over files and around the end.
---@param step 1|-1
function M.go(step)
  local target = places.next(state, step)
  if not target then
    return say.say('no change waits for review')
  end
  go_to(target)
end

---@param action 'accept'|'reject'|'note'
---@param part table|'all'
---@param reason? string
local function wish(action, part, reason)
  send({ wish = { action = action, scope = part, reason = reason or '' } })
end

-- The part that a decision is about; without one, a message has the reason.
---@param scope 'hunk'|'symbol'|'file'|'all'
---@param lines? integer[]
---@return table|'all'|nil
local function part_of(scope, lines)
  local part, problem = places.part(state, scope, lines)
  if problem then
    say.say(problem, vim.log.levels.WARN)
  end
  return part
end

---@param action 'accept'|'reject'|'note'
---@param scope 'hunk'|'symbol'|'file'|'all'
---@param reason? string
---@param lines? integer[]
function M.decide(action, scope, reason, lines)
  local part = part_of(scope, lines)
  if part then
    wish(action, part, reason)
  end
end

-- Asks for a text and then decides; an empty one counts, a cancelled one changes nothing. Without a change there is no
-- prompt, which would take the keys that were typed next. The change is that of the key, wherever the cursor is later.
local function decide_because(action, prompt, lines)
  local part = part_of('hunk', lines)
  if not part then
    return
  elseif action == 'reject' and places.conflicts(state, lines) then
    return say.say('it was edited since: accept it, or change it by hand', vim.log.levels.WARN)
  end
  vim.ui.input({ prompt = prompt }, function(reason)
    if reason then
      wish(action, part, vim.trim(reason))
    end
  end)
end

-- `:normal` leaves the keys that were typed next for later.
local function selected()
  local first, last = vim.fn.line('v') - 1, vim.fn.line('.') - 1
  vim.cmd('normal! \27')
  return { math.min(first, last), math.max(first, last) }
end

-- The lines that the user has selected; nil in normal mode.
local function chosen()
  return api.nvim_get_mode().mode:match('^[vV\22]') and selected() or nil
end

---@type sextant.BorrowedKey[]
local KEYS = {
  { lhs = ']h', modes = { 'n' }, desc = 'Next change under review' },
  { lhs = '[h', modes = { 'n' }, desc = 'Previous change under review' },
  { lhs = 'ga', modes = { 'n', 'x' }, desc = 'Accept the change, or the selected part of it' },
  { lhs = 'gA', modes = { 'n' }, desc = 'Accept every change of the symbol' },
  { lhs = 'gR', modes = { 'n', 'x' }, desc = 'Reject the change, or the selected part of it, with a reason' },
  { lhs = 'gB', modes = { 'n' }, desc = 'Take the last decision back' },
  { lhs = 'gK', modes = { 'n' }, desc = 'Show all of the change, its notes and diagnostics' },
  { lhs = 'gN', modes = { 'n' }, desc = 'Leave a note on the change for the agent' },
  { lhs = 'gS', modes = { 'n' }, desc = 'Send rejections and notes to the agent' },
  { lhs = 'gQ', modes = { 'n' }, desc = 'Close the review; :AgentReview opens it again' },
  { lhs = 'g?', modes = { 'n' }, desc = 'Show these keys' },
}

local function help()
  local lines = {}
  for _, key in ipairs(KEYS) do
    lines[#lines + 1] = ('%-4s %s'):format(key.lhs, key.desc)
  end
  vim.list_extend(lines, { '', ':AgentReview accept symbol|file|all, and so for reject' })
  require('sextant.ui.key_help').open('Review', lines)
end

local RUN = {
  [']h'] = function()
    M.go(1)
  end,
  ['[h'] = function()
    M.go(-1)
  end,
  ['ga'] = function()
    M.decide('accept', 'hunk', nil, chosen())
  end,
  ['gA'] = function()
    M.decide('accept', 'symbol')
  end,
  ['gR'] = function()
    decide_because('reject', 'Reject, because (may be empty): ', chosen())
  end,
  ['gB'] = function()
    M.bring_back()
  end,
  ['gK'] = function()
    if part_of('hunk') then
      marks.show_whole(assert(places.hunk_at(state)))
    end
  end,
  ['gN'] = function()
    decide_because('note', 'Note for the agent: ')
  end,
  ['gS'] = function()
    M.hand_over()
  end,
  ['gQ'] = function()
    M.close()
  end,
  ['g?'] = help,
}
for _, key in ipairs(KEYS) do
  key.run = RUN[key.lhs]
end

function M.bring_back()
  back_from = state
  send({ open = true, wish = { action = 'bring_back' } })
end

--- Sends the rejections and notes to the agent, in one request.
function M.hand_over()
  send({ hand_over = true })
end

local function look_again()
  if open or ended_with then
    watch.rest(function()
      if open or ended_with then
        send({ wish = { action = 'show' } })
      end
    end)
  end
end

local function start_watch()
  watch.start(function()
    if seen[api.nvim_get_current_buf()] or places.here(state) then
      look_again()
    end
  end, function()
    if places.here(state) then
      M.draw()
    end
  end, function()
    if open and marks.is_stale() then
      M.draw()
    end
  end, point)
end

---@param key sextant.BorrowedKey
---@return boolean
local function is_back(key)
  return key.lhs == 'gB'
end

--- Draws every loaded file under review.
function M.draw()
  local drawn, first = {}, 1
  for _, file in ipairs(open and state and state.files or {}) do
    local buf = places.buffer_of(state, file)
    if buf then
      drawn[buf], seen[buf] = true, true
      marks.draw(buf, file.hunks, first, waiting(), HINT)
      if ended[buf] then
        keys.unmap(buf)
        ended[buf] = nil
      end
      keys.map(buf, KEYS)
    end
    first = first + #file.hunks
  end
  point()
  for _, buf in ipairs(keys.buffers()) do
    if not drawn[buf] then
      marks.clear(buf)
      keys.unmap(buf)
      -- The last decision can be taken back with its key until the review is closed.
      if ended_with and seen[buf] and api.nvim_buf_is_valid(buf) then
        keys.map(buf, vim.tbl_filter(is_back, KEYS))
        ended[buf] = true
      end
    end
  end
end

--- Ends the drawing and gives the keys back; what waits is kept.
function M.close()
  open, ended_with, seen = false, nil, {}
  M.draw()
  watch.stop()
end

--- The agent has changed a file.
function M.edited()
  if open then
    look_again()
  end
end

--- Opens the review of a finished task, where the user's options want it.
---@param root string
---@param verdict? string why the task is not done: it stays before the words of the review
---@param said? sextant.SaidEnd the message of its end, which no window shows: it stays too
function M.after_task(root, verdict, said)
  expected, came_to = true, { verdict = verdict, said = said }
  require('sextant.rpc.channel').send('review', { wish = { action = 'show' }, root = root })
end

-- After a decision, the cursor goes on to the next hunk, unless it stands in one.
local function advance()
  if places.here(state) and not places.hunk_at(state) or not places.here(state) and #state.files > 0 then
    M.go(1)
  end
end

-- The number of remarks that the agent has not heard.
---@return integer
local function unsent()
  return state and #state.notes or 0
end

local function report_unsent()
  say.say(('%s unsent: `:AgentReview send`'):format(say.counted(unsent(), 'remark')))
end

--- A turn of the agent is over: the user's remarks may have come in too late for it.
---@param root string
function M.turn_over(root)
  if state and unsent() > 0 and state.root == root then
    reminds = true
    send({ wish = { action = 'show' } })
  end
end

-- Rejections that the user can undo, and undos that the user can redo, with a key in the code.
---@param of sextant.Review
local function retraceable(of)
  return of.rejected + of.undone
end

-- No change waits: the drawing ends. An undo of a rejection in the code is still noticed.
---@param asked boolean
---@param decided boolean
---@param said? sextant.SaidEnd the message of the end of a task, which is of more interest
local function end_review(asked, decided, said)
  local was = open
  if was and retraceable(state) > 0 then
    open, ended_with = false, retraceable(state)
    M.draw()
  elseif not ended_with then
    M.close()
  end
  if said and not asked and not decided then
    words.report_over(said)
  elseif asked and unsent() > 0 then
    report_unsent()
  elseif asked then
    say.say('no change waits for review')
  elseif was and unsent() > 0 then
    local text = 'reviewed %d of %d, %d unsent; `:AgentReview send` or `back`'
    say.say(text:format(state.reviewed, state.total, unsent()))
  elseif was and (decided or state.rejected > 0) then
    say.say(words.progress(state) .. '; `:AgentReview back` takes the last back')
  elseif was or decided then
    say.say(words.progress(state, decided and state.summary or nil))
  end
end

--- The review as it stands, from the binary.
---@param event { root: string, state: sextant.Review, open: boolean }
function M.update(event)
  local decided = event.state.summary ~= ''
  local undone = ended_with ~= nil and retraceable(event.state) < ended_with
  local wanted = event.open or expected or undone
  local is_reminder = reminds and not wanted and not decided
  local ending = came_to
  expected, reminds, came_to = false, false, {}
  state = marks.with_notes(vim.tbl_extend('force', event.state, { root = event.root }))
  require('sextant.status').remarks(#state.notes)
  if is_reminder and unsent() > 0 and not require('sextant.ui.scratch').window('answer') then
    report_unsent()
  end
  if #state.files == 0 then
    return end_review(event.open, decided, ending.said)
  end
  if wanted and not open then
    open, ended_with = true, nil
    start_watch()
  end
  M.draw()
  local back = decided and back_from and places.returned(back_from, state)
  back_from = not decided and back_from or nil
  if back then
    go_to(back)
  elseif event.open then
    local hunk = places.hunk_at(state)
    if hunk then
      marks.reveal(hunk)
    else
      M.go(1)
    end
  elseif decided and open and not undone then
    advance()
  end
  if decided then
    say.say(words.progress(state, state.summary))
  elseif wanted then
    words.report(state, ending)
  end
end

--- True if the review is drawn.
---@return boolean
function M.is_open()
  return open
end

--- The count of a review that is open, for a status line.
---@return { reviewed: integer, total: integer }?
function M.count()
  return open and state and { reviewed = state.reviewed, total = state.total } or nil
end

return M
