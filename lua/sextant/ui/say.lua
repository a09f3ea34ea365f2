--- Shows a message: one line that fits, whole in `:messages`, unless a visible window of Sextant's shows it.
local neovim = require('sextant.neovim')

local M = {}
local api = vim.api

local GROUPS = { [vim.log.levels.WARN] = 'WarningMsg', [vim.log.levels.ERROR] = 'ErrorMsg' }

--- Cuts a line to a width.
---@param text string a line
---@param width integer cells
---@return string
function M.cut(text, width)
  if api.nvim_strwidth(text) <= width then
    return text
  end
  local kept = vim.fn.strcharlen(text)
  repeat
    kept = kept - 1
    local short = vim.fn.strcharpart(text, 0, kept) .. '…'
  until kept <= 0 or api.nvim_strwidth(short) <= width
  return vim.fn.strcharpart(text, 0, kept) .. '…'
end

-- `:echomsg` puts the whole text into the history and shows as much as fits. This needs `T` in 'shortmess', a command
-- line to show it in, and no text in that line that it would have to omit.
local function keep(text)
  local height, short = vim.o.cmdheight, vim.o.shortmess
  if height == 0 then
    vim.o.cmdheight = 1
    vim.cmd.redraw()
  end
  vim.opt.shortmess:append('T')
  pcall(vim.cmd.echomsg, vim.fn.string((text:gsub('%s*\n%s*', ' '))))
  vim.o.shortmess = short
  if height == 0 then
    vim.o.cmdheight = 0
    vim.cmd.redraw()
  end
end

-- The columns of the ruler where 'rulerformat' sets no other width, with the space before it.
local RULER = 18

--- The columns for a message. A float has no status line: while the user is in one, the ruler stands in the command line,
--- for which `v:echospace` has no place.
---@return integer
function M.columns()
  local floats = api.nvim_win_get_config(0).relative ~= ''
  local free = vim.v.echospace
  if floats and vim.o.ruler and vim.o.laststatus ~= 3 then
    local own = tonumber(vim.o.rulerformat:match('^%%(%d+)%('))
    free = math.min(free, vim.o.columns - (own and own + 1 or RULER) - 1)
  end
  return math.max(1, free)
end

---@return string what is shown: a line, or as many as 'cmdheight' has room for
local function that_fits(text)
  local lines = vim.split(text, '\n', { plain = true, trimempty = true })
  local shown = {}
  for index = 1, math.min(#lines, math.max(1, vim.o.cmdheight)) do
    -- In the command line's last line, 'showcmd' and 'ruler' have their place; the other lines are whole.
    shown[index] = M.cut(lines[index], M.columns())
  end
  return table.concat(shown, '\n')
end

--- Runs now, or as soon as the user does not type. A message in between would be drawn over, and a window would end
--- insert mode.
---@param run fun()
function M.when_normal(run)
  if api.nvim_get_mode().mode:sub(1, 1) == 'n' then
    return run()
  end
  api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n*',
    once = true,
    callback = function()
      vim.schedule(function()
        M.when_normal(run)
      end)
    end,
  })
end

-- How long no key may come before a window that takes keys opens, in milliseconds.
local IDLE_MS = 500

--- Runs as soon as the user has typed nothing for a moment, in normal mode.
---@param run fun()
function M.when_idle(run)
  local keys = api.nvim_create_namespace('')
  local timer = assert(vim.uv.new_timer())
  local function wait()
    timer:start(
      IDLE_MS,
      0,
      vim.schedule_wrap(function()
        if api.nvim_get_mode().mode ~= 'n' then
          return wait()
        end
        vim.on_key(nil, keys)
        timer:close()
        run()
      end)
    )
  end
  vim.on_key(wait, keys)
  wait()
end

-- Prints outside of the command that it is about: inside of one Neovim does not cut.
local function print(text, level)
  vim.schedule(function()
    M.when_normal(function()
      keep(text)
      vim.schedule(function()
        api.nvim_echo({ { that_fits(text), GROUPS[level] } }, false, {})
      end)
    end)
  end)
end

--- `1 step`, `2 steps`.
---@param count integer
---@param noun string one that takes an `s`
---@return string
function M.counted(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

--- Shows a message, unless a window that the user sees shows it: `answer`, `plan`. Text that the window holds out of
--- sight does not count.
---@param text string the first line is the short form; the hint follows it
---@param level? integer of `vim.log.levels`
---@param shown_in? string[] names of our buffers that hold it
---@param words? string what they hold of it, where that is not its first line
function M.say(text, level, shown_in, words)
  for _, name in ipairs(shown_in or {}) do
    if require('sextant.ui.scratch').in_sight(name, words or text:match('[^\n]*')) then
      return
    end
  end
  level = level or vim.log.levels.INFO
  text = 'Sextant: ' .. text
  -- Neovim's own function prints the whole text and then waits for a key; a user's function has a place for it.
  if neovim.is_own(vim.notify) then
    return print(text, level)
  end
  vim.notify(text, level)
end

return M
