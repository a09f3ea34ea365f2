--- Knows the symbols of files, as the binary names them, with their lines.
local inquiry = require('sextant.rpc.inquiry')

local M = {}
local api = vim.api

---@class sextant.OutlinedSymbol
---@field name string `Cart::total`
---@field first integer its first line, from 1
---@field last integer

-- The symbols of buffers, each as of a state of the text: a completion asks at every key.
---@type table<integer, { tick: integer, symbols: sextant.OutlinedSymbol[] }>
local known = {}

--- Asks for the symbols of files.
---@param paths string[] absolute, or in the workspace
---@param root? string the workspace, else that of the last command
---@param done fun(files: table<string, sextant.OutlinedSymbol[]>) gets them by these paths
function M.ask(paths, root, done)
  inquiry.ask('outlines', { paths = paths, root = root }, done)
end

---@param path string
---@return sextant.OutlinedSymbol[]
local function asked(path)
  local place = { path = path, buftype = '' }
  local files = inquiry.answer('outlines', { paths = { path }, place = place })
  return files and files[path] or {}
end

--- The symbols of a file, at once.
---@param path string absolute
---@return sextant.OutlinedSymbol[]
function M.of_file(path)
  local buf = vim.fn.bufnr(path)
  if buf == -1 or not api.nvim_buf_is_loaded(buf) then
    return asked(path)
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  local found = known[buf]
  if not found or found.tick ~= tick then
    local symbols = asked(path)
    -- Nothing came in time: the next key asks again.
    if #symbols == 0 then
      return symbols
    end
    found = { tick = tick, symbols = symbols }
    known[buf] = found
  end
  return found.symbols
end

return M
