--- Numbers the calls of a task in the answer window, and puts each result below its call.
local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_calls')

-- The calls without a result, oldest first, each with the mark of its line.
---@type { step: integer, tool: string, mark?: integer }[]
local open = {}
-- The number of calls of each step: a model may ask for several at once.
---@type table<integer, integer>
local counts = {}

--- A task begins.
function M.reset()
  open, counts = {}, {}
end

--- Shows a call that is about to run: `2. run_command pytest -q`, and `2.2 …` for the second one of the same step.
---@param event { step: integer, tool: string, target: string }
function M.begin(event)
  local count = (counts[event.step] or 0) + 1
  counts[event.step] = count
  local number = count > 1 and ('%d.%d'):format(event.step, count) or ('%d.'):format(event.step)
  local answer = require('sextant.ui.answer')
  local line = answer.line(vim.trim(('%s %s %s'):format(number, event.tool, event.target)))
  local mark = line and api.nvim_buf_set_extmark(answer.text(), NAMESPACE, line - 1, 0, {})
  open[#open + 1] = { step = event.step, tool = event.tool, mark = mark }
end

--- Shows the user's answer to a question. The result of the only call without one stands below it, in sight.
---@param text string
function M.answered(text)
  local answer = require('sextant.ui.answer')
  local line = answer.line(text)
  if line and #open == 1 then
    local _, more = text:gsub('\n', '')
    open[1].mark = api.nvim_buf_set_extmark(answer.text(), NAMESPACE, line - 1 + more, 0, {})
  end
end

-- Takes the call of a result: those of one step return in their order.
---@param event { step: integer, tool: string }
---@return integer? mark
local function take(event)
  for index, call in ipairs(open) do
    if call.step == event.step and call.tool == event.tool then
      return table.remove(open, index).mark
    end
  end
end

--- Shows the result of a call.
---@param event { step: integer, tool: string, ok: boolean, text: string }
function M.finish(event)
  local text = (event.ok and '   ' or '   ✗ ') .. event.text:gsub('\n', '\n   ')
  local answer, mark = require('sextant.ui.answer'), take(event)
  local place = mark and api.nvim_buf_get_extmark_by_id(answer.text(), NAMESPACE, mark, {})
  if not place or not place[1] then
    return answer.line(text)
  end
  require('sextant.ui.scratch').write(answer.text(), function(buf)
    api.nvim_buf_set_lines(buf, place[1] + 1, place[1] + 1, false, vim.split(text, '\n', { plain = true }))
  end)
end

return M
