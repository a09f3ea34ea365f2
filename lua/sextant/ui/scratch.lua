--- Makes the buffers of Sextant's windows: their common options, and the windows that show them.
local neovim = require('sextant.neovim')
local whole_words = require('sextant.ui.whole_words')

local M = {}
local api = vim.api

local PREFIX = 'sextant://'
-- Own file types: the user's settings for Markdown (spelling, servers, folds) are not meant for these.
local TYPES = { answer = 'sextant-answer', plan = 'sextant-plan' }

-- The buffer of this name, loaded or not. `bufnr()` prefers a listed buffer whose name holds this one.
---@param name string after `sextant://`
---@return integer? buf
local function named(name)
  return vim.iter(api.nvim_list_bufs()):find(function(buf)
    return api.nvim_buf_get_name(buf) == PREFIX .. name
  end)
end

--- The loaded buffer of this name.
---@param name string after `sextant://`
---@return integer? buf
function M.find(name)
  local buf = named(name)
  return buf and api.nvim_buf_is_loaded(buf) and buf or nil
end
local find = M.find

--- Restores the text after `:edit`, which would leave it empty: there is no file to read.
---@param buf integer
---@param restore fun(lines: string[]) gets the lines that it had
function M.on_edit(buf, restore)
  local lines = {}
  api.nvim_create_autocmd(
    'BufUnload',
    neovim.in_buffer(buf, {
      callback = function()
        lines = api.nvim_buf_get_lines(buf, 0, -1, false)
      end,
    })
  )
  api.nvim_create_autocmd(
    'BufReadCmd',
    neovim.in_buffer(buf, {
      callback = function()
        restore(lines)
      end,
    })
  )
end

--- True if a buffer is one of Sextant's.
---@param buf integer
---@return boolean
function M.is_ours(buf)
  return vim.startswith(api.nvim_buf_get_name(buf), PREFIX)
end

--- The window of the current tab that shows this buffer of Sextant's.
---@param name string after `sextant://`
---@return integer? win
function M.window(name)
  local buf = find(name)
  local win = buf and vim.fn.bufwinid(buf) or -1
  return win ~= -1 and win or nil
end

--- True if a line with these words is on the screen of the current tab, and not only in the buffer.
---@param name string after `sextant://`
---@param words string
---@param from? integer the first line that counts
---@return boolean
function M.in_sight(name, words, from)
  local win = M.window(name)
  if not win then
    return false
  end
  local first, last = math.max(from or 1, vim.fn.line('w0', win)), vim.fn.line('w$', win)
  for _, text in ipairs(api.nvim_buf_get_lines(api.nvim_win_get_buf(win), first - 1, last, false)) do
    if text:find(words, 1, true) then
      return true
    end
  end
  return false
end

--- Every window that shows it, in any tab.
---@param name string after `sextant://`
---@return integer[] wins
function M.windows(name)
  local buf = find(name)
  return buf and vim.fn.win_findbuf(buf) or {}
end

---@type table<integer, true>
local coloured = {}

--- Colours the Markdown of a buffer. The first time takes a few turns of the loop; until then, and without the parsers,
--- the text is plain.
---@param buf integer
function M.colour(buf)
  coloured[buf] = true
  -- A timer, since a function scheduled by a scheduled one runs in the same turn.
  local markdown = require('sextant.ui.markdown')
  if markdown.prepare() then
    vim.defer_fn(function()
      if coloured[buf] and api.nvim_buf_is_valid(buf) then
        M.colour(buf)
      end
    end, 1)
    return
  end
  markdown.start(buf)
end

--- Leaves the text of a buffer plain until it is coloured again.
---@param buf integer
function M.plain(buf)
  coloured[buf] = nil
  pcall(vim.treesitter.stop, buf)
end

local function dress(buf, name)
  vim.bo[buf].filetype = TYPES[name] or 'sextant-page'
  vim.diagnostic.enable(false, { bufnr = buf })
  M.colour(buf)
end

--- The buffer of this name, made if it does not exist. The second result is whether it existed.
---@param name string after `sextant://`
---@param bufhidden 'hide'|'wipe' whether its text outlives its window
---@return integer buf, boolean made
function M.buffer(name, bufhidden)
  local known = find(name)
  if known then
    return known, false
  end
  require('sextant.ui.code').watch()
  local unloaded = named(name)
  if unloaded then
    api.nvim_buf_delete(unloaded, { force = true })
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = bufhidden
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_name(buf, PREFIX .. name)
  dress(buf, name)
  vim.bo[buf].modifiable = false
  M.map(buf, 'q', '<Cmd>close<CR>', 'Close the window')
  M.on_edit(buf, function(lines)
    M.set(buf, lines)
    dress(buf, name)
    -- `:edit` has ended its watch.
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      whole_words.keep(win)
    end
  end)
  return buf, true
end

function M.map(buf, lhs, run, desc)
  vim.keymap.set('n', lhs, run, neovim.in_buffer(buf, { nowait = true, desc = desc }))
end

--- Sets the look of a window of Sextant's: text to be read, whatever the user has for code.
---@param win integer
function M.furnish(win)
  local wanted = {
    spell = false,
    list = false,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldenable = false,
    colorcolumn = '',
    conceallevel = 0,
    winfixheight = true,
  }
  for option, value in pairs(wanted) do
    -- The value is for this window alone: a buffer that the user opens in it later has the user's own.
    api.nvim_set_option_value(option, value, { win = win, scope = 'local' })
  end
  whole_words.keep(win)
end

--- Changes a text that the user may not change.
---@param change fun(buf: integer)
function M.write(buf, change)
  vim.bo[buf].modifiable = true
  change(buf)
  vim.bo[buf].modifiable = false
end

---@param lines string[]
function M.set(buf, lines)
  M.write(buf, function()
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  end)
end

--- Shows a page below, in place of another one, and enters it: the reader asked for it.
---@param name string after `sextant://`
---@param lines string[]
---@return integer win
function M.open(name, lines)
  local buf = M.buffer(name, 'wipe')
  M.set(buf, lines)
  local room = require('sextant.ui.room')
  local win = M.window(name) or room.window('page')
  if win then
    api.nvim_win_set_buf(win, buf)
  else
    local function open(height)
      return api.nvim_open_win(buf, false, { split = 'below', win = -1, height = height })
    end
    win = assert(room.open({ kind = 'page', wanted = #lines, open = open }, true))
  end
  M.furnish(win)
  api.nvim_set_current_win(win)
  room.fit(win, api.nvim_win_text_height(win, {}).all)
  return win
end

return M
