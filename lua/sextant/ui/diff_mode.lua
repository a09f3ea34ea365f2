--- Opens a file of the diff page in Neovim's diff mode: its text before the task beside the file.
local keys = require('sextant.ui.borrowed_keys')
local neovim = require('sextant.neovim')
local scratch = require('sextant.ui.scratch')
local say = require('sextant.ui.say').say

local M = {}
local api = vim.api

---@class sextant.DiffBlock lines that stay, or a change of lines
---@field before string[]
---@field after string[]
---@field stays boolean

---@class sextant.DiffHunk
---@field first integer the line that it begins at in the text after the task, from 1
---@field count integer its lines there
---@field blocks sextant.DiffBlock[]

---@class sextant.DiffPlace a change of a line in the diff of a file
---@field hunk integer its number
---@field offset integer the lines of the hunk before it, as they are after the task
---@field row integer its row of the page

-- A removed and an added line may look like the first two lines of a heading.
local function is_heading(lines, row)
  local function begins(offset, words)
    return vim.startswith(lines[row + offset] or '', words)
  end
  return begins(0, '--- ') and begins(1, '+++ ') and begins(2, '@@ ')
end

-- The path of the file whose diff holds a row, and the row behind its heading.
---@return string? path, integer row
local function file_at(lines, row)
  while row >= 1 and not is_heading(lines, row) do
    row = row - 1
  end
  if row >= 1 then
    return lines[row + 1]:match('^%+%+%+ b/(.*)$'), row + 2
  end
  return nil, row
end

-- The place in the hunks of a file that a row of the page stands for: the row itself, or the first change behind it
-- and, where none is, the one before it.
---@param lines string[]
---@param first integer the row behind the file's heading
---@param row integer
---@return sextant.DiffPlace
local function place_at(lines, first, row)
  local hunk, offset = 0, 0
  ---@type sextant.DiffPlace?
  local found = nil
  local at = first
  while lines[at] and not is_heading(lines, at) do
    local mark = lines[at]:sub(1, 1)
    if lines[at]:find('^@@ ') then
      hunk, offset = hunk + 1, 0
    elseif hunk > 0 then
      local is_change = mark == '+' or mark == '-'
      if is_change and (not found or found.row < row) then
        found = { hunk = hunk, offset = offset, row = at }
      end
      offset = offset + (mark == '-' and 0 or 1)
    end
    at = at + 1
  end
  return found or { hunk = 1, offset = 0, row = row }
end

-- Adds a line of a hunk to its last block, or to a new one.
---@param hunk sextant.DiffHunk
---@param line string with its mark
local function add_line(hunk, line)
  local mark, text = line:sub(1, 1), line:sub(2)
  if not vim.list_contains({ '-', '+', ' ' }, mark) then
    return
  end
  local block = hunk.blocks[#hunk.blocks]
  if not block or block.stays ~= (mark == ' ') then
    block = { before = {}, after = {}, stays = mark == ' ' }
    table.insert(hunk.blocks, block)
  end
  if mark ~= '+' then
    table.insert(block.before, text)
  end
  if mark ~= '-' then
    hunk.count = hunk.count + 1
    table.insert(block.after, text)
  end
end

---@return sextant.DiffHunk[]
local function hunks_from(lines, row)
  local hunks = {}
  while lines[row] and not is_heading(lines, row) do
    local first, count = lines[row]:match('^@@ %-%S+ %+(%d+),?(%d*) @@')
    if first then
      -- A hunk without lines names the line before it.
      hunks[#hunks + 1] = { first = tonumber(first) + (count == '0' and 1 or 0), count = 0, blocks = {} }
    elseif #hunks > 0 then
      add_line(hunks[#hunks], lines[row])
    end
    row = row + 1
  end
  return hunks
end

-- The place behind the blocks in a text, where each change stands or was rejected since; nil where it is neither.
---@param lines string[]
---@param blocks sextant.DiffBlock[]
---@param index integer of the first block
---@param at integer its line
---@return integer?
local function behind(lines, blocks, index, at)
  local block = blocks[index]
  if not block then
    return at
  end
  for _, side in ipairs({ block.after, block.before }) do
    if vim.deep_equal(vim.list_slice(lines, at, at + #side - 1), side) then
      local found = behind(lines, blocks, index + 1, at + #side)
      if found then
        return found
      end
    end
    if block.stays then
      break
    end
  end
end

-- The lines before the hunks, and the lines that the hunks begin at now; nil where the text is another one by now. A
-- hunk that a review has rejected is no longer in the text, and moves those below.
---@param lines string[]
---@param hunks sextant.DiffHunk[]
---@return string[]?, integer[]
local function lines_before(lines, hunks)
  local out, starts, next_line, moved = {}, {}, 1, 0
  for _, hunk in ipairs(hunks) do
    local first = hunk.first + moved
    local ending = behind(lines, hunk.blocks, 1, first)
    if not ending then
      return nil, {}
    end
    starts[#starts + 1] = first
    vim.list_extend(out, lines, next_line, first - 1)
    for _, block in ipairs(hunk.blocks) do
      vim.list_extend(out, block.before)
    end
    moved = moved + (ending - first) - hunk.count
    next_line = ending
  end
  return vim.list_extend(out, lines, next_line), starts
end

-- A buffer with the text before, coloured like the file. Without a file type: servers and settings are not for it.
local function buffer_before(path, lines, like)
  local buf = scratch.buffer('before/' .. path, 'wipe')
  scratch.plain(buf)
  scratch.set(buf, lines)
  vim.bo[buf].syntax = vim.bo[like].filetype
  scratch.map(buf, 'q', '<Cmd>tabclose<CR>', 'Close the tab')
  return buf
end

-- In a macro, `q` ends the recording.
local function close_tab()
  if vim.fn.reg_recording() ~= '' then
    return api.nvim_feedkeys('q', 'n', false)
  end
  vim.cmd('tabclose')
end

-- Maps `q` in the user's buffer too, while the tab with the text before is the current one.
---@param code integer
---@param before integer
local function close_from_code(code, before)
  local tab = api.nvim_get_current_tabpage()
  local group = api.nvim_create_augroup('sextant_diff_' .. tab, {})
  local key = { lhs = 'q', modes = { 'n' }, run = close_tab, desc = 'Close the tab' }
  ---@type fun()?
  local restore = nil
  local function enter()
    if api.nvim_get_current_tabpage() == tab and not restore and api.nvim_buf_is_valid(code) then
      restore = keys.borrow(code, { key })
    end
  end
  local function leave()
    if restore then
      restore()
    end
    restore = nil
  end
  api.nvim_create_autocmd('TabEnter', { group = group, callback = enter })
  api.nvim_create_autocmd('TabLeave', { group = group, callback = leave })
  local function wiped()
    leave()
    -- An autocommand cannot remove its own group.
    vim.schedule(function()
      pcall(api.nvim_del_augroup_by_id, group)
    end)
  end
  api.nvim_create_autocmd('BufWipeout', neovim.in_buffer(before, { group = group, callback = wiped }))
  enter()
end

---@param path string
---@param hunks sextant.DiffHunk[]
---@param place sextant.DiffPlace of the cursor
---@param full_path string
local function show(path, hunks, place, full_path)
  local name = vim.fn.fnamemodify(full_path, ':.')
  vim.cmd({ cmd = 'tabedit', args = { name }, magic = { file = false, bar = false } })
  local win, code = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local before, starts = lines_before(api.nvim_buf_get_lines(code, 0, -1, false), hunks)
  if not before then
    vim.cmd('tabclose')
    return say(('%s was edited since the task'):format(path), vim.log.levels.WARN)
  end
  local other = buffer_before(path, before, code)
  local left = api.nvim_open_win(other, false, { split = 'left', win = win })
  for _, one in ipairs({ left, win }) do
    api.nvim_win_call(one, function()
      vim.cmd('diffthis')
    end)
  end
  local line = (starts[place.hunk] or 1) + place.offset
  api.nvim_win_set_cursor(win, { math.max(1, math.min(line, api.nvim_buf_line_count(code))), 0 })
  close_from_code(code, other)
end

--- Opens the file whose diff the cursor is in, in a tab of its own.
function M.open()
  local lines = api.nvim_buf_get_lines(0, 0, -1, false)
  local cursor = api.nvim_win_get_cursor(0)[1]
  local path, row = file_at(lines, cursor)
  if not path then
    return say('there is no file here', vim.log.levels.INFO)
  end
  local hunks, place = hunks_from(lines, row), place_at(lines, row, cursor)
  require('sextant.ui.go_to_code').find(path, function(full_path)
    show(path, hunks, place, full_path)
  end)
end

return M
