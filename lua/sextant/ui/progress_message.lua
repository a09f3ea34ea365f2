--- Shows a task's progress outside of Sextant's windows: as LSP-like events, and on the command line where that is free.
local neovim = require('sextant.neovim')

local M = {}
local api = vim.api

-- Numbers the tasks, so that each has a progress message of its own.
local number = 0
local message_id = nil
-- The words of the progress message.
local shown = ''

-- Cells that Neovim's own marks of a progress message may take.
local MARGIN = 8

-- How long a message stays on the command line before progress may take its place, in milliseconds.
local READ_MS = 5000
local noticed = 0
-- The command line as it was seen last, and since when.
local seen, seen_at = '', 0

-- The last word of a task's progress: how it ended.
---@alias sextant.Outcome 'done'|'not done'|'stopped'|'failed'

---@param since integer
---@return boolean
local function is_recent(since)
  return (vim.uv.hrtime() - since) / 1e6 < READ_MS
end

--- A message is being shown that the user must have time to read.
function M.notice()
  noticed = vim.uv.hrtime()
end

-- True if progress may take the place of what the command line shows: nothing, progress, a typed command, or a message
-- that has stood for some time.
---@return boolean
local function is_free()
  local row = neovim.command_line()
  if not row then
    return true
  elseif row ~= seen then
    seen, seen_at = row, vim.uv.hrtime()
  end
  local is_own = message_id ~= nil and shown ~= '' and row:find(shown, 1, true) ~= nil
  return row == '' or is_own or vim.startswith(row, ':') or not is_recent(seen_at)
end

---@param text string
---@param status 'running'|'success'|'failed'
local function show(text, status)
  if noticed > 0 and is_recent(noticed) then
    return
  end
  -- A message that does not fit would wait for a key.
  local say = require('sextant.ui.say')
  shown = say.cut(text, math.max(1, say.columns() - #say.PREFIX - MARGIN))
  message_id = neovim.progress(message_id, shown, status)
end

---@param text string
---@param kind 'begin'|'report'|'end'
local function emit(text, kind)
  api.nvim_exec_autocmds('User', {
    pattern = 'SextantProgress',
    modeline = false,
    data = { token = number, value = { kind = kind, title = 'Sextant', message = text } },
  })
end

--- A task begins, or goes on with something else.
---@param text string
---@param kind 'begin'|'report'
---@param in_sight boolean whether a window shows the words
function M.report(text, kind, in_sight)
  number = number + (kind == 'begin' and 1 or 0)
  emit(text, kind)
  if not in_sight then
    show(text, 'running')
  end
end

--- The seconds go on, and no window shows them.
---@param text string
function M.tick(text)
  emit(text, 'report')
  if is_free() then
    show(text, 'running')
  end
end

--- A window shows the words now: the message would stand still beside them.
function M.give_way()
  local row = shown ~= '' and message_id and neovim.command_line()
  if row and row:find(shown, 1, true) then
    api.nvim_echo({ { '' } }, false, {})
  end
  shown = ''
end

--- The task is over.
---@param outcome sextant.Outcome
---@param in_sight boolean
function M.finish(outcome, in_sight)
  emit(outcome, 'end')
  if message_id or not in_sight then
    show(outcome, outcome == 'done' and 'success' or 'failed')
  end
  message_id = nil
end

return M
