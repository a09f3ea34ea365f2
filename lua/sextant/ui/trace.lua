--- Shows a text to be read in a scratch window: the trace of a task, the statistics, the memory.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

---@class sextant.PageEntry the work that a line of a page names
---@field line integer
---@field task string
---@field step? integer

-- The work of each line of the history.
---@type table<integer, sextant.PageEntry>
local by_line = {}
---@type string?
local root = nil
-- The work that the cursor is to be on in a history that is opened again.
---@type sextant.PageEntry?
local left_at = nil

-- Shows the diff or the trace of the work under the cursor.
---@param verb 'diff'|'trace'
local function show(verb)
  local entry = by_line[vim.fn.line('.')]
  if not entry then
    return require('sextant.ui.say').say('no task is on this line')
  end
  local part = entry.step and tostring(entry.step) or nil
  require('sextant.ui.reader').asks(verb)
  require('sextant.rpc.channel').send(verb, { task = entry.task, part = part, root = root })
end

-- Takes back what is marked with undo: the step of it under the cursor, or all of it.
local function take_back()
  local here = by_line[vim.fn.line('.')]
  local marked
  for line, entry in pairs(by_line) do
    if not entry.step and vim.endswith(vim.fn.getline(line), ' ← undo') then
      marked = entry.task
    end
  end
  if here and marked and here.task ~= marked then
    return require('sextant.ui.say').say('`u` takes back the task marked with undo, or the step of it under the cursor')
  end
  if not (here and here.step) then
    return vim.cmd.AgentUndo()
  end
  -- Another task may have ended since the page was made.
  require('sextant.rpc.channel').send('undo', { target = tostring(here.step), task = here.task, root = root })
end

-- Keys of the history, and the action of each.
local HISTORY = {
  {
    'd',
    function()
      show('diff')
    end,
    'Show the change under the cursor as a diff',
  },
  { 'u', take_back, 'Take back the task marked with undo, or the step of it under the cursor' },
  { 'r', '<Cmd>AgentRedo<CR>', 'Bring back what is marked with redo' },
  {
    't',
    function()
      show('trace')
    end,
    'Show the trace of the task under the cursor',
  },
  {
    'a',
    function()
      local entry = by_line[vim.fn.line('.')]
      if not entry then
        return require('sextant.ui.say').say('no task is on this line')
      end
      require('sextant.ui.ask_again').ask(entry.task, root)
    end,
    'Ask the request under the cursor again, with its scope and mode',
  },
  { 'R', '<Cmd>AgentHistory<CR>', 'Make the list again' },
}

--- Maps the actions of the history page, and makes it again after an undo or a redo.
---@param buf integer
---@param event { root: string, entries?: sextant.PageEntry[] }
local function history_keys(buf, event)
  root, by_line = event.root, {}
  for _, entry in ipairs(event.entries or {}) do
    by_line[entry.line] = entry
  end
  local help = {}
  for _, key in ipairs(HISTORY) do
    scratch.map(buf, key[1], key[2], key[3])
    help[#help + 1] = ('%s  %s'):format(key[1], key[3])
  end
  scratch.map(buf, 'g?', function()
    require('sextant.ui.key_help').open('History', help)
  end, 'Show the keys')
  api.nvim_create_autocmd('User', {
    group = api.nvim_create_augroup('sextant_history', {}),
    pattern = 'SextantFinished',
    callback = function()
      local here = api.nvim_get_current_buf() == buf
      if here then
        vim.schedule(function()
          vim.cmd('AgentHistory')
        end)
      end
      return not api.nvim_buf_is_valid(buf)
    end,
  })
end

--- Colours a diff, folds it by file, and maps its keys.
---@param buf integer
---@param win integer
local function diff_page(buf, win)
  scratch.plain(buf)
  vim.bo[buf].filetype = 'diff'
  vim.wo[win][0].foldmethod = 'expr'
  vim.wo[win][0].foldexpr = "getline(v:lnum)=~'^--- '?'>1':1"
  vim.wo[win][0].foldlevel = 1
  vim.wo[win][0].foldenable = true
  scratch.map(buf, 'D', require('sextant.ui.diff_mode').open, "Open the file in Neovim's diff mode")
end

-- A page that is made again keeps its cursor on the same work, for a key that is pressed meanwhile.
---@param win integer
---@return sextant.PageEntry?
local function work_under_cursor(win)
  return by_line[api.nvim_win_get_cursor(win)[1]]
end

-- A page that takes the place of the history leads back to it.
---@param buf integer
---@param history boolean
---@param from? sextant.PageEntry the work under the cursor of the history
local function map_close(buf, history, from)
  if not history then
    return scratch.map(buf, 'q', '<Cmd>close<CR>', 'Close the window')
  end
  scratch.map(buf, 'q', function()
    left_at = from
    vim.cmd.AgentHistory()
  end, 'Back to the history')
end

--- Opens the window below and enters it, where the reader waits for it.
---@param event { markdown: string, root: string, entries?: sextant.PageEntry[] }
---@param name string what it is, for the buffer's name
function M.open(event, name)
  if not require('sextant.ui.reader').waits_for(name) then
    return
  end
  local history = scratch.window('history')
  local before = history and work_under_cursor(history) or left_at
  left_at = nil
  local win = scratch.open(name, vim.split(event.markdown, '\n', { plain = true }))
  local buf = api.nvim_win_get_buf(win)
  for _, lhs in ipairs({ '<CR>', 'gf' }) do
    scratch.map(buf, lhs, function()
      require('sextant.ui.go_to_code').go()
    end, 'Go to the code of the name under the cursor')
  end
  if name == 'diff' or name == 'trace' then
    map_close(buf, history ~= nil, before)
  end
  if name == 'history' then
    history_keys(buf, event)
  elseif name == 'waiting' then
    require('sextant.ui.waiting_page').map(buf, event)
  end
  if name == 'diff' then
    diff_page(buf, win)
  end
  api.nvim_set_current_win(win)
  -- The keys of a list act on the line under the cursor.
  local entries = event.entries or {}
  local same = name == 'history'
    and before
    and vim.iter(entries):find(function(entry)
      return entry.task == before.task and entry.step == before.step
    end)
  local first = same or entries[1]
  api.nvim_win_set_cursor(win, { first and first.line or 1, 0 })
end

return M
