--- Keeps words whole at the edge of a window. 'linebreak' would split paths and commands, since 'breakat' is global: cells
--- of virtual text fill a row before a word that has no room in it.
local wrapped_text = require('sextant.ui.wrapped_text')

local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_rows')
-- A longer line is left to Neovim: it would take too long at each change.
local LONGEST = 20000
-- The text before a long word that needs no row of its own: an indentation, a mark of a list.
local LEAD = '^[%s%p]*$'

---@type table<integer, integer|false> the width that the words of a buffer are fitted to
local fitted = {}

-- The columns that a window has for text; nil if it does not wrap.
---@param buf integer
---@return integer?
local function width_of(buf)
  local wins = vim.fn.win_findbuf(buf)
  local here = api.nvim_get_current_win()
  local win = vim.list_contains(wins, here) and here or vim.fn.bufwinid(buf)
  win = win ~= -1 and win or wins[1]
  if win and vim.wo[win].wrap then
    local width = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
    return width > 1 and width or nil
  end
end

-- The cell behind a text, counted over all rows.
---@param text string
---@param cell integer that it begins at
---@param width integer of a row
---@param tab integer
---@return integer
local function behind(text, cell, width, tab)
  if not text:find('[\128-\255%c]') then
    return cell + #text
  end
  for _, character in ipairs(vim.fn.split(text, '\\zs')) do
    local cells = character == '\t' and tab - cell % tab or api.nvim_strwidth(character)
    -- A character of two cells leaves the last one of a row empty.
    local empty = cells == 2 and cell % width == width - 1
    cell = cell + cells + (empty and 1 or 0)
  end
  return cell
end

-- The cells of the virtual text inside a line, by byte, of other namespaces.
---@param buf integer
---@param row integer
---@return { [1]: integer, [2]: integer }[]
local function inside(buf, row)
  local found = {}
  local marks = api.nvim_buf_get_extmarks(buf, -1, { row, 0 }, { row, -1 }, { details = true, type = 'virt_text' })
  for _, mark in ipairs(marks) do
    local details = mark[4] or {}
    if details.ns_id ~= NAMESPACE and details.virt_text_pos == 'inline' then
      local cells = 0
      for _, chunk in ipairs(details.virt_text) do
        cells = cells + api.nvim_strwidth(chunk[1])
      end
      found[#found + 1] = { mark[3] + 1, cells }
    end
  end
  return found
end

---@param line string
---@param width integer
---@param tab integer
---@param marks { [1]: integer, [2]: integer }[]
---@return { [1]: integer, [2]: integer }[] pads the cells before a byte
local function pads(line, width, tab, marks)
  local found, cell, at, next_mark, row = {}, 0, 1, 1, 1
  local function advance(to)
    while marks[next_mark] and marks[next_mark][1] < to do
      local place = marks[next_mark]
      cell = behind(line:sub(at, place[1] - 1), cell, width, tab)
      cell, at, next_mark = cell + place[2], place[1], next_mark + 1
    end
    cell, at = behind(line:sub(at, to - 1), cell, width, tab), to
  end
  for from, word in wrapped_text.words(line, width) do
    advance(from)
    local cells = api.nvim_strwidth(word)
    -- The space behind it stays in its row.
    local needed = cells + (from + #word <= #line and 1 or 0)
    local taken = cell % width
    local is_led = cells > width and line:sub(row, from - 1):find(LEAD)
    if taken > 0 and taken + needed > width and not is_led then
      found[#found + 1] = { from, width - taken }
      cell, row = cell + width - taken, from
    end
    advance(from + #word)
  end
  return found
end

---@param buf integer
---@param first integer
---@param last integer behind the last line
local function fill(buf, first, last)
  api.nvim_buf_clear_namespace(buf, NAMESPACE, first, last)
  local width = width_of(buf)
  if not width then
    return
  end
  local tab = vim.bo[buf].tabstop
  for offset, line in ipairs(api.nvim_buf_get_lines(buf, first, last, false)) do
    local row = first + offset - 1
    local marks = #line <= LONGEST and inside(buf, row) or {}
    if #line <= LONGEST and (#line > width or #marks > 0 or line:find('\t')) then
      for _, pad in ipairs(pads(line, width, tab, marks)) do
        api.nvim_buf_set_extmark(buf, NAMESPACE, row, pad[1] - 1, {
          virt_text = { { (' '):rep(pad[2]) } },
          virt_text_pos = 'inline',
          hl_mode = 'combine',
          undo_restore = false,
        })
      end
    end
  end
end

--- Fits the words of a buffer to its window.
---@param buf integer
function M.fit(buf)
  if api.nvim_buf_is_loaded(buf) then
    fitted[buf] = width_of(buf) or false
    fill(buf, 0, api.nvim_buf_line_count(buf))
  end
end

local function fit_all()
  for buf, width in pairs(fitted) do
    if width ~= (width_of(buf) or false) then
      M.fit(buf)
    end
  end
end

local function attach(buf)
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, _, last)
      fill(buf, first, last)
    end,
    on_detach = function()
      fitted[buf] = nil
    end,
  })
end

--- Keeps the words of a window whole from now on.
---@param win integer
function M.keep(win)
  for option, value in pairs({ wrap = true, linebreak = false, breakindent = false, showbreak = 'NONE' }) do
    api.nvim_set_option_value(option, value, { win = win, scope = 'local' })
  end
  local group = api.nvim_create_augroup('sextant_rows', {})
  local events = { 'BufWinEnter', 'WinResized', 'VimResized', 'TabEnter', 'WinEnter' }
  api.nvim_create_autocmd(events, { group = group, callback = fit_all })
  local options = { 'wrap', 'number', 'relativenumber', 'signcolumn', 'foldcolumn' }
  api.nvim_create_autocmd('OptionSet', { group = group, pattern = options, callback = fit_all })
  local buf = api.nvim_win_get_buf(win)
  if fitted[buf] == nil then
    attach(buf)
  end
  M.fit(buf)
end

return M
