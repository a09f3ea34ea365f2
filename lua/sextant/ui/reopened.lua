--- Writes a request of an earlier conversation as it was shown when it ran: words, calls with their results, notes.
local M = {}

---@class sextant.ShownPart
---@field kind 'words'|'call'|'note'
---@field text? string
---@field step? integer of a call
---@field tool? string
---@field target? string
---@field result? { ok: boolean, text: string }

---@class sextant.Exchange
---@field request string
---@field answer string
---@field shown? sextant.ShownPart[] nil for one of an older Sextant

---@param text string
local function words(text)
  local answer = require('sextant.ui.answer')
  answer.end_line()
  answer.append(text .. '\n')
end

---@param one sextant.Exchange
function M.show(one)
  local answer, calls = require('sextant.ui.answer'), require('sextant.ui.calls')
  answer.append('\n')
  calls.reset()
  local said = ''
  for _, part in ipairs(one.shown or {}) do
    if part.kind == 'words' then
      said = part.text
      words(part.text)
    elseif part.kind == 'note' then
      answer.line('… ' .. part.text)
    else
      calls.begin(part)
      if part.result then
        calls.finish({ step = part.step, tool = part.tool, ok = part.result.ok, text = part.result.text })
      end
    end
  end
  calls.reset()
  -- The last words end with the answer, where the model has streamed it.
  if not vim.endswith(vim.trim(said), vim.trim(one.answer)) then
    words(one.answer)
  end
end

return M
