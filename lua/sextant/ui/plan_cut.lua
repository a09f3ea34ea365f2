--- Marks the titles of folded steps that one row has no room for. Their details show them whole.
local steps = require('sextant.ui.plan_steps')
local wrapped_text = require('sextant.ui.wrapped_text')

local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_plan_cuts')
-- `- [ ] `, behind which a title begins.
local MARK = 6
-- Stands for the rest of a title.
local REST = ' …'

-- The columns for a line.
local columns = 0

-- The symbols that are drawn before a title.
---@param buf integer
---@param row integer
---@return string
local function names_before(buf, row)
  local drawn = api.nvim_create_namespace('sextant_plan_steps')
  local found = api.nvim_buf_get_extmarks(buf, drawn, { row, MARK }, { row, MARK }, { details = true })[1]
  local names = found and found[4].virt_text
  return names and names[1][1] or ''
end

-- The byte of a line that the mark stands at; nil where the title has room.
---@param line string
---@param names string
---@return integer?
local function place(line, names)
  local title = line:sub(MARK + 1)
  local room = columns - MARK - api.nvim_strwidth(names)
  local shown = wrapped_text.first_rows(title, room, 1)[1]
  local kept = #shown - #REST
  return kept > 0 and title:sub(1, kept) .. REST == shown and MARK + kept or nil
end

--- Marks the titles in a buffer as they are folded now, and keeps the words of its lines whole.
---@param buf integer
---@param width? integer the columns for a line; without it as before
function M.mark(buf, width)
  columns = width or columns
  local win = vim.fn.bufwinid(buf)
  if win == -1 then
    return
  end
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  for _, step in ipairs(steps.read(lines)) do
    local is_folded = api.nvim_win_call(win, function()
      return vim.fn.foldclosed(step.first) ~= -1
    end)
    local row = step.first - 1
    local at = is_folded and place(lines[step.first], names_before(buf, row))
    if at then
      local mark = { virt_text = { { REST, 'SextantHint' } }, virt_text_pos = 'inline', hl_mode = 'combine' }
      api.nvim_buf_set_extmark(buf, NAMESPACE, row, at, mark)
    end
  end
  require('sextant.ui.whole_words').fit(buf)
end

return M
