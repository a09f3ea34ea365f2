--- Shows a message: one line that fits, whole in `:messages`, unless a visible window of Sextant's shows it.
local neovim = require('sextant.neovim')

local M = {}
local api = vim.api

--- The beginning of every message.
M.PREFIX = 'Sextant: '

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
  -- A text that was cut before has its mark already.
  return (vim.fn.strcharpart(text, 0, kept):gsub('…$', '')) .. '…'
end

-- The least cells that a shortened quotation keeps.
local QUOTED = 8

-- The parts that a line loses where it does not fit, the least important first. Its outcome and the reason stay.
---@type (fun(line: string, over: integer): string)[]
local SHORTER = {
  -- The lines of symbols.
  function(line)
    return (line:gsub('%f[%S](%S+) %(line %d+%)', '%1'))
  end,
  -- The folders of files, but for those of an address.
  function(line)
    return (
      line:gsub('%S+', function(word)
        return not word:find('://', 1, true) and word:gsub('[%w_%.%-/]*/([%w_%-]*%.[%w_%.%-]+)', '%1') or nil
      end)
    )
  end,
  -- The files and outer names of symbols.
  function(line)
    return (line:gsub('[%w_%.%-]+::', ''))
  end,
  -- The ends of quotations.
  function(line, over)
    return (
      line:gsub('“(.-)”', function(words)
        return ('“%s”'):format(M.cut(words, math.max(QUOTED, api.nvim_strwidth(words) - over)))
      end)
    )
  end,
}

-- A line with shorter names and quotations, as far as a width needs it.
---@param line string
---@param width integer
---@return string
local function shortened(line, width)
  for _, shorten in ipairs(SHORTER) do
    local over = api.nvim_strwidth(line) - width
    if over <= 0 then
      return line
    end
    line = shorten(line, over)
  end
  return line
end

-- A line in a width: names and quotations are shortened before its end is cut.
---@param line string
---@param width integer
---@return string
local function fit(line, width)
  return M.cut(shortened(line, width), width)
end

-- The marks before a way out: on a line of its own, and behind a message in the same line.
local OUT, BEHIND = '  → ', ' → '
-- The least cells of a message before its way out.
local FACT = 40

-- A message with its way out in one line: whole, or its last part, or the command that this part begins with. For a
-- command the end of the message gives way; without one the message is of more use.
---@param line string
---@param out string
---@param width integer
---@return string
local function with_way_out(line, out, width)
  local last = out:match('^.*; (.+)$') or out
  local command = last:match('^:%u[%w!]*')
  for _, way in ipairs({ out, last, command }) do
    local room = width - api.nvim_strwidth(BEHIND .. way)
    local message = shortened(line, room)
    if api.nvim_strwidth(message) <= room then
      return message .. BEHIND .. way
    end
  end
  local room = command and width - api.nvim_strwidth(BEHIND .. command) or 0
  return room >= FACT and fit(line, room) .. BEHIND .. command or fit(line, width)
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

---@param text string
---@param tail? string stays behind the first line, however short that becomes
---@return string what is shown: a line, or as many as 'cmdheight' has room for
local function that_fits(text, tail)
  local lines = vim.split(text, '\n', { plain = true, trimempty = true })
  local shown = {}
  for index = 1, math.min(#lines, math.max(1, vim.o.cmdheight)) do
    local behind = index == 1 and tail or ''
    -- In the command line's last line, 'showcmd' and 'ruler' have their place; the other lines are whole.
    local width = math.max(1, M.columns() - api.nvim_strwidth(behind))
    local next_line = index == vim.o.cmdheight and lines[index + 1] or ''
    local out = vim.startswith(next_line, OUT) and next_line:sub(#OUT + 1)
    shown[index] = (out and with_way_out(lines[index], out, width) or fit(lines[index], width)) .. behind
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
---@param text string whole, for `:messages`
---@param level integer
---@param short string the first lines of it, as they are shown
---@param tail? string
local function print(text, level, short, tail)
  vim.schedule(function()
    M.when_normal(function()
      keep(text .. (tail or ''))
      vim.schedule(function()
        api.nvim_echo({ { that_fits(short, tail), GROUPS[level] } }, false, {})
      end)
    end)
  end)
end

--- Puts a text that a window shows into `:messages`, and leaves nothing on the command line.
---@param text string
function M.note(text)
  vim.schedule(function()
    M.when_normal(function()
      keep(M.PREFIX .. text)
      vim.schedule(function()
        api.nvim_echo({ { '' } }, false, {})
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

---@class sextant.Saying
---@field words? string what the buffers hold of the text, where that is not its first line
---@field line? integer the line of the answer that it begins at: the same words above are of another text
---@field short? string what a narrow command line shows of it, where that is not its beginning
---@field tail? string the way on; it stays however narrow the command line is

--- Shows a message, unless a window that the user sees shows it: `answer`, `plan`. Text that the window holds out of
--- sight does not count.
---@param text string the first line is the short form; the hint follows it
---@param level? integer of `vim.log.levels`
---@param shown_in? string[] names of our buffers that hold it
---@param how? sextant.Saying
---@return boolean shown false if a window shows it
function M.say(text, level, shown_in, how)
  how = how or {}
  for _, name in ipairs(shown_in or {}) do
    local from = name == 'answer' and how.line or nil
    if require('sextant.ui.scratch').in_sight(name, how.words or text:match('[^\n]*'), from) then
      return false
    end
  end
  level = level or vim.log.levels.INFO
  -- Neovim's own function prints the whole text and then waits for a key; a user's function has a place for it.
  if neovim.is_own(vim.notify) then
    print(M.PREFIX .. text, level, M.PREFIX .. (how.short or text), how.tail)
  else
    vim.notify(M.PREFIX .. text .. (how.tail or ''), level)
  end
  return true
end

return M
