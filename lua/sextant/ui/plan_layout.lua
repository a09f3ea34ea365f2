--- Places the plan's window: a float over the lower part of the code, or a split below it, as high as its text.
local room = require('sextant.ui.room')
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

-- The least and most lines of its text, and the most columns.
local LEAST, MOST, WIDEST = 5, 24, 100
-- A window has a line more than its text: its bar, or the border with the title.
local BAR = 1

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

-- The lines that the window takes of the screen; a float has its text in sight in any room.
---@param wanted integer
---@return sextant.Room
local function shape(wanted)
  local floats = not is_split()
  return { kind = 'plan', wanted = wanted, floats = floats, least = floats and LEAST + BAR or nil }
end

-- The most lines of its text: the code keeps the upper half of the screen.
local function most()
  return math.min(MOST, room.most(shape(MOST + BAR)) - BAR)
end

--- The room for the text.
---@return integer columns, integer lines
function M.size()
  return is_split() and vim.o.columns or float_width(), most()
end

---@return string
local function room_now()
  return table.concat({ M.size() }, ' ')
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

-- The lines that the window is to have, whatever others there are.
local function wanted(buf, win)
  return math.max(LEAST, math.min(MOST, rows(buf, win))) + BAR
end

local NAME = 'Sextant plan · '

---@param words string
---@return string
local function title(words)
  return (' %s%s '):format(NAME, words)
end

-- The keys that lead to all others and out of the window.
local LAST = { ['? keys'] = true, ['q close'] = true }

-- The keys that have room, whole: the first one and the last ones, then the others, the first of them first.
---@param keys string
---@param width integer
---@return string
local function fitting(keys, width)
  local parts = vim.split(keys, ' · ', { plain = true })
  while #parts > 1 and api.nvim_strwidth(table.concat(parts, ' · ')) > width do
    local at = #parts
    while at > 1 and LAST[parts[at]] do
      at = at - 1
    end
    table.remove(parts, at > 1 and at or #parts)
  end
  return table.concat(parts, ' · ')
end

-- Neovim cuts a long title at its beginning.
---@param words string
---@return string
local function float_title(words)
  return title(require('sextant.ui.say').cut(words, float_width() - api.nvim_strwidth(title(''))))
end

---@param keys string
---@return string
local function footer(keys)
  return (' %s '):format(fitting(keys, float_width() - 2))
end

--- The columns that the title or the bar leaves for the words of the phase.
---@return integer
function M.title_width()
  return M.size() - api.nvim_strwidth(title(''))
end

---@type integer? the float, which shows the plan or its text
local floating

-- The user may make a split of it.
---@param win integer
---@return boolean
local function is_floating(win)
  return win == floating and api.nvim_win_is_valid(win) and api.nvim_win_get_config(win).relative ~= ''
end

--- The columns of the narrowest window that shows the plan. The float may not be open yet, or have its width of before a
--- resize.
---@return integer
function M.columns()
  local width
  for _, win in ipairs(scratch.windows('plan')) do
    local own = is_floating(win) and float_width() or api.nvim_win_get_width(win)
    width = math.min(width or own, own)
  end
  return width or (M.size())
end

---@param lines integer of its text
---@param row integer
---@param words string
---@param keys string
local function float(lines, row, words, keys)
  local width = float_width()
  local config = {
    relative = 'editor',
    width = width,
    height = lines,
    row = row,
    col = math.max(0, math.floor((vim.o.columns - width - 2) / 2)),
    border = border(),
    style = 'minimal',
  }
  if config.border ~= 'none' then
    config.title = float_title(words)
    config.footer, config.footer_pos = footer(keys), 'center'
  end
  return config
end

-- Without a border there is no title, and a split has none: the phase stands in the window's own bar.
local function set_bar(win, words, keys)
  local floats = api.nvim_win_get_config(win).relative ~= ''
  local shown = fitting(keys, api.nvim_win_get_width(win) - api.nvim_strwidth(NAME .. words .. ' · '))
  words = words:gsub('%%', '%%%%')
  local bar = not floats and ('%s%s%%< · %s'):format(NAME, words, shown) or border() == 'none' and NAME .. words or ''
  api.nvim_set_option_value('winbar', bar, { win = win, scope = 'local' })
end

--- Sets the look of a window that shows the plan.
---@param win integer
function M.furnish(win)
  scratch.furnish(win)
  require('sextant.ui.plan_steps').fold_in(win)
end

---@type string? the room of the text when it was laid out
local laid_out
---@type fun()?
local lay_out_again

--- Lays the text out again where other windows have left the float another room.
---@param run fun()
function M.on_other_room(run)
  lay_out_again = run
end

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
---@param lines integer
---@param phase string
---@param keys string
---@return integer win
local function new_window(buf, lines, phase, keys)
  if is_split() then
    return api.nvim_open_win(buf, false, { split = 'below', win = -1, height = lines })
  end
  local win = api.nvim_open_win(buf, false, float(lines - BAR, 0, phase, keys))
  floating = win
  fix_buffer(win, true)
  return win
end

-- Without room, it waits where it is not entered.
function open(buf, words, enter)
  local phase, keys = words()
  local place = shape(wanted(buf))
  function place.open(lines)
    return new_window(buf, lines, phase, keys)
  end
  function place.back(entered)
    local win = api.nvim_buf_is_valid(buf) and open(buf, words, false)
    if win and entered then
      api.nvim_set_current_win(win)
    end
  end
  function place.resized()
    if place.floats and floating and is_floating(floating) then
      local height, row = room.place(floating)
      local col = api.nvim_win_get_config(floating).col
      api.nvim_win_set_config(floating, { relative = 'editor', height = height, row = row, col = col })
      if laid_out ~= room_now() and lay_out_again then
        laid_out = room_now()
        vim.schedule(lay_out_again)
      end
    end
  end
  local win = room.open(place, enter)
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
  laid_out = room_now()
  local wins = vim.fn.win_findbuf(buf)
  -- The rows of the text depend on the columns, and on the marks in it.
  for _, win in ipairs(vim.tbl_filter(is_floating, wins)) do
    api.nvim_win_set_width(win, float_width())
  end
  if buf == scratch.find('plan') then
    require('sextant.ui.plan_cut').mark(buf, M.columns())
  end
  for _, win in ipairs(wins) do
    local floats = is_floating(win)
    if floats or is_split() and #api.nvim_tabpage_list_wins(0) > 1 then
      room.fit(win, wanted(buf, win))
    end
    if floats then
      local lines, row = room.place(win)
      api.nvim_win_set_config(win, float(lines, row, words, keys))
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
      api.nvim_win_set_config(win, { border = config.border, title = float_title(words), footer = footer(keys) })
    end
    set_bar(win, words, keys)
  end
end

--- Sets the look of a window where the plan is edited as text, with the keys that work there.
---@param win integer
function M.furnish_text(win)
  require('sextant.ui.whole_words').keep(win)
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
      require('sextant.ui.plan_view').follows(win, line)
    end
  end
end

return M
