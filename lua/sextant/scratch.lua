--- The buffers that our windows show: what all of them have in common.
local M = {}
local api = vim.api

--- The buffer of this name, made where it is not there. The second answer says whether it was.
---@param name string after `sextant://`
---@param bufhidden 'hide'|'wipe' whether its text outlives its window
---@return integer buf, boolean made
function M.buffer(name, bufhidden)
  local full = 'sextant://' .. name
  local known = vim.fn.bufnr(full)
  -- Without an exact match `bufnr()` takes any name that holds it.
  if known ~= -1 and api.nvim_buf_is_loaded(known) and api.nvim_buf_get_name(known) == full then
    return known, false
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = bufhidden
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_name(buf, full)
  vim.bo[buf].filetype = 'markdown'
  vim.bo[buf].modifiable = false
  M.map(buf, 'q', '<Cmd>close<CR>', 'Close the window')
  return buf, true
end

function M.map(buf, lhs, run, desc)
  vim.keymap.set('n', lhs, run, { buffer = buf, nowait = true, desc = desc })
end

--- Changes a text that the user may not.
---@param change fun(buf: integer)
function M.write(buf, change)
  vim.bo[buf].modifiable = true
  change(buf)
  vim.bo[buf].modifiable = false
end

---@param lines string[]
function M.set(buf, lines)
  M.write(buf, function()
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  end)
end

return M
