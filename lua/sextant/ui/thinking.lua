--- Dims the thinking of a model in the answer, and folds it once the answer goes on.
local M = {}
local api = vim.api

local SPACE = api.nvim_create_namespace('sextant_thinking')
-- Above the colours of Markdown.
local PRIORITY = 200
-- The name of this module, for the option that calls it.
local NAME = ...

---@class sextant.Thinking thinking that still comes
---@field buf integer
---@field mark integer
---@field first integer its first line, from 0

---@type sextant.Thinking?
local open = nil

-- The last line of a buffer that has a text, from 0.
local function last_text(buf)
  local last = api.nvim_buf_line_count(buf) - 1
  while last > 0 and api.nvim_buf_get_lines(buf, last, last + 1, false)[1] == '' do
    last = last - 1
  end
  return last
end

--- True if the last words are thinking.
---@return boolean
function M.is_open()
  return open ~= nil
end

--- Thinking begins at the last line, which is empty.
---@param buf integer
function M.begin(buf)
  require('sextant.ui.highlights').define()
  local first = api.nvim_buf_line_count(buf) - 1
  open = { buf = buf, first = first, mark = api.nvim_buf_set_extmark(buf, SPACE, first, 0, {}) }
end

--- Dims the thinking as far as it has come.
function M.dim()
  if not open then
    return
  end
  local last = math.max(open.first, last_text(open.buf))
  local text = api.nvim_buf_get_lines(open.buf, last, last + 1, false)[1]
  api.nvim_buf_set_extmark(open.buf, SPACE, open.first, 0, {
    id = open.mark,
    end_row = last,
    end_col = #text,
    hl_group = 'SextantThinking',
    priority = PRIORITY,
  })
end

-- Folds lines in a window; a reader whose cursor is in them keeps them open.
---@param win integer
---@param first integer from 1
---@param last integer
local function fold(win, first, last)
  api.nvim_win_call(win, function()
    local line = vim.fn.line('.')
    vim.cmd(('%d,%dfold'):format(first, last))
    if line >= first and line <= last then
      vim.cmd('normal! zo')
    end
  end)
end

--- The thinking is over: it is folded in every window that shows it.
function M.close()
  if not open then
    return
  end
  local known = open
  open = nil
  local last = last_text(known.buf)
  if last < known.first then
    api.nvim_buf_del_extmark(known.buf, SPACE, known.mark)
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(known.buf)) do
    fold(win, known.first + 1, last + 1)
  end
end

--- Prepares a new window of the answer: its folds are made by hand, and only its own.
---@param win integer
function M.furnish(win)
  local wanted = {
    foldmethod = 'manual',
    foldenable = true,
    foldminlines = 0,
    foldtext = ("v:lua.require'%s'.fold_text()"):format(NAME),
  }
  for option, value in pairs(wanted) do
    api.nvim_set_option_value(option, value, { win = win, scope = 'local' })
  end
  local buf = api.nvim_win_get_buf(win)
  api.nvim_win_call(win, function()
    vim.cmd('normal! zE')
  end)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, SPACE, 0, -1, { details = true })) do
    if mark[4].end_row and not (open and mark[1] == open.mark) then
      fold(win, mark[2] + 1, mark[4].end_row + 1)
    end
  end
end

--- Forgets the thinking of a text that goes.
---@param buf integer
function M.clear(buf)
  open = nil
  api.nvim_buf_clear_namespace(buf, SPACE, 0, -1)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      vim.cmd('normal! zE')
    end)
  end
end

--- The line of a closed fold: `thinking: 12 lines`.
---@return string
function M.fold_text()
  local first, last = vim.v.foldstart, vim.v.foldend
  local marks = api.nvim_buf_get_extmarks(0, SPACE, { first - 1, 0 }, { first - 1, 0 }, {})
  if #marks == 0 then
    return vim.fn.foldtext()
  end
  return 'thinking: ' .. require('sextant.ui.say').counted(last - first + 1, 'line')
end

return M
