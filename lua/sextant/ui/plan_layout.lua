--- Places the plan's window: a float over the lower part of the code, or a split below it, as high as its text.
local room = require('sextant.ui.room')
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

-- The least and most lines of its text, and the most columns.
local LEAST, MOST, WIDEST = 5, 24, 100

-- The border of 'winborder', or Sextant's default if that is empty.
---@return string|string[]
local function border()
  local wanted = vim.fn.exists('+winborder') == 1 and vim.o.winborder or ''
  if wanted:find(',') then
    return vim.split(wanted, ',')
  end
  return wanted ~= '' and wanted or 'rounded'
end

---@return boolean
local function is_split()
  return require('sextant.options').resolve(require('sextant').given).window.plan == 'split'
end

-- The columns of the float's text.
local function float_width()
  return math.max(20, math.min(WIDEST, vim.o.columns - 6))
end

-- The most lines of its text: the code keeps the upper half of the screen. A split has a bar.
local function most()
  if is_split() then
    return room.most('plan') - 1
  end
  return math.max(LEAST, math.min(MOST, math.floor(vim.o.lines / 2) - 3))
end

--- The room for the text.
---@return integer columns, integer lines
function M.size()
  return is_split() and vim.o.columns or float_width(), most()
end

-- The lines that the text takes: those of the window that shows it, or those that are not folded.
local function rows(buf, win)
  if win then
    return api.nvim_win_text_height(win, {}).all
  end
  local count = 0
  for _, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    count = count + (line:find('^%s') and 0 or 1)
  end
  return count
end

local function height(buf, win)
  return math.max(LEAST, math.min(most(), rows(buf, win)))
end

-- The lines that a split is to have, whatever others there are.
local function wanted(buf, win)
  return math.max(LEAST, math.min(MOST, rows(buf, win))) + 1
end

local NAME = 'Sextant plan · '

---@param words string
---@return string
local function title(words)
  return (' %s%s '):format(NAME, words)
end

---@param keys string
---@return string
local function footer(keys)
  return (' %s '):format(keys)
end

--- The columns that the title or the bar leaves for the words of the phase.
---@return integer
function M.title_width()
  return M.size() - api.nvim_strwidth(title(''))
end

---@param buf integer
---@param win? integer
---@param words string
---@param keys string
local function float(buf, win, words, keys)
  local width = float_width()
  local lines = height(buf, win)
  local config = {
    relative = 'editor',
    width = width,
    height = lines,
    row = math.max(0, vim.o.lines - vim.o.cmdheight - lines - 3),
    col = math.max(0, math.floor((vim.o.columns - width - 2) / 2)),
    border = border(),
    style = 'minimal',
  }
  if config.border ~= 'none' then
    config.title = title(words)
    config.footer, config.footer_pos = footer(keys), 'center'
  end
  return config
end

-- Without a border there is no title, and a split has none: the phase stands in the window's own bar.
local function set_bar(win, words, keys)
  local floats = api.nvim_win_get_config(win).relative ~= ''
  words = words:gsub('%%', '%%%%')
  local bar = not floats and ('%s%s%%< · %s'):format(NAME, words, keys) or border() == 'none' and NAME .. words or ''
  api.nvim_set_option_value('winbar', bar, { win = win, scope = 'local' })
end

--- Sets the look of a window that shows the plan.
---@param win integer
function M.furnish(win)
  scratch.furnish(win)
  require('sextant.ui.plan_steps').fold_in(win)
end

---@type integer? the float, which shows the plan or its text
local floating

-- A file that is opened in the float would lie over the code.
local function fix_buffer(win, fixed)
  api.nvim_set_option_value('winfixbuf', fixed, { win = win, scope = 'local' })
end

--- Shows a buffer of the plan's in a window that shows another one of them.
---@param win integer
---@param buf integer
function M.show(win, buf)
  fix_buffer(win, false)
  api.nvim_win_set_buf(win, buf)
  fix_buffer(win, win == floating)
end

---@type fun(buf: integer, words: fun(): string, string, enter: boolean): integer?
local open

---@param buf integer
---@param words fun(): string, string
---@param asked boolean
---@return integer? win
local function open_split(buf, words, asked)
  local function split(lines)
    return api.nvim_open_win(buf, false, { split = 'below', win = -1, height = lines })
  end
  local function come_back(entered)
    local win = api.nvim_buf_is_valid(buf) and open(buf, words, false)
    if win and entered then
      api.nvim_set_current_win(win)
    end
  end
  return room.open({ kind = 'plan', wanted = wanted(buf), open = split, back = come_back }, asked)
end

-- Without room, a split waits where it is not entered.
function open(buf, words, enter)
  local phase, keys = words()
  local win
  if is_split() then
    win = open_split(buf, words, enter)
  else
    win = api.nvim_open_win(buf, enter, float(buf, nil, phase, keys))
    floating = win
    fix_buffer(win, true)
  end
  if not win then
    return nil
  end
  M.furnish(win)
  if enter then
    api.nvim_set_current_win(win)
  end
  M.fit(buf, phase, keys)
  return win
end

-- Puts the float of a tab away while the user is in another one. Neovim 0.11 crashes if the last other window of such a
-- tab is closed from outside, as `:bdelete` does.
---@param reopen fun(enter: boolean): integer? win
local function watch_tabs(reopen)
  ---@type table<integer, { entered: boolean, buf: integer }>
  local away = {}
  local group = api.nvim_create_augroup('sextant_plan_tabs', {})
  api.nvim_create_autocmd('TabLeave', {
    group = group,
    callback = function()
      local win, tab = floating, api.nvim_get_current_tabpage()
      if win and api.nvim_win_is_valid(win) and api.nvim_win_get_tabpage(win) == tab then
        away[tab] = { entered = win == api.nvim_get_current_win(), buf = api.nvim_win_get_buf(win) }
        pcall(api.nvim_win_close, win, true)
      end
    end,
  })
  api.nvim_create_autocmd('TabEnter', {
    group = group,
    callback = function()
      local tab = api.nvim_get_current_tabpage()
      local was = away[tab]
      away[tab] = nil
      local win = was and reopen(was.entered)
      if win and api.nvim_buf_is_valid(was.buf) and api.nvim_win_get_buf(win) ~= was.buf then
        M.show(win, was.buf)
        M.furnish_text(win)
      end
    end,
  })
end

local watches = false

--- Opens the window.
---@param buf integer
---@param words fun(): string, string the phase, and its keys
---@param enter boolean whether the user has just asked for it
function M.open(buf, words, enter)
  open(buf, words, enter)
  if not watches then
    watches = true
    watch_tabs(function(was_entered)
      return api.nvim_buf_is_valid(buf) and open(buf, words, was_entered) or nil
    end)
  end
end

--- Fits the windows to the text and the screen.
---@param buf integer
---@param words string
---@param keys string
function M.fit(buf, words, keys)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local lines = height(buf, win)
    if api.nvim_win_get_config(win).relative ~= '' then
      api.nvim_win_set_config(win, float(buf, win, words, keys))
    elseif is_split() and #api.nvim_tabpage_list_wins(0) > 1 then
      room.fit(win, wanted(buf, win))
    end
    set_bar(win, words, keys)
  end
end

--- Shows other words of the phase, and leaves the windows as they are otherwise.
---@param buf integer
---@param words string
---@param keys string
function M.retitle(buf, words, keys)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local config = api.nvim_win_get_config(win)
    if config.relative ~= '' and config.title then
      api.nvim_win_set_config(win, { border = config.border, title = title(words), footer = footer(keys) })
    end
    set_bar(win, words, keys)
  end
end

--- Sets the look of a window where the plan is edited as text, with the keys that work there.
---@param win integer
function M.furnish_text(win)
  for _, option in ipairs({ 'wrap', 'linebreak' }) do
    api.nvim_set_option_value(option, true, { win = win, scope = 'local' })
  end
  M.fit(api.nvim_win_get_buf(win), 'as text', ':w makes it the plan · :q closes · :AgentPlan shows the plan again')
end

--- Shows the line of the step that runs or waits where it is out of sight.
---@param line integer
---@param moves boolean whether the cursor goes there in any window where the user is not
function M.follow(line, moves)
  for _, win in ipairs(scratch.windows('plan')) do
    local seen = line >= vim.fn.line('w0', win) and line <= vim.fn.line('w$', win)
    if moves and win ~= api.nvim_get_current_win() or not seen then
      pcall(api.nvim_win_set_cursor, win, { line, 0 })
    end
  end
end

return M
