--- Finds the changes under review: those of a file, the one at a line, the next one, those that a decision is about.
local M = {}
local api = vim.api

---@class sextant.Review
---@field root string
---@field files sextant.ReviewedFile[]
---@field reviewed integer
---@field total integer
---@field rejected integer rejections that can be had back
---@field undone integer edits of the agent that can be redone
---@field notes table[]
---@field summary string

---@class sextant.ReviewedFile
---@field path string
---@field made boolean
---@field hunks sextant.Hunk[]

---@param review sextant.Review
---@param file { path: string }
---@return string
function M.path_of(review, file)
  return vim.fs.joinpath(review.root, file.path)
end

---@param review sextant.Review
---@param file { path: string }
---@return integer? buf where it is loaded
function M.buffer_of(review, file)
  return require('sextant.edit.buffers').find(vim.fs.normalize(M.path_of(review, file)))
end

--- The file of the current buffer under review.
---@param review? sextant.Review
---@return sextant.ReviewedFile?
function M.here(review)
  local name = vim.fs.normalize(api.nvim_buf_get_name(0))
  local target = vim.uv.fs_realpath(name)
  for _, file in ipairs(review and review.files or {}) do
    local path = vim.fs.normalize(M.path_of(review, file))
    if path == name or path == target then
      return file
    end
  end
end

--- The way to the changes: their keys work in the files under review alone.
---@param review sextant.Review
---@return string
function M.way(review)
  if M.here(review) or not review.files[1] then
    return '`g?` in the code shows the keys'
  end
  return ':AgentReview goes to ' .. vim.fs.basename(review.files[1].path)
end

--- The hunk that a line of the current buffer is in; of a removal, the line behind it.
---@param review? sextant.Review
---@param line? integer from 0; that of the cursor without it
---@return sextant.Hunk?
function M.hunk_at(review, line)
  local file = M.here(review)
  line = line or api.nvim_win_get_cursor(0)[1] - 1
  for _, hunk in ipairs(file and file.hunks or {}) do
    local count = api.nvim_buf_line_count(0)
    if line >= math.min(hunk.line, count - 1) and line < hunk.line + math.max(hunk.count, 1) then
      return hunk
    end
  end
end

---@class sextant.ReviewPlace
---@field file sextant.ReviewedFile
---@field hunk sextant.Hunk

-- Every hunk with its file, in order.
---@param review? sextant.Review
---@return sextant.ReviewPlace[]
local function all(review)
  local found = {}
  for _, file in ipairs(review and review.files or {}) do
    for _, hunk in ipairs(file.hunks) do
      found[#found + 1] = { file = file, hunk = hunk }
    end
  end
  return found
end

-- The hunk beyond the cursor in its own file.
---@param list sextant.ReviewPlace[]
---@param own sextant.ReviewedFile
---@param step 1|-1
---@return sextant.ReviewPlace?
local function beyond(list, own, step)
  local line = api.nvim_win_get_cursor(0)[1] - 1
  for index = step > 0 and 1 or #list, step > 0 and #list or 1, step do
    local one = list[index]
    local is_beyond = step > 0 and one.hunk.line > line or step < 0 and one.hunk.line < line
    if one.file == own and is_beyond then
      return one
    end
  end
end

--- The next or previous hunk from the cursor, over files and around the end.
---@param review? sextant.Review
---@param step 1|-1
---@return sextant.ReviewPlace?
function M.next(review, step)
  local list, own = all(review), M.here(review)
  local target = own and beyond(list, own, step)
  if own and not target then
    local edge = 0
    for index, one in ipairs(list) do
      if one.file == own and (edge == 0 or step > 0) then
        edge = index
      end
    end
    target = list[(edge + step - 1) % #list + 1]
  end
  return target or list[step > 0 and 1 or #list]
end

--- The first hunk that waits again, after a decision was taken back.
---@param before sextant.Review
---@param now sextant.Review
---@return sextant.ReviewPlace?
function M.returned(before, now)
  if now.reviewed >= before.reviewed then
    return nil
  end
  local known = {}
  for _, one in ipairs(all(before)) do
    known[one.file.path .. '\0' .. one.hunk.id] = true
  end
  return vim.iter(all(now)):find(function(one)
    return not known[one.file.path .. '\0' .. one.hunk.id]
  end)
end

---@param review? sextant.Review
---@param lines? integer[] first and last line of the chosen part, from 0
---@return sextant.Hunk?
local function chosen(review, lines)
  return M.hunk_at(review, lines and lines[1]) or lines and M.hunk_at(review, lines[2]) or nil
end

--- True if the lines of the hunk that a decision made now is about were edited since.
---@param review? sextant.Review
---@param lines? integer[]
---@return boolean
function M.conflicts(review, lines)
  local hunk = chosen(review, lines)
  return hunk ~= nil and hunk.conflict
end

--- The part of a review that a decision made now is about.
---@param review? sextant.Review
---@param scope 'hunk'|'symbol'|'file'|'all'
---@param lines? integer[] first and last line of the chosen part, from 0
---@return table|'all'|nil part, string? problem the reason without a part
function M.part(review, scope, lines)
  if scope == 'all' then
    return 'all'
  end
  local file = M.here(review)
  if not file then
    return nil, 'no change of this file waits for review'
  elseif scope == 'file' then
    return { file = file.path }
  end
  local hunk = chosen(review, lines)
  if not hunk then
    return nil, 'there is no change here; `]h` goes to the next one'
  elseif scope == 'symbol' then
    return { symbol = { path = file.path, symbol = hunk.symbol } }
  end
  local part = nil
  if lines and hunk.count > 0 then
    part = { start = math.max(lines[1] - hunk.line, 0), ['end'] = math.min(lines[2] - hunk.line, hunk.count - 1) + 1 }
  end
  return { hunk = { path = file.path, id = hunk.id, lines = part } }
end

return M
