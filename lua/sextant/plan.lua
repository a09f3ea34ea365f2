--- The floating plan window: shows the plan document, approves it, runs it, stops it, closes.
local scratch = require('sextant.scratch')

local M = {}
local api = vim.api

local buf, win = nil, nil
local last_note = nil
local question = nil

local KEYS = ' <CR> approve and run · s one step · c change · <C-c> stop · q close '

local function buffer()
  local made
  buf, made = scratch.buffer('plan', 'hide')
  if not made then
    return buf
  end
  local function map(lhs, run, desc)
    scratch.map(buf, lhs, run, desc)
  end
  map('<CR>', function()
    require('sextant.rpc').send('approve', { steps = 'all' })
  end, 'Approve the plan and run it')
  map('s', function()
    require('sextant.rpc').send('approve', { steps = 'one' })
  end, 'Run the next step of the plan')
  map('c', function()
    vim.ui.input({ prompt = 'Change in the plan: ' }, function(words)
      if words and vim.trim(words) ~= '' then
        require('sextant.rpc').send('plan', { text = 'change: ' .. words })
      end
    end)
  end, 'Ask for changes in the plan')
  map('<C-c>', '<Cmd>AgentStop<CR>', 'Stop the plan')
  for choice = 1, 8 do
    map('g' .. choice, function()
      require('sextant.rpc').send('answer', { choice = choice })
    end, 'Answer ' .. choice .. ' to the open question')
  end
  map('q', '<Cmd>close<CR>', 'Close the window; :AgentPlan opens it again')
  return buf
end

local function set(lines)
  scratch.set(buffer(), lines)
end

local function title(phase)
  return (' Sextant plan · %s '):format(phase)
end

local function open_window(enter)
  if win and api.nvim_win_is_valid(win) then
    return
  end
  local width = math.max(20, math.min(100, vim.o.columns - 6))
  local height = math.max(5, math.min(24, vim.o.lines - 6))
  win = api.nvim_open_win(buffer(), enter, {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    border = 'rounded',
    style = 'minimal',
    title = title('planning'),
    footer = KEYS,
    footer_pos = 'center',
  })
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  vim.wo[win].conceallevel = 0
end

local function with_note(lines)
  for _, text in pairs({ last_note or false, question or false }) do
    if text then
      lines[#lines + 1] = ''
      vim.list_extend(lines, vim.split(text, '\n', { plain = true }))
    end
  end
  return lines
end

local function redraw()
  set(with_note(vim.split(vim.trim(M.markdown or ''), '\n', { plain = true })))
end

--- Opens the window for a new plan. The user has just typed the command, so entering it takes no focus away.
function M.open(request)
  last_note, question = nil, nil
  set({ '# ' .. request, '', 'Planning…' })
  open_window(true)
end

local expected = false

--- The user has asked to go on with what may be a plan: its window opens when it comes.
function M.expect()
  expected = true
end

--- Shows the last plan again.
---@return boolean shown
function M.reopen()
  if not (buf and api.nvim_buf_is_valid(buf)) then
    return false
  end
  open_window(true)
  return true
end

--- The plan document changed.
function M.update(markdown, phase)
  last_note, question = nil, nil
  M.markdown = markdown
  if expected then
    expected = false
    open_window(true)
  end
  local cursor = win and api.nvim_win_is_valid(win) and api.nvim_win_get_cursor(win) or nil
  set(vim.split(vim.trim(markdown), '\n', { plain = true }))
  if win and api.nvim_win_is_valid(win) then
    api.nvim_win_set_config(win, { title = title(phase) })
    if cursor then
      pcall(api.nvim_win_set_cursor, win, cursor)
    end
  end
end

--- A question that the work waits with; `g1`, `g2`, … answer.
---@return boolean shown
function M.ask(text, options)
  if not (buf and api.nvim_buf_is_valid(buf)) then
    return false
  end
  local lines = { '? ' .. text }
  for choice, option in ipairs(options) do
    lines[#lines + 1] = ('  g%d  %s'):format(choice, option)
  end
  question = table.concat(lines, '\n')
  redraw()
  return win ~= nil and api.nvim_win_is_valid(win)
end

--- A word under the plan: how it ended, or why there is none.
function M.note(text)
  if not (buf and api.nvim_buf_is_valid(buf)) then
    return
  end
  last_note = text
  redraw()
end

return M
