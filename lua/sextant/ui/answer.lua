--- Shows the answer window: the words and actions of a task, as they come.
local bottom = require('sextant.ui.answer_bottom')
local scratch = require('sextant.ui.scratch')
local thinking = require('sextant.ui.thinking')

local M = {}
local api = vim.api

---@class sextant.Asked a request that the binary has not taken on yet
---@field request string
---@field tab integer the tab that the user asked in
---@field alone boolean whether nothing else ran then
---@field follows boolean whether it goes on with the conversation in the window
---@type sextant.Asked[] oldest first
local asked = {}
-- The lines before the first of them is taken on; they belong to it if no other task runs.
---@type string[]
local held = {}
-- The request that the last heading names, and its line.
---@type string?
local heading = nil
local heading_line = 1
-- The line of the last words of a model, and whether only words came since.
local words_line = 1
local in_words = false
-- The line of each window's cursor at rest, if the end is not in sight: one that is still there follows the output.
---@type table<integer, integer>
local rested = {}

-- The change that the text was at when its last window closed.
local left_at = 0

local function buffer()
  local buf, made = scratch.buffer('answer', 'hide')
  if made then
    require('sextant.ui.answer_keys').map(buf)
    local function leave()
      left_at = api.nvim_buf_get_changedtick(buf)
    end
    api.nvim_create_autocmd('BufWinLeave', require('sextant.neovim').in_buffer(buf, { callback = leave }))
  end
  return buf
end

--- The buffer with the conversation.
M.text = buffer

local function last_line(buf)
  return api.nvim_buf_get_lines(buf, -2, -1, false)[1] or ''
end

local function is_empty()
  return api.nvim_buf_line_count(buffer()) == 1 and last_line(buffer()) == ''
end

local function follows(win)
  local line = api.nvim_win_get_cursor(win)[1]
  return line >= api.nvim_buf_line_count(buffer()) or line == rested[win]
end

local function to_end(win)
  rested[win] = nil
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buffer()), 0 })
end

-- Adds at the end; a cursor on the last line goes along, any other stays at the reader's place.
local function add(text)
  local buf = buffer()
  local count, tail = api.nvim_buf_line_count(buf), #last_line(buf)
  local follow = vim.tbl_filter(follows, scratch.windows('answer'))
  scratch.write(buf, function()
    api.nvim_buf_set_text(buf, count - 1, tail, count - 1, tail, vim.split(text, '\n', { plain = true }))
  end)
  vim.tbl_map(to_end, follow)
end

-- Begins a line of its own.
local function new_line()
  if last_line(buffer()) ~= '' then
    add('\n')
  end
end

local function end_thinking()
  if thinking.is_open() then
    new_line()
    thinking.close()
  end
end

--- Appends to the answer; thinking before it is over.
---@param text string
function M.append(text)
  end_thinking()
  in_words = false
  add(text)
end

-- Appends to the thinking of a model, or begins it.
local function think(text)
  if not thinking.is_open() then
    text = text:gsub('^\n+', '')
    if text == '' then
      return
    end
    new_line()
    thinking.begin(buffer())
  end
  add(text)
  thinking.dim()
end

-- The rest of the words, in milliseconds, until their Markdown is coloured again: every change of a long text would be
-- parsed.
local REST_MS = 300
---@type uv.uv_timer_t?
local rest = nil

--- Words of a model, as they come: plain until they rest.
---@param text string
---@param thought? boolean whether they are its thinking
function M.stream(text, thought)
  local buf = buffer()
  if not rest then
    rest = assert(vim.uv.new_timer())
    scratch.plain(buf)
  end
  rest:start(REST_MS, 0, function()
    vim.schedule(M.settle)
  end)
  if thought then
    return think(text)
  end
  if not in_words then
    -- A reply often begins with blank lines, in an event of their own.
    text = text:gsub('^\n+', '')
    if text == '' then
      return
    end
    end_thinking()
    in_words, words_line = true, api.nvim_buf_line_count(buf)
  end
  add(text)
end

--- Colours the words once they rest, or were the last ones.
function M.settle()
  if rest then
    rest:close()
    rest = nil
    scratch.colour(buffer())
  end
end

-- The lines of figures below the last answer.
local figures_below = 0

--- Shows the answer at rest in the windows that follow the output, in those of a new height too.
---@param figures? integer lines at its end that may be out of sight
function M.rest_at_end(figures)
  figures_below = figures or figures_below
  for _, win in ipairs(scratch.windows('answer')) do
    if follows(win) then
      local line = bottom.line(win, { heading = heading_line, words = words_line, figures = figures_below })
      api.nvim_win_set_cursor(win, { line, 0 })
      rested[win] = line
      api.nvim_win_call(win, function()
        vim.cmd('normal! zb')
      end)
    end
  end
end

--- Shows the text from a line on in the windows that follow the output, where the end has no room for all of it.
---@param line integer
function M.rest_at(line)
  for _, win in ipairs(scratch.windows('answer')) do
    local rows = api.nvim_win_text_height(win, { start_row = line - 1 }).all
    if follows(win) and rows > vim.fn.getwininfo(win)[1].height then
      rested[win] = line
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = line, lnum = line, col = 0 })
      end)
    end
  end
end

-- Leaves one blank line at the end, of as many as a model may have written.
local function blank()
  M.end_line()
  local buf = buffer()
  local last = api.nvim_buf_line_count(buf)
  local text = last > 1 and bottom.text_above(buf, last - 1) + 1 or last
  if text == last then
    return M.append('\n')
  end
  local follow = vim.tbl_filter(follows, scratch.windows('answer'))
  scratch.write(buf, function()
    api.nvim_buf_set_lines(buf, text, -1, false, { '' })
  end)
  vim.tbl_map(to_end, follow)
end

--- Shows a line; an empty one separates two texts.
---@param text string
---@return integer? line the number of its first line, where it is shown at once
function M.line(text)
  if asked[1] and asked[1].alone then
    held[#held + 1] = text
    return
  elseif text == '' then
    return blank()
  end
  M.append((last_line(buffer()) ~= '' and '\n' or '') .. text .. '\n')
  local _, more = text:gsub('\n', '')
  return api.nvim_buf_line_count(buffer()) - 1 - more
end

--- Shows a line about the task. While words of a model come it stands above them: among them it would break a code
--- block, for good.
---@param text string
function M.aside(text)
  if not in_words or require('sextant.status').now().phase ~= 'answering' then
    return M.line(text)
  end
  local lines = vim.split(text, '\n', { plain = true })
  scratch.write(buffer(), function()
    api.nvim_buf_set_lines(buffer(), words_line - 1, words_line - 1, false, lines)
  end)
  words_line = words_line + #lines
end

--- Separates the words of one question from those of the next.
function M.end_line()
  end_thinking()
  new_line()
end

---@type fun(entered: boolean)
local come_back

-- Opens the window below, without entering it, in the tab that the user asked in.
---@param tab integer
---@param asked boolean whether the user has asked for the window, and not for an answer
local function open(tab, asked)
  local there = api.nvim_tabpage_is_valid(tab) and tab or api.nvim_get_current_tabpage()
  for _, win in ipairs(scratch.windows('answer')) do
    if api.nvim_win_get_tabpage(win) == there then
      return
    end
  end
  local function split(height)
    local is_here = there == api.nvim_get_current_tabpage()
    local beside = is_here and -1 or api.nvim_tabpage_get_win(there)
    local win = api.nvim_open_win(buffer(), false, { split = 'below', win = beside, height = height })
    scratch.furnish(win)
    thinking.furnish(win)
    api.nvim_set_option_value('scrolloff', 0, { win = win, scope = 'local' })
    require('sextant.status').show_bars()
    return win
  end
  local wanted = require('sextant.options').resolve(require('sextant').given).window.height
  local room = { kind = 'answer', wanted = wanted, open = split, back = come_back, resized = M.rest_at_end }
  require('sextant.ui.room').open(room, asked, there)
end

-- It has given way to another window, which is gone. A reader has their place again where nothing was added since.
function come_back(entered)
  local is_same = left_at == api.nvim_buf_get_changedtick(buffer())
  open(api.nvim_get_current_tabpage(), false)
  local win = scratch.window('answer')
  if win and entered then
    api.nvim_set_current_win(win)
  end
  if win and not (entered and is_same) then
    to_end(win)
    M.rest_at_end()
  end
end

--- Notes the user's request; the current answer is kept until the binary takes the request on.
---@param request string
---@param alone boolean whether nothing else runs: what comes now is of this request
---@param follows boolean whether it goes on with the conversation in the window
function M.expect(request, alone, follows)
  -- The status is that of the last request that was taken on.
  alone = alone and #asked == 0
  asked[#asked + 1] = { request = request, tab = api.nvim_get_current_tabpage(), alone = alone, follows = follows }
end

-- Takes a request out of those that wait; without words the oldest one.
---@param request? string
---@return sextant.Asked?
local function take(request)
  for index, one in ipairs(asked) do
    if not request or one.request == request then
      return table.remove(asked, index)
    end
  end
end

-- Begins the answer to a request: below what the window shows, or in place of it.
---@param request string
---@param below boolean
local function begin(request, below)
  heading = request
  local lines = { '# ' .. request, '' }
  if below and not is_empty() then
    M.end_line()
    M.append('\n' .. table.concat(lines, '\n'))
  else
    thinking.clear(buffer())
    scratch.set(buffer(), lines)
  end
  heading_line = api.nvim_buf_line_count(buffer()) - 1
  vim.tbl_map(to_end, scratch.windows('answer'))
end

--- Begins the output of a task that the window was not opened for: a plan, or a task from a shell.
---@param request string
function M.head(request)
  M.settle()
  begin(request, true)
end

--- The request that the output is of.
---@return string?
function M.heading()
  return heading
end

--- A request is taken on: its answer replaces the last one, or follows it where it goes on with it or has waited for it.
---@param request? string
---@return boolean own whether the request was made here
function M.accept(request)
  local taken = take(request)
  if not taken then
    return false
  end
  local before = held
  held = {}
  open(taken.tab, false)
  -- The answer that a request has waited for ended just now, and nobody has read it.
  begin(taken.request, taken.follows or not taken.alone)
  for _, text in ipairs(before) do
    M.line(text)
  end
  return true
end

--- Opens the window again, and enters it.
---@return boolean shown whether there is an answer
function M.show()
  if is_empty() then
    return false
  end
  open(api.nvim_get_current_tabpage(), true)
  local win = scratch.window('answer')
  if win then
    api.nvim_set_current_win(win)
    to_end(win)
    M.rest_at_end()
  end
  return true
end

--- Shows an earlier conversation, and enters its window: the user asks on there.
---@param exchanges sextant.Exchange[]
---@param write fun(one: sextant.Exchange): integer writes one below its heading; returns its lines of figures
function M.reopen(exchanges, write)
  thinking.clear(buffer())
  scratch.set(buffer(), { '' })
  for index, one in ipairs(exchanges) do
    begin(one.request, index > 1)
    figures_below = write(one)
  end
  M.show()
end

--- True if a request waits to be taken on.
---@return boolean
function M.waits()
  return #asked > 0
end

--- A request is not taken on, and the last answer stays.
---@param request? string without it, the oldest one
function M.refuse(request)
  if take(request) then
    held = {}
  end
end

--- No request will be taken on any more.
function M.drop()
  asked, held = {}, {}
end

return M
