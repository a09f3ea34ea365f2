--- Breaks a text into rows of a width, for text that Neovim does not wrap by itself.
local M = {}
local api = vim.api

-- The characters of a text that fill one row.
---@param text string
---@param width integer
---@return integer
local function fitting(text, width)
  local kept = math.min(vim.fn.strcharlen(text), width)
  while kept > 1 and api.nvim_strwidth(vim.fn.strcharpart(text, 0, kept)) > width do
    kept = kept - 1
  end
  return kept
end

--- The rows of a text that is broken between words, and in a word that fills a row. A window breaks at some other
--- characters too, and takes no more rows than these.
---@param text string
---@param width integer
---@return string[]
function M.rows(text, width)
  local rows, row = {}, ''
  for word in text:gmatch('%S+') do
    local longer = row == '' and word or (row .. ' ' .. word)
    if row ~= '' and api.nvim_strwidth(longer) > width then
      rows[#rows + 1] = row
      longer = word
    end
    while api.nvim_strwidth(longer) > width do
      local kept = fitting(longer, width)
      rows[#rows + 1] = vim.fn.strcharpart(longer, 0, kept)
      longer = vim.fn.strcharpart(longer, kept)
    end
    row = longer
  end
  rows[#rows + 1] = row
  return rows
end

return M
