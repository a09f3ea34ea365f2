--- Draws the hunks under review into a buffer: removed lines as virtual ones, changed words, new diagnostics.
local highlights = require('sextant.ui.highlights')
local say = require('sextant.ui.say')
local wrapped_text = require('sextant.ui.wrapped_text')

local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_review')
-- The time of one turn of drawing. The turn also clears what was drawn, and on a busy machine takes several times as long.
local SLICE_NS = 3e6
-- Numbers the drawings of each buffer: a later one ends the one before.
---@type table<integer, integer>
local drawing = {}
-- The buffers with hunks, and whether they were in diff mode when they were drawn.
---@type table<integer, boolean>
local in_diff = {}
---@class sextant.HunkHeaders the headers of a buffer, by the names of their hunks
---@field width integer the columns that the hunks were drawn for
---@field keys string[] hints behind the header of the current hunk
---@field current string name of the current hunk
---@field lines table<string, { mark: integer, hunk: sextant.Hunk, at: integer, of: integer, above: boolean }>

---@type table<integer, sextant.HunkHeaders>
local headers = {}
-- The most removed lines that are drawn of one hunk; the diff has all.
local MOST = 200
-- The most rows of a note or a diagnostic beside a hunk.
local ROWS = 3
-- Stands for the rest of one, with the key that shows it.
local CUT = '… gK'

---@class sextant.Hunk one change of the agent that waits for a decision
---@field id string
---@field symbol string
---@field line integer from 0
---@field count integer
---@field removed string[]
---@field added string[]
---@field words { line: integer, removed: sextant.ByteRange, added: sextant.ByteRange }[]
---@field conflict boolean
---@field diagnostics { kind: string, text: string, line: integer }[]
---@field notes? string[] the user's notes on it that the agent has not heard

---@class sextant.ByteRange
---@field start integer
---@field ['end'] integer

-- The columns for text in the narrowest window that shows a buffer: Neovim cuts virtual lines at its edge.
---@param buf integer
---@return integer
local function columns(buf)
  local width = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return math.max(1, width)
end

-- The hints that a width has room for, the first ones and the last one, which leads to all.
---@param keys string[]
---@param width integer
---@return string
local function hints(keys, width)
  for count = #keys, 1, -1 do
    local shown = vim.list_slice(keys, 1, count - 1)
    shown[count] = keys[#keys]
    local text = table.concat(shown, ' · ')
    if api.nvim_strwidth(text) <= width then
      return text
    end
  end
  return ''
end

-- The chunks of a virtual line that a width has room for. A mark stands for the rest, which Neovim would cut without one.
---@param chunks table[]
---@param width integer
---@return table[]
local function fit(chunks, width)
  local shown, left = {}, width
  for index, chunk in ipairs(chunks) do
    local cells = api.nvim_strwidth(chunk[1])
    local behind = chunks[index + 1] and chunks[index + 1][1] ~= ''
    if cells > left or cells == left and behind then
      shown[#shown + 1] = { say.cut(chunk[1] .. (behind and '…' or ''), left), chunk[2] }
      break
    elseif cells > 0 then
      shown[#shown + 1] = chunk
      left = left - cells
    end
  end
  return shown
end

---@param hunk sextant.Hunk
---@param at integer its number
---@param of integer
---@param keys string[]
---@param width integer
---@return table[] chunks
local function header(hunk, at, of, keys, width)
  local where = hunk.symbol ~= '' and hunk.symbol or 'top level'
  local place = ('▎%d/%d %s '):format(at, of, where)
  local conflict = hunk.conflict and 'edited since: accept it or change it by hand ' or ''
  local left = width - api.nvim_strwidth(place)
  conflict = wrapped_text.first_rows(conflict, math.max(1, left), 1)[1] .. (conflict ~= '' and ' ' or '')
  left = left - api.nvim_strwidth(conflict)
  return fit({ { place, 'SextantHunk' }, { conflict, 'SextantConflict' }, { hints(keys, left), 'SextantHint' } }, width)
end

---@param hunk sextant.Hunk
---@param index integer of the line, from 1
---@param width integer
---@return table[] chunks
local function removed_line(hunk, index, width)
  local text = hunk.removed[index]
  local chunks = { { '-', 'SextantRemoved' } }
  for _, word in ipairs(hunk.words) do
    if word.line == index - 1 then
      vim.list_extend(chunks, {
        { text:sub(1, word.removed.start), 'SextantRemoved' },
        { text:sub(word.removed.start + 1, word.removed['end']), 'SextantRemovedWord' },
        { text:sub(word.removed['end'] + 1), 'SextantRemoved' },
      })
      text = ''
    end
  end
  chunks[#chunks + 1] = { text, 'SextantRemoved' }
  local there = vim.tbl_filter(function(chunk)
    return chunk[1] ~= ''
  end, chunks)
  return fit(there, width)
end

-- The lines above a hunk: its header and what the agent removed.
local function above(hunk, at, of, keys, width)
  local lines = { header(hunk, at, of, keys, width) }
  for index = 1, math.min(#hunk.removed, MOST) do
    lines[#lines + 1] = removed_line(hunk, index, width)
  end
  if #hunk.removed > MOST then
    lines[#lines + 1] = { { ('… %d more removed'):format(#hunk.removed - MOST), 'SextantHint' } }
  end
  return lines
end

local GROUPS = { E = 'SextantError', W = 'SextantWarning' }

-- The lines below a hunk: the user's notes, and what the agent introduced there.
---@param hunk sextant.Hunk
---@param width integer
---@return table[] lines
local function below(hunk, width)
  local lines = {}
  local function put(label, text, group)
    local lead = ('▎%s: '):format(label)
    local room = math.max(1, width - api.nvim_strwidth(lead))
    for index, row in ipairs(wrapped_text.first_rows(text, room, ROWS, CUT)) do
      local before = index == 1 and lead or '▎' .. (' '):rep(api.nvim_strwidth(lead) - 1)
      lines[#lines + 1] = { { before .. row, group } }
    end
  end
  for _, note in ipairs(hunk.notes or {}) do
    put('note', note, 'SextantHint')
  end
  for _, entry in ipairs(hunk.diagnostics) do
    put('new', entry.text, GROUPS[entry.kind] or 'SextantHint')
  end
  return lines
end

--- Shows all of a hunk in a float: what stands beside it in the code has the room of a window alone.
---@param hunk sextant.Hunk
function M.show_whole(hunk)
  local lines = vim.tbl_map(function(note)
    return 'note: ' .. note
  end, hunk.notes or {})
  for _, entry in ipairs(hunk.diagnostics) do
    lines[#lines + 1] = 'new: ' .. entry.text
  end
  for _, text in ipairs(hunk.removed) do
    lines[#lines + 1] = '-' .. text
  end
  for _, text in ipairs(hunk.added) do
    lines[#lines + 1] = '+' .. text
  end
  require('sextant.ui.key_help').open(hunk.symbol ~= '' and hunk.symbol or 'top level', lines)
end

--- Gives each hunk the notes on it, which name its place and code.
---@param review sextant.Review
---@return sextant.Review
function M.with_notes(review)
  for _, file in ipairs(review.files) do
    for _, hunk in ipairs(file.hunks) do
      local place = hunk.symbol ~= '' and ('%s::%s'):format(file.path, hunk.symbol) or file.path
      local code = table.concat(#hunk.added > 0 and hunk.added or hunk.removed, '\n')
      hunk.notes = {}
      for _, note in ipairs(review.notes) do
        if not note.rejected and note.place == place and note.code == code then
          table.insert(hunk.notes, note.reason)
        end
      end
    end
  end
  return review
end

---@return integer? mark
local function mark(buf, line, column, options)
  local set, id = pcall(api.nvim_buf_set_extmark, buf, NAMESPACE, line, column, options)
  return set and id or nil
end

local function draw_added(buf, hunk)
  if hunk.conflict or hunk.count == 0 then
    return
  end
  local last = math.min(hunk.line + hunk.count, api.nvim_buf_line_count(buf))
  mark(buf, hunk.line, 0, { end_row = last, hl_group = 'SextantAdded', hl_eol = true, priority = 50 })
  for _, word in ipairs(hunk.words) do
    mark(buf, hunk.line + word.line, word.added.start, {
      end_col = word.added['end'],
      hl_group = 'SextantAddedWord',
      priority = 60,
    })
  end
end

-- Virtual lines above the first line of a buffer are out of sight unless the window scrolls to them.
local function show_above_first(buf, height)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      if vim.fn.line('w0') == 1 then
        vim.fn.winrestview({ topline = 1, topfill = height })
      end
    end)
  end
end

---@param known sextant.HunkHeaders
---@return string[]
local function hint_of(known, id)
  return known.current == id and known.keys or {}
end

---@param buf integer
---@param hunk sextant.Hunk
---@param at integer its number among all
---@param of integer
local function draw_hunk(buf, hunk, at, of)
  local count, known = api.nvim_buf_line_count(buf), headers[buf]
  local width = columns(buf)
  local top, bottom = above(hunk, at, of, hint_of(known, hunk.id), width), below(hunk, width)
  local behind = hunk.line >= count
  local id = mark(buf, math.min(hunk.line, count - 1), 0, { virt_lines = top, virt_lines_above = not behind })
  if id then
    known.lines[hunk.id] = { mark = id, hunk = hunk, at = at, of = of, above = not behind }
  end
  if hunk.line == 0 then
    show_above_first(buf, #top)
  end
  if #bottom > 0 then
    local last = math.min(math.max(hunk.line + hunk.count - 1, 0), count - 1)
    mark(buf, last, 0, { virt_lines = bottom })
  end
  draw_added(buf, hunk)
end

-- The numbers of the hunks, those near the top of a window of the buffer first.
---@return integer[]
local function nearest_first(buf, hunks)
  local win = vim.fn.win_findbuf(buf)[1]
  local top = win and vim.fn.line('w0', win) or 1
  local order = {}
  for index = 1, #hunks do
    order[index] = index
  end
  if top > 1 then
    table.sort(order, function(one, other)
      return math.abs(hunks[one].line - top) < math.abs(hunks[other].line - top)
    end)
  end
  return order
end

-- Recognizes a buffer in diff mode in the tab: virtual lines would push its sides apart.
local function is_in_diff(buf)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf and vim.wo[win].diff then
      return true
    end
  end
  return false
end

--- True if a buffer has entered or left diff mode, or has another width, since it was drawn.
---@return boolean
function M.is_stale()
  for buf, was in pairs(in_diff) do
    if is_in_diff(buf) ~= was or not was and headers[buf].width ~= columns(buf) then
      return true
    end
  end
  return false
end

--- Draws the hunks of a buffer in place of those drawn before; none in diff mode.
---@param buf integer
---@param hunks sextant.Hunk[]
---@param first integer the number of the first one among all
---@param of integer
---@param keys string[] hints behind the header of the current hunk
function M.draw(buf, hunks, first, of, keys)
  highlights.define()
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  local mine = (drawing[buf] or 0) + 1
  drawing[buf] = mine
  local current = headers[buf] and headers[buf].current
  local is_there = vim.iter(hunks):any(function(hunk)
    return hunk.id == current
  end)
  headers[buf] = { width = columns(buf), keys = keys, current = is_there and current or hunks[1].id, lines = {} }
  in_diff[buf] = is_in_diff(buf)
  if in_diff[buf] then
    return
  end
  local order, next_one = nearest_first(buf, hunks), 1
  -- Many hunks take several turns of the loop, so that no key waits; those in sight come first.
  local function slice()
    if drawing[buf] ~= mine or not api.nvim_buf_is_valid(buf) then
      return
    end
    local start = vim.uv.hrtime()
    while next_one <= #order do
      local index = order[next_one]
      draw_hunk(buf, hunks[index], first + index - 1, of)
      next_one = next_one + 1
      if vim.uv.hrtime() - start > SLICE_NS then
        return vim.defer_fn(slice, 1)
      end
    end
  end
  slice()
end

--- Moves the hint to the header of another hunk.
---@param buf integer
---@param hunk sextant.Hunk
function M.point(buf, hunk)
  local known = headers[buf]
  if not known or known.current == hunk.id then
    return
  end
  local before = known.current
  known.current = hunk.id
  for _, id in ipairs({ before, hunk.id }) do
    local line = known.lines[id]
    local place = line and api.nvim_buf_get_extmark_by_id(buf, NAMESPACE, line.mark, {}) or {}
    if place[1] then
      local lines = above(line.hunk, line.at, line.of, hint_of(known, id), columns(buf))
      mark(buf, place[1], 0, { id = line.mark, virt_lines = lines, virt_lines_above = line.above })
    end
  end
end

---@param buf integer
function M.clear(buf)
  drawing[buf], in_diff[buf], headers[buf] = nil, nil, nil
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  end
end

--- Scrolls the current window so far that a hunk, whose first line the cursor stands on, is in sight with the lines above
--- and below it.
---@param hunk sextant.Hunk
function M.reveal(hunk)
  local top = 1 + math.min(#hunk.removed, MOST) + (#hunk.removed > MOST and 1 or 0)
  local bottom = #below(hunk, columns(api.nvim_get_current_buf()))
  local last = math.min(hunk.line + hunk.count, api.nvim_buf_line_count(0))
  if last > hunk.line + 1 then
    bottom = bottom + api.nvim_win_text_height(0, { start_row = hunk.line + 1, end_row = last - 1 }).all
  end
  require('sextant.ui.uncovered').reveal(top, bottom)
end

return M
