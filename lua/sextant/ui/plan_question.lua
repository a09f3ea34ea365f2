--- Keeps the open question of a plan in sight, and goes back to the place before it once it is over.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

-- The views of the windows before the question.
---@type table<integer, vim.fn.winsaveview.ret>
local before = {}

--- Notes the views before the question is part of the text.
function M.enter()
  for _, win in ipairs(scratch.windows('plan')) do
    before[win] = before[win] or api.nvim_win_call(win, vim.fn.winsaveview)
  end
end

-- The first line of the question.
---@param buf integer
---@param question string[]
---@return integer?
local function place(buf, question)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  for first = 1, #lines - #question + 1 do
    if vim.deep_equal(vim.list_slice(lines, first, first + #question - 1), question) then
      return first
    end
  end
end

-- Scrolls to the whole question where a part of it is out of sight. The cursor goes along, and the focus does not.
---@param buf integer
---@param question string[] its lines
local function reveal(buf, question)
  local first = place(buf, question)
  for _, win in ipairs(first and scratch.windows('plan') or {}) do
    api.nvim_win_call(win, function()
      local last = first + #question - 1
      if vim.fn.line('w0') > first or vim.fn.line('w$') < last then
        vim.fn.winrestview({ topline = first, lnum = first, col = 0 })
      end
    end)
  end
end

local function restore()
  for win, view in pairs(before) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  before = {}
end

--- Keeps the open question in sight, or restores the views of before one that is over.
---@param buf integer
---@param question? string[] the lines of the open one
---@return boolean is_open
function M.keep(buf, question)
  if question then
    reveal(buf, question)
  else
    restore()
  end
  return question ~= nil
end

return M
