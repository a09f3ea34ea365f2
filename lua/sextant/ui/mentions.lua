--- Completes `@name` (a symbol), `@file` and `#code` in a request, and the target of a code block.
local M = {}
local api = vim.api

-- The most names that are offered.
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

-- The names of the symbols of a file, as a request gives them: `total`, `Cart.total`. The number of a second one of the
-- same name is not a part of it.
---@param buf integer
---@return table<string, true>
local function names(buf)
  local all, path = {}, api.nvim_buf_get_name(buf)
  for _, symbol in ipairs(path ~= '' and require('sextant.outline').of_file(path) or {}) do
    local name = symbol.name:gsub('#%d+', ''):gsub('::', '.')
    if not name:find('%s') then
      all[name] = true
      all[name:match('[^.]+$') or name] = true
    end
  end
  return all
end

---@class sextant.StartingNames
---@field lead string
---@field names string[]
---@field is_cut boolean
---@field at integer milliseconds

-- The names of the workspace that were found last: the next key narrows them.
---@type sextant.StartingNames?
local found_last
-- Milliseconds after which they are looked up again.
local FRESH_MS = 3000

-- The names of symbols in the files of the workspace, in any buffer or in none.
---@param buf integer
---@param lead string
---@return table<string, true>
local function workspace_names(buf, lead)
  local last = found_last
  local narrows = last and vim.startswith(lead, last.lead) and (not last.is_cut or lead == last.lead)
  if lead ~= '' and not (last and narrows and vim.uv.now() - last.at < FRESH_MS) then
    local place = { path = api.nvim_buf_get_name(buf), buftype = vim.bo[buf].buftype }
    local answer = require('sextant.rpc.inquiry').answer('names_starting', { lead = lead, place = place })
    last = answer and { lead = lead, names = answer.names, is_cut = answer.is_cut, at = vim.uv.now() }
    found_last = last
  end
  local all = {}
  for _, name in ipairs(lead ~= '' and last and last.names or {}) do
    all[name] = true
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

--- Completes `FILE::SYMBOL`: the symbols that the engine has named, then those of the file, and files.
---@param lead string
---@return string[]
function M.targets(lead)
  local found = vim.tbl_filter(function(symbol)
    return vim.startswith(symbol, lead) and symbol ~= lead
  end, symbols)
  local file, all = lead:match('^(.-)::'), {}
  for _, symbol in ipairs(file and require('sextant.outline').of_file(vim.fn.fnamemodify(file, ':p')) or {}) do
    all[('%s::%s'):format(file, symbol.name)] = true
  end
  for _, target in ipairs(starting(file and all or files(lead), lead, '')) do
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
  local buf = code()
  local own = names(buf)
  local others = workspace_names(buf, rest)
  for name in pairs(own) do
    others[name] = nil
  end
  local found = vim.list_extend(starting(own, rest, mark), starting(others, rest, mark))
  return vim.list_extend(vim.list_slice(found, 1, MOST), starting(files(rest), rest, mark))
end

return M
