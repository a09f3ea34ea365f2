--- Places the plan's window: a float over the lower part of the code, or a split below it, as high as its text.
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

-- The code keeps the upper half of the screen.
local function height(buf, win)
  local room = math.floor(vim.o.lines / 2) - 3
  return math.max(LEAST, math.min(MOST, room, rows(buf, win)))
end

---@param buf integer
---@param win? integer
---@param words string
---@param keys string
local function float(buf, win, words, keys)
  local width = math.max(20, math.min(WIDEST, vim.o.columns - 6))
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
    config.title = (' Sextant plan · %s '):format(words)
    config.footer, config.footer_pos = (' %s '):format(keys), 'center'
  end
  return config
end

-- Without a border there is no title, and a split has none: the phase stands in the window's own bar.
local function set_bar(win, words, keys)
  local floats = api.nvim_win_get_config(win).relative ~= ''
  local bar = not floats and ('Sextant plan · %s%%< · %s'):format((words:gsub('%%', '%%%%')), keys)
    or border() == 'none' and ('Sextant plan · ' .. words)
    or ''
  api.nvim_set_option_value('winbar', bar, { win = win, scope = 'local' })
end

--- Sets the look of a window that shows the plan.
---@param win integer
function M.furnish(win)
  scratch.furnish(win)
  require('sextant.ui.plan_steps').fold_in(win)
end

--- Opens the window and enters it: the user has just asked for it.
---@param buf integer
---@param words string the phase
---@param keys string
function M.open(buf, words, keys)
  local win
  if is_split() then
    win = api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height(buf) + 1 })
    vim.wo[win].winfixheight = true
  else
    win = api.nvim_open_win(buf, true, float(buf, nil, words, keys))
  end
  M.furnish(win)
  M.fit(buf, words, keys)
end

--- Fits the windows to the text and the screen.
---@param buf integer
---@param words string
---@param keys string
function M.fit(buf, words, keys)
  for _, win in ipairs(scratch.windows('plan')) do
    local lines = height(buf, win)
    if api.nvim_win_get_config(win).relative ~= '' then
      api.nvim_win_set_config(win, float(buf, win, words, keys))
    elseif is_split() and #api.nvim_tabpage_list_wins(0) > 1 then
      api.nvim_win_set_height(win, lines + 1)
    end
    set_bar(win, words, keys)
  end
end

--- Shows the line of the step that runs, in windows where the user is not, and where it is out of sight.
---@param line integer
function M.follow(line)
  for _, win in ipairs(scratch.windows('plan')) do
    local seen = line >= vim.fn.line('w0', win) and line <= vim.fn.line('w$', win)
    if win ~= api.nvim_get_current_win() or not seen then
      pcall(api.nvim_win_set_cursor, win, { line, 0 })
    end
  end
end

return M
