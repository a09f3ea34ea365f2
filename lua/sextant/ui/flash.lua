--- Lights up the lines that an edit has changed, for a moment, in the windows that show them.
local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_flash')
local MS = 350
-- The most hunks that are lit up: more are no news of one place.
local MOST = 50

--- Lights up hunks as they were just made.
---@param buf integer
---@param hunks table[] start row, start column, end row, end column, lines; in the text before, in its order
function M.hunks(buf, hunks)
  if #hunks > MOST or #vim.fn.win_findbuf(buf) == 0 then
    return
  end
  require('sextant.ui.highlights').define()
  local grown, last = 0, api.nvim_buf_line_count(buf) - 1
  for _, hunk in ipairs(hunks) do
    local first = math.min(hunk[1] + grown, last)
    local ending = math.min(first + math.max(#hunk[5], 1), last + 1)
    local options = { end_row = ending, hl_group = 'SextantFlash', hl_eol = true, priority = 70 }
    pcall(api.nvim_buf_set_extmark, buf, NAMESPACE, first, 0, options)
    grown = grown + (#hunk[5] - 1) - (hunk[3] - hunk[1])
  end
  vim.defer_fn(function()
    if api.nvim_buf_is_valid(buf) then
      api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
    end
  end, MS)
end

return M
