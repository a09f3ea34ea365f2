--- Marks what each task introduced with a sign, as long as it is there, and lists it: new, remaining, fixed.
local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_introduced')
-- Most tasks that are followed.
local MOST = 20
-- Lines between an entry and a report of the same words that still counts as the same one.
local NEAR = 3

---@class sextant.IntroducedEntry a diagnostic that a task introduced or fixed
---@field path string
---@field line integer
---@field column integer
---@field kind string
---@field text string
---@field buf? integer
---@field mark? integer
---@field alive boolean whether it is still there
---@field seen boolean whether Neovim's own diagnostics have shown it, which then decide
---@field only boolean whether no other report of its buffer had the same words

---@class sextant.IntroducedTask
---@field task string
---@field root string
---@field request string
---@field of? string the same, if the task is a client's, which has a list of its own
---@field unknown? string
---@field new sextant.IntroducedEntry[]
---@field fixed sextant.IntroducedEntry[]

-- Those that changed something, oldest first.
---@type sextant.IntroducedTask[]
local tasks = {}

---@return sextant.Options.sign
local function options()
  return require('sextant.options').resolve(require('sextant').given).sign
end

---@param entry sextant.IntroducedEntry
---@return integer? row, boolean? gone whether its line was deleted
local function row_of(entry)
  if not (entry.mark and api.nvim_buf_is_loaded(entry.buf)) then
    return nil
  end
  local found = api.nvim_buf_get_extmark_by_id(entry.buf, NAMESPACE, entry.mark, { details = true })
  if found[1] then
    return found[1], found[3].invalid
  end
end

-- Puts the mark of an entry on a row, with the sign where it is shown.
---@param entry sextant.IntroducedEntry
---@param row integer
---@param sign? sextant.Options.sign
local function put(entry, row, sign)
  row = math.min(row, api.nvim_buf_line_count(entry.buf) - 1)
  local line = api.nvim_buf_get_lines(entry.buf, row, row + 1, false)[1] or ''
  local shown = sign and sign.text ~= '' and entry.alive
  entry.mark = api.nvim_buf_set_extmark(entry.buf, NAMESPACE, row, 0, {
    id = entry.mark,
    end_row = row,
    end_col = #line,
    -- A deleted line takes its sign along, and an undo brings both back.
    invalidate = true,
    sign_text = shown and sign.text or nil,
    sign_hl_group = shown and 'SextantIntroduced' or nil,
    number_hl_group = shown and 'SextantIntroduced' or nil,
    priority = sign and sign.priority or nil,
  })
end

-- The first line of a message, as an entry has it.
local function words_of(message)
  return vim.trim((vim.trim(message):match('^[^\n]*')))
end

-- Takes the report of an entry out of those of its buffer: the nearest one of the same words.
---@param entry sextant.IntroducedEntry
---@param row integer
---@param reports vim.Diagnostic[]
---@return integer? row
local function take(entry, row, reports)
  local best, distance, count
  count = 0
  for index, report in ipairs(reports) do
    local words = words_of(report.message)
    if words ~= '' and entry.text:find(words, 1, true) then
      count = count + 1
      local away = math.abs(report.lnum - row)
      if not best or away < distance then
        best, distance = index, away
      end
    end
  end
  entry.only = entry.only or (not entry.seen and count == 1)
  if best and (distance <= NEAR or entry.only and count == 1) then
    return table.remove(reports, best).lnum
  end
end

-- Follows the reports of a buffer; true if an entry came or went.
---@param entry sextant.IntroducedEntry
---@param reports vim.Diagnostic[]
---@param sign sextant.Options.sign
---@return boolean changed
local function follow(entry, reports, sign)
  local row, gone = row_of(entry)
  -- Reports may be older than the text: a mark that stands stays. One whose line is gone goes to its report.
  local moves = row == nil or gone
  row = row or entry.line - 1
  local now = take(entry, row, reports)
  local was = entry.alive
  if now then
    entry.alive, entry.seen = true, true
  elseif entry.seen then
    entry.alive = false
  end
  if moves and now or not entry.mark then
    put(entry, now or row, sign)
  elseif entry.alive ~= was then
    put(entry, row, sign)
  end
  return entry.alive ~= was
end

-- True if an entry is still there, as far as somebody reports on its buffer.
---@param entry sextant.IntroducedEntry
---@return boolean
local function stands(entry)
  local buf = entry.buf
  local is_reported = buf ~= nil and api.nvim_buf_is_loaded(buf) and #vim.lsp.get_clients({ bufnr = buf }) > 0
  local _, gone = row_of(entry)
  return not is_reported or entry.alive and not gone
end

---@param task sextant.IntroducedTask
---@param kind 'new'|'remaining'|'fixed'|'listed'
---@return table[] items
local function items_of(task, kind)
  local items = {}
  for _, entry in ipairs(kind == 'fixed' and task.fixed or task.new) do
    local row, gone = row_of(entry)
    local is_there = entry.alive and not gone
    if kind == 'listed' and stands(entry) or kind == 'remaining' and is_there or kind == 'new' or kind == 'fixed' then
      items[#items + 1] = {
        filename = vim.fs.joinpath(task.root, entry.path),
        lnum = row and row + 1 or entry.line,
        col = entry.column,
        type = entry.kind,
        text = entry.text,
      }
    end
  end
  return items
end

---@param task sextant.IntroducedTask
---@param kind string
---@return string
local function key_of(task, kind)
  return table.concat({ task.root, task.task, kind }, '\0')
end

-- Brings the lists of a task that the user has asked for up to date.
---@param task sextant.IntroducedTask
local function amend(task)
  local title = require('sextant.ui.quickfix_title')
  for _, kind in ipairs({ 'new', 'remaining', 'fixed' }) do
    require('sextant.ui.quickfix').amend(key_of(task, kind), items_of(task, kind), title.of(task, kind))
  end
end

-- How long the reports rest before the list follows them: a server may take a list back for a moment.
local REST_MS = 500
---@type uv.uv_timer_t?
local rest

-- Lets the list of each task follow what stands of it: `u` may have taken the edit back.
local function follow_lists()
  for _, task in ipairs(tasks) do
    require('sextant.ui.quickfix').follow(task, items_of(task, 'listed'))
  end
end

local function follow_at_rest()
  rest = rest or assert(vim.uv.new_timer())
  rest:start(REST_MS, 0, vim.schedule_wrap(follow_lists))
end

-- Follows the reports of one buffer, or of all that hold entries.
---@param only? integer
local function refresh(only)
  local sign = options()
  ---@type table<integer, vim.Diagnostic[]>
  local reports = {}
  ---@type table<string, integer|false> by path
  local loaded = {}
  local function buffer_of(path)
    if loaded[path] == nil then
      loaded[path] = require('sextant.edit.buffers').find(path) or false
    end
    return loaded[path]
  end
  for _, task in ipairs(tasks) do
    local changed = false
    for _, list in ipairs({ task.new, task.fixed }) do
      for _, entry in ipairs(list) do
        local buf = buffer_of(vim.fs.joinpath(task.root, entry.path))
        if buf and (not only or buf == only) then
          if entry.buf ~= buf then
            entry.buf, entry.mark = buf, nil
          end
          reports[buf] = reports[buf] or vim.diagnostic.get(buf)
          if list == task.new then
            changed = follow(entry, reports[buf], sign) or changed
          elseif not row_of(entry) then
            put(entry, entry.line - 1)
          end
        end
      end
    end
    if changed then
      amend(task)
      follow_at_rest()
    end
  end
end

---@param task sextant.IntroducedTask
local function clear(task)
  for _, list in ipairs({ task.new, task.fixed }) do
    for _, entry in ipairs(list) do
      if entry.mark and api.nvim_buf_is_valid(entry.buf) then
        api.nvim_buf_del_extmark(entry.buf, NAMESPACE, entry.mark)
      end
    end
  end
end

local watching = false
local function watch()
  if watching then
    return
  end
  watching = true
  require('sextant.ui.highlights').define()
  api.nvim_create_autocmd({ 'DiagnosticChanged', 'BufReadPost' }, {
    group = api.nvim_create_augroup('sextant_introduced', {}),
    callback = function(args)
      if #tasks > 0 then
        refresh(args.buf)
      end
    end,
  })
end

---@param entries table[]
---@param known? sextant.IntroducedEntry[] of the same task before
---@return sextant.IntroducedEntry[]
local function entries_of(entries, known)
  local seen = {}
  for _, entry in ipairs(known or {}) do
    seen[entry.path .. '\0' .. entry.text] = entry.seen or nil
  end
  return vim.tbl_map(function(entry)
    local was = seen[entry.path .. '\0' .. entry.text] or false
    return vim.tbl_extend('force', entry, { alive = true, seen = was, only = false })
  end, entries)
end

--- Takes in what a task introduced and fixed, as it is known now.
---@param event table `introduced`, with the root of its workspace
function M.show(event)
  watch()
  local at = #tasks + 1
  for index, known in ipairs(tasks) do
    if known.task == event.task and known.root == event.root then
      at = index
    end
  end
  local known = tasks[at]
  local task = { task = event.task, root = event.root, request = event.request, unknown = event.unknown }
  task.of = event.of ~= '' and event.of or nil
  task.new = entries_of(event.entries, known and known.new)
  task.fixed = entries_of(event.fixed or {})
  if known then
    clear(known)
  end
  tasks[at] = task
  if #tasks > MOST then
    clear(table.remove(tasks, 1))
  end
  refresh()
  if known then
    amend(task)
  end
end

M.KINDS = { 'new', 'remaining', 'fixed' }

local EMPTY = {
  new = 'nothing new came from “%s”',
  remaining = 'nothing remains of what “%s” introduced',
  fixed = '“%s” has fixed nothing',
}

-- The task that a command means: the nth last one of the project of a file, or of all where the file is in none.
---@param back integer
---@param path string
---@return sextant.IntroducedTask?
local function meant(back, path)
  local function nth(is_meant)
    local left, any = back, false
    for index = #tasks, 1, -1 do
      if is_meant(tasks[index]) then
        any, left = true, left - 1
        if left == 0 then
          return tasks[index], any
        end
      end
    end
    return nil, any
  end
  local task, any = nth(function(task)
    return vim.fs.relpath(task.root, path) ~= nil
  end)
  if any then
    return task
  end
  return (nth(function()
    return true
  end))
end

--- Puts a list of a task into the quickfix list, and opens it.
---@param words string[] the kind, and how many tasks to go back
---@param path string of the current code
function M.list(words, path)
  local say = require('sextant.ui.say').say
  local kind, back = 'new', 1
  for _, word in ipairs(words) do
    if vim.list_contains(M.KINDS, word) then
      kind = word
    elseif word:match('^[1-9]%d*$') then
      back = tonumber(word) --[[@as integer]]
    else
      return say(('`:AgentList` takes new, remaining or fixed, and a number; not %s'):format(word), vim.log.levels.WARN)
    end
  end
  local task = meant(back, path)
  if not task then
    return say(
      back == 1 and 'no task has changed something since this Neovim was started' or 'there are not so many tasks'
    )
  end
  refresh()
  local items = items_of(task, kind)
  if #items == 0 then
    return say(EMPTY[kind]:format(task.request))
  end
  local title = require('sextant.ui.quickfix_title').of(task, kind)
  require('sextant.ui.quickfix').put(key_of(task, kind), items, title)
end

return M
