--- Breaks a text into rows of a width, between words alone: a path or a command in backticks stays whole where it fits.
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

-- The last byte of the word that begins at a byte. A code span is a part of one word, with its spaces.
---@param text string
---@param from integer
---@param width integer the most bytes of a span that stays whole
---@return integer
local function word_end(text, from, width)
  local at = from
  while at <= #text do
    local stop = assert(text:find('[%s`]', at) or #text + 1)
    if text:sub(stop, stop) ~= '`' then
      return stop - 1
    end
    local close = text:find('`', stop + 1, true)
    at = close and close - from < width and close + 1 or stop + 1
  end
  return #text
end

--- The words of a text with the byte that each begins at.
---@param text string
---@param width integer of a row
---@return fun(): integer?, string?
function M.words(text, width)
  local at = 1
  return function()
    local from = text:find('%S', at)
    if from then
      local last = word_end(text, from, width)
      if api.nvim_strwidth(text:sub(from, last)) > width then
        last = assert(text:find('%s', from) or #text + 1) - 1
      end
      at = last + 1
      return from, text:sub(from, last)
    end
  end
end

--- The rows of a text that is broken between words, and in a word that fills a row. A window takes no more rows.
---@param text string
---@param width integer
---@return string[]
function M.rows(text, width)
  local rows, row = {}, ''
  for _, word in M.words(text, width) do
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

-- A row without its last word; one word loses its last character.
---@param row string
---@param width integer
---@return string
local function shortened(row, width)
  local first, last
  for from in M.words(row, width) do
    first, last = first or from, from
  end
  if first == last then
    return vim.fn.strcharpart(row, 0, vim.fn.strcharlen(row) - 1)
  end
  return (row:sub(1, last - 1):gsub('%s+$', ''))
end

--- The first rows of a text. A mark behind the last word stands for the rest.
---@param text string
---@param width integer
---@param most integer
---@param mark? string
---@return string[]
function M.first_rows(text, width, most, mark)
  local rows, behind = M.rows(text, width), ' ' .. (mark or '…')
  if #rows <= most then
    return rows
  end
  local last = rows[most]
  while api.nvim_strwidth(last .. behind) > width do
    local shorter = shortened(last, width)
    if shorter == '' then
      break
    end
    last = shorter
  end
  rows = vim.list_slice(rows, 1, most)
  rows[most] = last .. behind
  return rows
end

return M
