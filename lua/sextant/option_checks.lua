--- Checks the options that a user gives, and names their faults.
local nearest = require('sextant.nearest_name')

local M = {}

local LUA_TYPES = { boolean = 'boolean', integer = 'number', number = 'number', string = 'string' }

-- A value in a message, in one short line.
local function shown(value)
  return (vim.inspect(value, { newline = ' ', indent = '' }):gsub('^(' .. ('.'):rep(40) .. ').+$', '%1…'))
end

---@param row sextant.Option
---@param problems string[]
local function check_value(row, value, problems)
  local wanted = LUA_TYPES[row.type] or 'table'
  local must
  if type(value) ~= wanted then
    must = row.choices and ('one of ' .. table.concat(row.choices, ', ')) or ('a ' .. wanted)
  elseif row.choices and not vim.list_contains(row.choices, value) then
    must = ('one of %s%s'):format(table.concat(row.choices, ', '), nearest.hint(value, row.choices))
  elseif wanted == 'number' and (value < 0 or row.type == 'integer' and value % 1 ~= 0) then
    must = row.type == 'integer' and 'a whole number, 0 at least' or 'a number, 0 at least'
  end
  if must then
    problems[#problems + 1] = ('option `%s` is %s and must be %s'):format(row.name, shown(value), must)
  end
end

-- The names that a name at this place may be meant for: those beside it, and every option.
---@return string[]
local function names(defaults, path, by_name)
  local known = vim.tbl_map(function(key)
    return path .. key
  end, vim.tbl_keys(defaults))
  vim.list_extend(known, vim.tbl_keys(by_name))
  table.sort(known)
  return known
end

local function check(given, defaults, path, by_name, problems)
  for key, value in pairs(given) do
    local name = path .. tostring(key)
    local row, section = by_name[name], type(defaults[key]) == 'table'
    if row then
      check_value(row, value, problems)
    elseif not section then
      problems[#problems + 1] = ('unknown option `%s`%s'):format(
        name,
        nearest.hint(name, names(defaults, path, by_name))
      )
    elseif type(value) ~= 'table' then
      problems[#problems + 1] = ('option `%s` is %s and must be a table'):format(name, shown(value))
    else
      check(value, defaults[key], name .. '.', by_name, problems)
    end
  end
end

-- A list in which each entry is a name or a table; the binary checks the contents of a table.
local function check_commands(given, problems)
  if not vim.islist(given) then
    problems[#problems + 1] = 'option `commands` must be a list'
    return
  end
  for i, command in ipairs(given) do
    if type(command) ~= 'string' and type(command) ~= 'table' then
      problems[#problems + 1] = ('option `commands[%d]` must be a name or a table'):format(i)
    end
  end
end

--- Adds the faults of the given options, in the order of their words.
---@param given table
---@param defaults table
---@param by_name table<string, sextant.Option>
---@param problems string[]
function M.check(given, defaults, by_name, problems)
  check(given, defaults, '', by_name, problems)
  if type(given.commands) == 'table' then
    check_commands(given.commands, problems)
  end
  table.sort(problems)
end

return M
