--- Shows each edit where it is made, with the option `follow`: in a code window that the user is not in.
local M = {}
local api = vim.api

---@param win integer
local function is_free(win)
  local buf = api.nvim_win_get_buf(win)
  return win ~= api.nvim_get_current_win()
    and api.nvim_win_get_config(win).relative == ''
    and vim.bo[buf].buftype == ''
    and not vim.wo[win].winfixbuf
    and not vim.wo[win].previewwindow
    and not vim.wo[win].diff
end

-- A free window that shows the buffer already, or else the first free one of the tab.
---@param buf integer
---@return integer?
local function window_for(buf)
  local free = vim.tbl_filter(is_free, api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(free) do
    if api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
  local code = require('sextant.ui.code').window()
  return vim.list_contains(free, code) and code or free[1]
end

--- Moves a window to the first of the hunks that were just made.
---@param buf integer
---@param hunks table[] start row, start column, end row, end column, lines; in the text before, in its order
function M.hunks(buf, hunks)
  local wanted = require('sextant.options').resolve(require('sextant').given).follow
  -- The command line's window lets no other one change.
  if not wanted or not hunks[1] or vim.fn.getcmdwintype() ~= '' then
    return
  end
  local win = window_for(buf)
  if not win then
    return
  end
  local row = math.min(hunks[1][1] + 1, api.nvim_buf_line_count(buf))
  -- A buffer that cannot be left ('nohidden', unsaved) stays in its window.
  pcall(api.nvim_win_call, win, function()
    vim.cmd("normal! m'")
    if api.nvim_win_get_buf(win) ~= buf then
      api.nvim_win_set_buf(win, buf)
    end
    api.nvim_win_set_cursor(win, { row, 0 })
    vim.cmd('normal! zvzz')
  end)
end

return M
