--- Borrows keys of the user's buffers while a review or a diff is open, and gives the user's own mappings back.
local neovim = require('sextant.neovim')

local M = {}
local api = vim.api

---@class sextant.BorrowedKey
---@field lhs string
---@field modes string[]
---@field run fun()
---@field desc string

---@type table<integer, fun()> what gives the user's keys of a buffer back
local mapped = {}

--- Maps keys in a buffer.
---@param buf integer
---@param keys sextant.BorrowedKey[]
---@return fun() restore takes them away and gives the user's own keys back
function M.borrow(buf, keys)
  local kept = {}
  local function each(run)
    for _, key in ipairs(keys) do
      for _, mode in ipairs(key.modes) do
        run(mode, key)
      end
    end
  end
  api.nvim_buf_call(buf, function()
    each(function(mode, key)
      local own = vim.fn.maparg(key.lhs, mode, false, true)
      if own.buffer == 1 then
        kept[#kept + 1] = { mode = mode, map = own }
      end
      vim.keymap.set(mode, key.lhs, key.run, neovim.in_buffer(buf, { nowait = true, desc = key.desc }))
    end)
  end)
  return function()
    if not api.nvim_buf_is_valid(buf) then
      return
    end
    api.nvim_buf_call(buf, function()
      each(function(mode, key)
        pcall(vim.keymap.del, mode, key.lhs, neovim.in_buffer(buf, {}))
      end)
      for _, one in ipairs(kept) do
        vim.fn.mapset(one.mode, false, one.map)
      end
    end)
  end
end

---@param buf integer
---@param keys sextant.BorrowedKey[]
function M.map(buf, keys)
  mapped[buf] = mapped[buf] or M.borrow(buf, keys)
end

---@param buf integer
function M.unmap(buf)
  local restore = mapped[buf]
  mapped[buf] = nil
  if restore then
    restore()
  end
end

--- The buffers that have the keys.
---@return integer[]
function M.buffers()
  return vim.tbl_keys(mapped)
end

return M
