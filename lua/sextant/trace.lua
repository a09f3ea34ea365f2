--- Shows the trace of a task in a scratch window: what led to each step, and what was set aside.
local M = {}
local api = vim.api

local NAME = 'sextant://trace'

local function buffer()
  local buf = vim.fn.bufnr(NAME)
  if buf ~= -1 then
    return buf
  end
  buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_name(buf, NAME)
  vim.bo[buf].filetype = 'markdown'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true, desc = 'Close the window' })
  return buf
end

--- Opens the window below and enters it: the reader asked for it.
---@param markdown string
function M.open(markdown)
  local buf = buffer()
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(markdown, '\n', { plain = true }))
  vim.bo[buf].modifiable = false
  local win = vim.fn.bufwinid(buf)
  if win == -1 then
    win = api.nvim_open_win(buf, true, { split = 'below', win = -1 })
    vim.wo[win].wrap = true
    vim.wo[win].linebreak = true
  else
    api.nvim_set_current_win(win)
  end
  api.nvim_win_set_cursor(win, { 1, 0 })
end

return M
