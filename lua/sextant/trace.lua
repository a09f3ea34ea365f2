--- Shows a text of ours to be read in a scratch window: the trace of a task, the statistics, what is remembered.
local M = {}
local api = vim.api

local function buffer(name)
  local buf = vim.fn.bufnr(name)
  if buf ~= -1 then
    return buf
  end
  buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_name(buf, name)
  vim.bo[buf].filetype = 'markdown'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true, desc = 'Close the window' })
  return buf
end

--- Opens the window below and enters it: the reader asked for it.
---@param markdown string
---@param name? string what it is, for the buffer's name
function M.open(markdown, name)
  local buf = buffer('sextant://' .. (name or 'trace'))
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
