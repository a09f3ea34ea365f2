--- Finds the known name that a misspelt one is nearest to.
local M = {}

-- The number of letters that one has to change to make a name another one. Two that changed places count once.
---@param one string
---@param other string
---@return integer
local function distance(one, other)
  local rows = { {} }
  for column = 0, #other do
    rows[1][column] = column
  end
  for row = 1, #one do
    local now, last = { [0] = row }, rows[row]
    for column = 1, #other do
      local same = one:byte(row) == other:byte(column)
      now[column] = math.min(last[column] + 1, now[column - 1] + 1, last[column - 1] + (same and 0 or 1))
      local swapped = one:byte(row) == other:byte(column - 1) and one:byte(row - 1) == other:byte(column)
      if row > 1 and column > 1 and swapped then
        now[column] = math.min(now[column], rows[row - 1][column - 2] + 1)
      end
    end
    rows[row + 1] = now
  end
  return rows[#one + 1][#other]
end

-- The letters of a name in their order.
---@param name string
---@return string
local function sorted(name)
  local letters = vim.split(name:lower(), '')
  table.sort(letters)
  return table.concat(letters)
end

-- A name with more of its letters changed is another name.
local MOST = 1 / 3

--- The nearest of the known names: one with the same last part, or with few other letters; nil if none is near.
---@param name string
---@param known string[]
---@return string?
function M.of(name, known)
  local nearest, least = nil, math.max(1, math.floor(#name * MOST)) + 1
  for _, one in ipairs(known) do
    if vim.endswith(one, '.' .. name) then
      return one
    end
    local far = distance(name:lower(), one:lower())
    -- Of two that are as near, the one of the same letters has two of them swapped.
    local is_alike = far == least and nearest and sorted(one) == sorted(name)
    if far < least or is_alike then
      nearest, least = one, far
    end
  end
  return nearest
end

--- The same, as the end of a message.
---@param name string
---@param known string[]
---@return string
function M.hint(name, known)
  local nearest = M.of(name, known)
  return nearest and ('; did you mean `%s`?'):format(nearest) or ''
end

return M
