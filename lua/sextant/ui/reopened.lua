--- Writes a request of an earlier conversation as it was shown when it ran: words, calls with their results, questions.
local M = {}

---@class sextant.ShownPart
---@field kind 'words'|'call'|'note'|'risk'|'question'
---@field text? string
---@field step? integer of a call
---@field tool? string
---@field target? string
---@field result? { ok: boolean, text: string }
---@field options? string[] of a question
---@field shows? string the text that it would write
---@field answer? string to it

---@class sextant.Exchange
---@field request string
---@field answer string
---@field outcome? string
---@field shown? sextant.ShownPart[] nil for one of an older Sextant

---@param text string
local function words(text)
  local answer = require('sextant.ui.answer')
  answer.end_line()
  answer.append(text .. '\n')
end

-- A part as it was shown. The result of a call that a question interrupts comes behind the answer, as it did then.
---@type table<string, fun(part: sextant.ShownPart)>
local shows = {
  words = function(part)
    words(part.text)
  end,
  note = function(part)
    require('sextant.ui.answer').line('… ' .. part.text)
  end,
  risk = function(part)
    require('sextant.ui.answer').line(part.text)
  end,
  call = function(part)
    require('sextant.ui.calls').begin(part)
  end,
  question = function(part)
    local answer, question = require('sextant.ui.answer'), require('sextant.ui.question')
    answer.line('')
    vim.tbl_map(answer.line, question.past_lines(part))
    if part.answer then
      require('sextant.ui.calls').answered(question.quoted(part.answer))
    end
  end,
}

---@param call sextant.ShownPart
local function finish(call)
  if call.result then
    local result = { step = call.step, tool = call.tool, ok = call.result.ok, text = call.result.text }
    require('sextant.ui.calls').finish(result)
  end
end

--- Writes an exchange below its heading.
---@param one sextant.Exchange
---@return integer figures lines at its end that may be out of sight
function M.show(one)
  local answer, calls = require('sextant.ui.answer'), require('sextant.ui.calls')
  answer.append('\n')
  calls.reset()
  local said, parts = '', one.shown or {}
  for index, part in ipairs(parts) do
    local before, after = parts[index - 1], parts[index + 1]
    shows[part.kind](part)
    if part.kind == 'words' then
      said = part.text
    elseif part.kind == 'call' and not (after and after.kind == 'question') then
      finish(part)
    elseif part.kind == 'question' and before and before.kind == 'call' then
      finish(before)
    end
  end
  calls.reset()
  -- The last words end with the answer, where the model has streamed it; the outcome begins with one that was not.
  local text, outcome = vim.trim(one.answer), vim.trim(one.outcome or '')
  local is_said = vim.endswith(vim.trim(said), text)
  if not is_said and not vim.startswith(outcome, (text:gsub('%.$', ''))) then
    words(one.answer)
  end
  if outcome ~= '' then
    answer.line('')
    answer.line(outcome)
  end
  -- Below an answer that changed nothing, an outcome of one line has only the figures.
  return is_said and outcome:find('^nothing was changed[^\n]*$') and 1 or 0
end

return M
