--- Shortens the reason of a plan and the result of its run where they leave the steps no room in the window.
local wrap = require('sextant.ui.wrapped_text').rows

local M = {}

-- The rows that a shortened text takes, and the mark at its end: the key shows all of it.
local ROWS, MORE = 2, ' … <Tab>'
-- A window with fewer rows has none for a reason.
local LOW = 6

-- The rows of a text in which the details of the steps are folded: a folded line takes one.
---@param lines string[]
---@param width integer
---@return integer
local function count(lines, width)
  local rows = 0
  for _, line in ipairs(lines) do
    if line:find('^%- %[.%] ') then
      rows = rows + 1
    elseif not line:find('^%s') then
      rows = rows + #wrap(line, width)
    end
  end
  return rows
end

-- The first and last line of the reason: what stands between the title and the first step.
---@param lines string[]
---@return { title: integer, first: integer, last: integer, step: integer }?
local function place(lines)
  local step
  for at, line in ipairs(lines) do
    if line:find('^%- %[.%] ') then
      step = at
      break
    end
  end
  local last = (step or 1) - 1
  while last > 0 and vim.trim(lines[last]) == '' do
    last = last - 1
  end
  local title = last
  while title > 0 and not lines[title]:find('^# ') do
    title = title - 1
  end
  local first = title + 1
  while first <= last and vim.trim(lines[first]) == '' do
    first = first + 1
  end
  if step and title > 0 and first <= last then
    return { title = title, first = first, last = last, step = step }
  end
end

-- A text in two rows.
---@param rows string[] those of the whole one
---@param width integer
---@return string
local function cut(rows, width)
  if #rows <= ROWS then
    return table.concat(rows, ' ')
  end
  local kept = table.concat(rows, ' ', 1, ROWS)
  while #wrap(kept .. MORE, width) > ROWS do
    kept = vim.fn.strcharpart(kept, 0, vim.fn.strcharlen(kept) - 1)
  end
  -- A part of a word would read as another word. Some languages put no spaces between words.
  local part = kept:match('%s%S*$')
  if part and #part < width / 2 then
    kept = kept:sub(1, #kept - #part)
  end
  return kept .. MORE
end

--- The result of a run, in two rows if the lines with it leave the steps no room.
---@param note string
---@param lines string[] with the whole one
---@param width integer columns of the window
---@param room integer the most rows that it has
---@return string
function M.note(note, lines, width, room)
  return count(lines, width - 1) <= room and note or cut(wrap(note, width - 1), width - 1)
end

--- The lines of the window, with a reason of two rows if the whole one leaves the steps no room. It gives way to a
--- result or a question above the title, and to the steps in a low window.
---@param lines string[]
---@param width integer columns of the window
---@param room integer the most rows that it has
---@return string[]
function M.shorten(lines, width, room)
  local at = place(lines)
  -- A row keeps a cell for the space behind a word.
  width = width - 1
  if not at or count(lines, width) <= room then
    return lines
  end
  local shown = vim.list_slice(lines, 1, at.first - 1)
  shown[#shown + 1] = cut(wrap(table.concat(lines, ' ', at.first, at.last), width), width)
  vim.list_extend(shown, vim.list_slice(lines, at.last + 1))
  local is_low = room < LOW
  if (at.title > 1 or is_low) and count(shown, width) > room then
    shown = vim.list_slice(lines, 1, is_low and at.title or at.first - 1)
    vim.list_extend(shown, vim.list_slice(lines, at.step))
  end
  return shown
end

return M
