--- Lets the user edit the plan as text: `:w` makes it the plan, and faults stand on their lines as diagnostics.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

local NAME = 'sextant://plan/edit'
local FAULTS = api.nvim_create_namespace('sextant_plan_faults')
-- A message has room for one fault at most.
vim.diagnostic.config({ virtual_lines = true }, FAULTS)

-- The workspace of the text that is edited.
---@type string?
local root = nil

-- The plan as it was shown last: the text that the user's changes begin with.
local shown = ''

---@return integer? buf
local function buffer()
  return scratch.find('plan/edit')
end

local function write(buf)
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n') .. '\n'
  require('sextant.rpc.channel').send('write_plan', { text = text, base = shown, root = root })
end

-- Sets the look of the floats that show the text; any other window has the user's.
local function dress(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if api.nvim_win_get_config(win).relative ~= '' then
      require('sextant.ui.plan_layout').furnish_text(win)
    end
  end
end

local function set(buf, markdown)
  shown = markdown
  -- `u` leads back to the plan, and not to the empty buffer before it.
  local levels = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(vim.trim(markdown), '\n', { plain = true }))
  vim.bo[buf].undolevels = levels
  vim.bo[buf].modified = false
end

local function make()
  local buf = api.nvim_create_buf(false, false)
  api.nvim_buf_set_name(buf, NAME)
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = 'sextant-plan'
  scratch.colour(buf)
  scratch.on_edit(buf, function()
    set(buf, shown)
    vim.bo[buf].buflisted = false
    vim.bo[buf].filetype = 'sextant-plan'
    scratch.colour(buf)
  end)
  api.nvim_create_autocmd(
    'BufWriteCmd',
    require('sextant.neovim').in_buffer(buf, {
      callback = function()
        write(buf)
      end,
    })
  )
  api.nvim_create_autocmd('VimResized', {
    group = api.nvim_create_augroup('sextant_plan_text', {}),
    callback = function()
      dress(buf)
    end,
  })
  return buf
end

--- Follows the plan with the text: its steps may have other numbers now. Text that is not written yet stays.
---@param markdown string
---@param of string the workspace
function M.renew(markdown, of)
  local buf = buffer()
  if buf and root == of and not vim.bo[buf].modified then
    set(buf, markdown)
  end
end

--- Shows the plan's text in its window for editing, at the step under the cursor. Text that is not written yet stays.
---@param win integer
---@param markdown string
---@param of string the workspace
function M.open(win, markdown, of)
  local buf, steps = buffer() or make(), require('sextant.ui.plan_steps')
  local step = steps.at(api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)[1])
  if not vim.bo[buf].modified or root ~= of then
    set(buf, markdown)
    vim.diagnostic.reset(FAULTS, buf)
  end
  root = of
  local layout = require('sextant.ui.plan_layout')
  layout.show(win, buf)
  layout.furnish_text(win)
  local there = step and steps.like(buf, step)
  if there then
    api.nvim_win_set_cursor(win, { there.first, 0 })
  end
  require('sextant.ui.say').say('`:w` makes this text the plan, `:q` closes it')
end

-- Scrolls the words of a fault into sight, which stand below its line.
---@param buf integer
---@param line integer
local function reveal(buf, line)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      if vim.fn.line('w$') == line and vim.fn.line('w0') < line then
        vim.cmd('normal! 2\5')
      end
    end)
  end
end

--- The binary has read the text: it is the plan now, or it has faults.
---@param faults { line: integer, message: string }[]
---@return boolean taken
function M.checked(faults)
  local marked = require('sextant.ui.plan_keys').marked(#faults == 0)
  local buf = buffer()
  if not buf then
    return #faults == 0
  end
  local last = api.nvim_buf_line_count(buf)
  vim.diagnostic.set(
    FAULTS,
    buf,
    vim.tbl_map(function(fault)
      return {
        lnum = math.min(math.max(fault.line, 1), last) - 1,
        col = 0,
        message = fault.message,
        severity = vim.diagnostic.severity.ERROR,
        source = 'sextant',
      }
    end, faults)
  )
  dress(buf)
  local say = require('sextant.ui.say')
  if #faults == 0 and marked then
    return true
  elseif #faults == 0 then
    vim.bo[buf].modified = false
    -- A float becomes the plan's window again.
    local floats = vim.iter(M.windows()):any(function(win)
      return api.nvim_win_get_config(win).relative ~= ''
    end)
    if not floats then
      say.say('this text is the plan now; `:q` closes it')
    end
    return true
  end
  local first = faults[1]
  reveal(buf, first.line)
  say.say(
    ('%s; the plan stays as it was. Line %d: %s'):format(say.counted(#faults, 'fault'), first.line, first.message),
    vim.log.levels.ERROR
  )
  return false
end

--- The windows that show the text.
---@return integer[]
function M.windows()
  local buf = buffer()
  return buf and vim.fn.win_findbuf(buf) or {}
end

return M
