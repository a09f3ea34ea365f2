--- Finds the code that is meant if the user asks from a window of Sextant's: that of the tab's last code window.
local M = {}
local api = vim.api

---@type table<integer, integer> the code window that was left last, by tab
local left = {}
local watching = false

local function is_code(win)
  if not api.nvim_win_is_valid(win) then
    return false
  end
  local buf = api.nvim_win_get_buf(win)
  return vim.bo[buf].buftype == '' and api.nvim_buf_get_name(buf) ~= ''
end

--- Listens from the first such window on.
function M.watch()
  if watching then
    return
  end
  watching = true
  local group = api.nvim_create_augroup('sextant_code', {})
  api.nvim_create_autocmd('WinLeave', {
    group = group,
    callback = function()
      local win = api.nvim_get_current_win()
      if is_code(win) then
        left[api.nvim_get_current_tabpage()] = win
      end
    end,
  })
  api.nvim_create_autocmd('TabClosed', {
    group = group,
    callback = function()
      for tab in pairs(left) do
        if not api.nvim_tabpage_is_valid(tab) then
          left[tab] = nil
        end
      end
    end,
  })
end

---@class sextant.Code
---@field buf integer
---@field cursor integer[] line from 1, column in bytes from 0

local function of_window(win)
  return { buf = api.nvim_win_get_buf(win), cursor = api.nvim_win_get_cursor(win) }
end

-- The last used file among those open without a window, at its cursor.
local function of_hidden()
  local last
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    local file = vim.bo[info.bufnr].buftype == '' and info.name ~= ''
    if file and (not last or info.lastused > last.lastused) then
      last = info
    end
  end
  if last then
    local mark = api.nvim_buf_get_mark(last.bufnr, '"')
    return { buf = last.bufnr, cursor = { math.max(1, mark[1]), mark[2] } }
  end
end

-- A window takes a file if it shows it already, or may show another buffer.
local function takes(win, path)
  local name = api.nvim_buf_get_name(api.nvim_win_get_buf(win))
  return not vim.wo[win].winfixbuf or vim.fs.normalize(name) == vim.fs.normalize(path)
end

--- The window of this tab that the user's code was last visited in.
---@param fits? fun(win: integer): boolean
---@return integer? win
function M.window(fits)
  local known = left[api.nvim_get_current_tabpage()]
  local candidates = { known, vim.fn.win_getid(vim.fn.winnr('#')) }
  vim.list_extend(candidates, api.nvim_tabpage_list_wins(0))
  for _, win in pairs(candidates) do
    local here = api.nvim_win_is_valid(win) and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
    if here and is_code(win) and (not fits or fits(win)) then
      return win
    end
  end
end

--- The code that the user last visited in this tab.
---@return sextant.Code?
function M.last()
  local win = M.window()
  return win and of_window(win) or of_hidden()
end

--- Shows a file in the code window, which becomes the current one, at a line and column.
---@param path string
---@param line integer from 1
---@param column? integer in bytes, from 0
function M.open(path, line, column)
  local current = api.nvim_get_current_win()
  if vim.bo[api.nvim_win_get_buf(current)].buftype ~= '' or not takes(current, path) then
    local win = M.window(function(candidate)
      return takes(candidate, path)
    end)
    if win then
      api.nvim_set_current_win(win)
    else
      vim.cmd('aboveleft new')
      api.nvim_set_option_value('winfixbuf', false, { scope = 'local' })
    end
  end
  vim.cmd("normal! m'")
  if vim.fs.normalize(api.nvim_buf_get_name(0)) ~= vim.fs.normalize(path) then
    vim.cmd('hide edit ' .. vim.fn.fnameescape(vim.fn.fnamemodify(path, ':~:.')))
  end
  api.nvim_win_set_cursor(0, { math.min(line, api.nvim_buf_line_count(0)), column or 0 })
  if not column then
    vim.cmd('normal! ^')
  end
  vim.cmd('normal! zv')
  require('sextant.ui.uncovered').reveal()
end

return M
