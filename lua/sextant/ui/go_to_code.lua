--- Goes from a name in a window of Sextant's to the code: `FILE::SYMBOL`, `FILE:LINE`, `FILE`.
local M = {}
local api = vim.api

-- What may stand in a name, from its first character to its last.
local NAME = '[%w_%-%./#:]+'

-- The name under the cursor, without the punctuation around it.
---@return string?
local function under_cursor()
  local line, column = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2] + 1
  local from = 1
  while true do
    local first, last = line:find(NAME, from)
    if not first then
      return nil
    end
    if column >= first and column <= last then
      local name = line:sub(first, last):gsub('^[:%.#%-]+', ''):gsub('[:%.#%-]+$', '')
      return name ~= '' and name or nil
    end
    from = last + 1
  end
end

-- True if a name may be code: a word alone is not.
local function is_name(name)
  return name:find('::', 1, true) or name:find('[^/]%.%w+$') or name:find('%.%w+:%d+')
end

-- The first name of the line that may be code.
local function in_line()
  for name in api.nvim_get_current_line():gmatch(NAME) do
    name = name:gsub('^[:%.#%-]+', ''):gsub('[:%.#%-]+$', '')
    if is_name(name) then
      return name
    end
  end
end

-- Gets the next place. Without it, the code there is opened.
---@type fun(path: string)?
local wanted

--- Finds the file of a name.
---@param name string
---@param found fun(path: string) gets its full path
function M.find(name, found)
  wanted = found
  require('sextant.rpc.channel').send('locate', { name = name })
end

--- Opens the code that the name under the cursor means, or else the first name of the line.
function M.go()
  local name = under_cursor()
  name = name and is_name(name) and name or in_line() or name
  if not name then
    return require('sextant.ui.say').say('there is no name here')
  end
  wanted = nil
  require('sextant.rpc.channel').send('locate', { name = name })
end

--- A name's place, from the binary.
---@param event { root: string, path: string, line: integer, column: integer }
function M.arrive(event)
  local path, found = vim.fs.joinpath(event.root, event.path), wanted
  wanted = nil
  if found then
    return found(path)
  end
  require('sextant.ui.code').open(path, event.line, event.column)
end

return M
