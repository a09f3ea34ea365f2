--- Keeps each window of the plan where its reader is when the text changes: the cursor on its step, the details that are
--- shown, and no rows below the end.
local scratch = require('sextant.ui.scratch')
local steps = require('sextant.ui.plan_steps')

local M = {}
local api = vim.api

---@class sextant.PlanView
---@field cursor integer[]
---@field step? sextant.PlanStep the one under the cursor
---@field unfolded integer[] the numbers of the steps whose details are shown
---@field is_followed boolean whether the run has put the cursor there, and not the reader

---@type table<integer, sextant.PlanStep> the step that the cursor was on in the plan's text, by window
local carried = {}

---@type table<integer, integer> the line that a run has put the cursor on, by window
local followed = {}

--- Notes the step under the cursor of a window with the plan's text, for the plan that is shown there next.
---@param win integer
function M.carry(win)
  local line = api.nvim_win_get_cursor(win)[1]
  carried[win] = steps.at(api.nvim_win_get_buf(win), line)
end

--- The views of all windows of the plan.
---@param buf integer
---@return table<integer, sextant.PlanView>
function M.take(buf)
  local views = {}
  for _, win in ipairs(scratch.windows('plan')) do
    local cursor = api.nvim_win_get_cursor(win)
    local step = carried[win] or steps.at(buf, cursor[1])
    local is_followed = followed[win] == cursor[1]
    -- From the text with all details, the cursor goes to the line of the step.
    cursor = carried[win] and { step.first, 0 } or cursor
    local unfolded = steps.unfolded(buf, win)
    views[win] = { cursor = cursor, step = step, unfolded = unfolded, is_followed = is_followed }
  end
  carried = {}
  return views
end

-- The line of a view in the text as it is now: that of the step with the same title, or else of the one in its place.
---@param buf integer
---@param view sextant.PlanView
---@return integer
local function line_in(buf, view)
  local step = view.step
  local now = step and steps.like(buf, step)
  if not (step and now) then
    return math.min(view.cursor[1], api.nvim_buf_line_count(buf))
  end
  return math.min(now.first + view.cursor[1] - step.first, now.last)
end

-- Scrolls back where rows below the end are in sight, and lines above are not.
---@param win integer
local function fill(win)
  api.nvim_win_call(win, function()
    local first = vim.fn.line('w0')
    local rest = api.nvim_win_text_height(win, { start_row = first - 1 }).all
    if first > 1 and rest < vim.fn.getwininfo(win)[1].height then
      local cursor = api.nvim_win_get_cursor(win)
      vim.cmd('keepjumps normal! Gzb')
      api.nvim_win_set_cursor(win, cursor)
    end
  end)
end

--- Restores views in the text as it is now.
---@param buf integer
---@param views table<integer, sextant.PlanView>
function M.put(buf, views)
  followed = {}
  for win, view in pairs(views) do
    local line = line_in(buf, view)
    api.nvim_win_set_cursor(win, { line, view.cursor[2] })
    followed[win] = view.is_followed and line or nil
    steps.fold(buf, win, view.unfolded)
  end
end

--- Shows the text from its beginning in the current window, where it is the plan's: the reason stands there.
function M.show_top()
  if vim.list_contains(scratch.windows('plan'), api.nvim_get_current_win()) then
    vim.fn.winrestview({ topline = 1, lnum = 1, col = 0 })
  end
end

--- Notes that a run has put the cursor of a window on a line.
---@param win integer
---@param line integer
function M.follows(win, line)
  followed[win] = line
end

--- Shows the end of a run, which stands on top, in the windows whose reader has stayed with the run.
function M.show_end()
  for _, win in ipairs(scratch.windows('plan')) do
    if followed[win] == api.nvim_win_get_cursor(win)[1] then
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = 1, lnum = 1, col = 0 })
      end)
    end
  end
end

--- Leaves no rows below the end in the windows, which have their heights now.
function M.fill()
  vim.tbl_map(fill, scratch.windows('plan'))
end

return M
