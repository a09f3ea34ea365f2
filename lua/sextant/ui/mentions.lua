--- Completes `@name`, `@file` and `#code` in a request, and the target of a code block.
local M = {}
local api = vim.api

-- The lines of a file that are read, 10 ms at most as measured with Neovim 0.11.4, and the most words that are offered.
local LINES = 20000
local MOST = 200

-- The buffer that a request given now is about.
local function code()
  local buf = api.nvim_get_current_buf()
  if require('sextant.ui.scratch').is_ours(buf) then
    local last = require('sextant.ui.code').last()
    return last and last.buf or buf
  end
  return buf
end

---@param all table<string, true>
---@param lead string
---@param mark string what stands before each
---@return string[]
local function starting(all, lead, mark)
  local found = {}
  for word in pairs(all) do
    if vim.startswith(word, lead) and word ~= lead then
      found[#found + 1] = mark .. word
    end
  end
  table.sort(found)
  return vim.list_slice(found, 1, MOST)
end

-- The first words of a file that begin so: the search ends early, and a line without them is not split.
local function words(buf, lead)
  local all, count = {}, 0
  for _, line in ipairs(api.nvim_buf_get_lines(buf, 0, LINES, false)) do
    for word in (line:find(lead, 1, true) and line or ''):gmatch('[%a_][%w_]+') do
      if not all[word] and vim.startswith(word, lead) then
        all[word], count = true, count + 1
      end
    end
    if count >= MOST then
      break
    end
  end
  return all
end

local function files(lead)
  local all = {}
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    local path = vim.fn.fnamemodify(info.name, ':.')
    if info.name ~= '' and vim.bo[info.bufnr].buftype == '' and not vim.startswith(path, '/') then
      all[path] = true
    end
  end
  if lead:find('/', 1, true) then
    for _, path in ipairs(vim.fn.getcompletion(lead, 'file')) do
      all[path] = true
    end
  end
  return all
end

local function codes(buf)
  local all = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buf)) do
    if diagnostic.code then
      all[tostring(diagnostic.code)] = true
    end
  end
  return all
end

-- The symbols of the file that a target was found in last, as the engine names them.
---@type string[]
local symbols = {}

---@param names string[]
function M.know(names)
  symbols = names
end

--- Completes `FILE::SYMBOL`: the symbols that the engine has named, then files and words of the code.
---@param lead string
---@return string[]
function M.targets(lead)
  local found = vim.tbl_filter(function(symbol)
    return vim.startswith(symbol, lead) and symbol ~= lead
  end, symbols)
  local file, name = lead:match('^(.*::)([%w_]*)$')
  local more = file and starting(words(code(), name), name, file) or starting(files(lead), lead, '')
  for _, target in ipairs(more) do
    if not vim.tbl_contains(found, target) then
      found[#found + 1] = target
    end
  end
  return found
end

---@param lead string the word before the cursor
---@return string[]
function M.complete(lead)
  local mark, rest = lead:match('^([@#])(.*)$')
  if mark == '#' then
    return starting(codes(code()), rest, mark)
  elseif mark ~= '@' then
    return {}
  end
  -- `@Cart.tot`: the name behind the last dot.
  local before, name = rest:match('^([%w_.]*%.)([%w_]*)$')
  name = name or rest
  local found = starting(words(code(), name), name, mark .. (before or ''))
  return vim.list_extend(found, starting(files(rest), rest, mark))
end

return M
