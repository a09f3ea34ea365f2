--- Shows the keys of a window, or other short lines, in a float that the next `q`, `<Esc>` or move out of it closes.
local neovim = require('sextant.neovim')

local M = {}
local api = vim.api

local FOOTER = ' q close '

---@param title string
---@param lines string[]
---@param options? { key?: string } the key that has opened it closes it too
function M.open(title, lines, options)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, api.nvim_strwidth(line))
  end
  width = math.min(math.max(width + 1, #FOOTER), vim.o.columns - 4)
  local height = math.min(#lines, vim.o.lines - 5)
  local win = api.nvim_open_win(buf, true, {
    relative = 'editor',
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(title),
    footer = FOOTER,
    footer_pos = 'center',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 2),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
  })
  require('sextant.ui.whole_words').keep(win)
  local rows = math.min(api.nvim_win_text_height(win, {}).all, vim.o.lines - 5)
  if rows ~= height then
    local row = math.max(0, math.floor((vim.o.lines - rows) / 2) - 2)
    local col = api.nvim_win_get_config(win).col
    api.nvim_win_set_config(win, { relative = 'editor', height = rows, row = row, col = col })
  end
  for _, lhs in ipairs({ 'q', '<Esc>', '<CR>', '?', 'g?', options and options.key }) do
    vim.keymap.set('n', lhs, '<Cmd>close<CR>', neovim.in_buffer(buf, { nowait = true, desc = 'Close' }))
  end
  api.nvim_create_autocmd(
    'WinLeave',
    neovim.in_buffer(buf, {
      once = true,
      callback = function()
        pcall(api.nvim_win_close, win, true)
      end,
    })
  )
end

return M
