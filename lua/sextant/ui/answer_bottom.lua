--- Chooses the line of the answer that stands at the bottom of its window at rest.
local M = {}
local api = vim.api

--- The last line with a text, from this one upwards.
---@param buf integer
---@param line integer
---@return integer
function M.text_above(buf, line)
  while line > 1 and api.nvim_buf_get_lines(buf, line - 1, line, false)[1] == '' do
    line = line - 1
  end
  return line
end

--- All of the answer is above it where that fits, at least the words that a model said last; else the end of these
--- words is there, and no blank line.
---@param win integer
---@param at { heading: integer, words: integer, figures: integer } the lines of the last heading and the last words,
---and the number of lines at the end that may be out of sight
---@return integer
function M.line(win, at)
  local buf = api.nvim_win_get_buf(win)
  local count = api.nvim_buf_line_count(buf)
  local last = M.text_above(buf, count)
  local words = M.text_above(buf, math.max(1, last - at.figures))
  if words <= at.heading then
    words = last
  end
  local room = vim.fn.getwininfo(win)[1].height
  local first = math.min(math.max(at.words, at.heading + 1), words)
  for _, part in ipairs({ { at.heading, count }, { at.heading, last }, { first, last } }) do
    local rows = api.nvim_win_text_height(win, { start_row = part[1] - 1, end_row = part[2] - 1 }).all
    if rows <= room then
      return part[2]
    end
  end
  return words
end

return M
