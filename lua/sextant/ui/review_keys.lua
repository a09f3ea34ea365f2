--- Maps the keys of a review in the buffers under review, and gives the user's own keys back after it.
local neovim = require('sextant.neovim')

local M = {}
local api = vim.api

---@class sextant.ReviewKey
---@field lhs string
---@field modes string[]
---@field run fun()
---@field desc string

---@type table<integer, { mode: string, map: table }[]> the user's keys of each buffer
local kept = {}
---@type table<integer, sextant.ReviewKey[]>
local mapped = {}

---@param buf integer
---@param keys sextant.ReviewKey[]
function M.map(buf, keys)
  if mapped[buf] then
    return
  end
  mapped[buf], kept[buf] = keys, {}
  api.nvim_buf_call(buf, function()
    for _, key in ipairs(keys) do
      for _, mode in ipairs(key.modes) do
        local own = vim.fn.maparg(key.lhs, mode, false, true)
        if own.buffer == 1 then
          table.insert(kept[buf], { mode = mode, map = own })
        end
        vim.keymap.set(mode, key.lhs, key.run, neovim.in_buffer(buf, { nowait = true, desc = key.desc }))
      end
    end
  end)
end

---@param buf integer
function M.unmap(buf)
  local keys, own = mapped[buf], kept[buf]
  mapped[buf], kept[buf] = nil, nil
  if not keys or not api.nvim_buf_is_valid(buf) then
    return
  end
  api.nvim_buf_call(buf, function()
    for _, key in ipairs(keys) do
      for _, mode in ipairs(key.modes) do
        pcall(vim.keymap.del, mode, key.lhs, neovim.in_buffer(buf, {}))
      end
    end
    for _, one in ipairs(own) do
      vim.fn.mapset(one.mode, false, one.map)
    end
  end)
end

--- The buffers that have the keys.
---@return integer[]
function M.buffers()
  return vim.tbl_keys(mapped)
end

return M
