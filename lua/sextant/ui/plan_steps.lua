--- Reads the steps of the plan's text, and shows each as one line: its details are folded, its symbols stand beside it.
local M = {}
local api = vim.api

local NAMESPACE = api.nvim_create_namespace('sextant_plan_steps')
-- The labels of the details with symbols, with reasons and with what the scope does not hold, in the languages of a
-- plan.
local SYMBOLS = { symbols = true, ['símbolos'] = true }
local REASONS = { because = true, porque = true }
local OUTSIDE = { outside = true, fuera = true }
local EXPECTED = { expect = true, ['se espera'] = true }

---@class sextant.PlanStep
---@field number integer
---@field mark string of `[x]`
---@field title string
---@field first integer its line, from 1
---@field last integer the last line of its details
---@field details { label: string, text: string }[]
---@field symbols string[]

--- The steps of a text. Lines before the first heading are no part of the plan.
---@param lines string[]
---@return sextant.PlanStep[]
function M.read(lines)
  local steps = {}
  ---@type sextant.PlanStep?
  local step = nil
  for at, line in ipairs(lines) do
    local mark, title = line:match('^%- %[(.)%] (.*)$')
    local label, text = line:match('^  %- ([^:]+): (.*)$')
    if mark then
      step = { number = #steps + 1, mark = mark, title = title, first = at, last = at, details = {}, symbols = {} }
      steps[#steps + 1] = step
    elseif step and line:find('^%s') then
      step.last = at
      if label then
        table.insert(step.details, { label = label, text = text })
        if SYMBOLS[label] then
          for path in text:gmatch('`([^`]+)`') do
            table.insert(step.symbols, path)
          end
        end
      end
    else
      step = nil
    end
  end
  return steps
end

---@param step sextant.PlanStep
---@param labels table<string, true>
---@return string
local function detail(step, labels)
  local texts = {}
  for _, one in ipairs(step.details) do
    texts[#texts + 1] = labels[one.label] and one.text or nil
  end
  return table.concat(texts, '; ')
end

--- The reasons of a step; empty without any.
---@param step sextant.PlanStep
---@return string
function M.reasons(step)
  return detail(step, REASONS)
end

---@param buf integer
---@return sextant.PlanStep[]
local function steps_of(buf)
  return M.read(api.nvim_buf_get_lines(buf, 0, -1, false))
end

--- The step that a line of a buffer belongs to.
---@param buf integer
---@param line integer from 1
---@return sextant.PlanStep?
function M.at(buf, line)
  for _, step in ipairs(steps_of(buf)) do
    if line >= step.first and line <= step.last then
      return step
    end
  end
end

--- The step of a buffer with the title of another one, the nearest by number; or else the one with its number.
---@param buf integer
---@param other sextant.PlanStep
---@return sextant.PlanStep?
function M.like(buf, other)
  local known, found = steps_of(buf), nil
  for _, step in ipairs(known) do
    local is_nearer = not found or math.abs(step.number - other.number) < math.abs(found.number - other.number)
    if step.title == other.title and is_nearer then
      found = step
    end
  end
  return found or known[math.min(other.number, #known)]
end

--- The line of a step, by its number.
---@param buf integer
---@param number integer
---@return integer?
function M.line(buf, number)
  local step = steps_of(buf)[number]
  return step and step.first
end

--- The numbers of the steps whose details a window shows.
---@param buf integer
---@param win integer
---@return integer[]
function M.unfolded(buf, win)
  return api.nvim_win_call(win, function()
    local open = vim.tbl_filter(function(step)
      return step.last > step.first and vim.fn.foldclosed(step.first) == -1
    end, vim.wo.foldenable and steps_of(buf) or {})
    return vim.tbl_map(function(step)
      return step.number
    end, open)
  end)
end

--- Folds the details of all steps but these. The folds are made by hand for each text: while the user is in Insert mode,
--- in whatever window, Neovim computes none.
---@param buf integer
---@param win integer
---@param shown integer[] the numbers of the steps whose details are shown
function M.fold(buf, win, shown)
  local known = steps_of(buf)
  api.nvim_win_call(win, function()
    vim.cmd('normal! zE')
    for _, step in ipairs(known) do
      if step.last > step.first then
        vim.cmd(('%d,%dfold'):format(step.first, step.last))
      end
      if step.last > step.first and vim.list_contains(shown, step.number) then
        vim.cmd(('%dfoldopen'):format(step.first))
      end
    end
  end)
end

--- The line of the step that a plan stands at: the first one that is still open.
---@param buf integer
---@return integer?
function M.next_line(buf)
  for _, step in ipairs(steps_of(buf)) do
    if step.mark == ' ' then
      return step.first
    end
  end
end

--- The text of a plan in which one step has another mark.
---@param markdown string
---@param number integer
---@param mark string
---@return string
function M.marked(markdown, number, mark)
  local at = 0
  local lines = vim.split(markdown, '\n', { plain = true })
  for index, line in ipairs(lines) do
    if line:find('^%- %[.%] ') then
      at = at + 1
      if at == number then
        lines[index] = line:gsub('^%- %[.%]', '- [' .. mark .. ']', 1)
      end
    end
  end
  return table.concat(lines, '\n')
end

-- The file that every path is in, or the folder, with the slash behind it.
---@param paths string[]
---@return string
local function common(paths)
  local shared
  for _, path in ipairs(paths) do
    local file = path:match('^(.-)::') or path
    if not shared then
      shared = file
    end
    while shared ~= '' and shared ~= file and not (vim.endswith(shared, '/') and vim.startswith(file, shared)) do
      shared = shared:gsub('/$', ''):match('^(.*/)') or ''
    end
  end
  return shared or ''
end

-- A path without the part that all have.
local function short(path, shared)
  local rest = vim.startswith(path, shared) and path:sub(#shared + 1) or path
  rest = rest:gsub('^::', '')
  return rest ~= '' and rest or vim.fs.basename(path)
end

-- The names that a width has room for: all, or the first ones and the number of the others.
---@param names string[]
---@param width integer
---@return string?
local function fitting(names, width)
  for count = #names, 1, -1 do
    local more = count < #names and (', %d more'):format(#names - count) or ''
    local text = table.concat(names, ', ', 1, count) .. more
    if api.nvim_strwidth(text) <= width then
      return text
    end
  end
end

-- The note on an open step that goes beyond the scope of the request.
---@param step sextant.PlanStep
---@return string
local function beyond(step)
  local is_outside = vim.iter(step.details):any(function(detail)
    return OUTSIDE[detail.label]
  end)
  return is_outside and step.mark == ' ' and '  outside the scope' or ''
end

--- The lines of a plan as they are shown: the titles of steps do without the folders that stand behind the plan's title.
---@param lines string[]
---@return string[]
function M.without_shared(lines)
  local paths, known = {}, M.read(lines)
  for _, step in ipairs(known) do
    vim.list_extend(paths, step.symbols)
  end
  local shared = common(paths)
  if not shared:find('/', 1, true) then
    return lines
  end
  local folder = shared:match('^.*/')
  for _, step in ipairs(known) do
    lines[step.first] = lines[step.first]:gsub('%f[%w_%.%-/]' .. vim.pesc(folder) .. '%f[%w_%.%-]', '')
  end
  return lines
end

-- The fewest cells of a note, and what stands before it.
local NOTE_WIDTH, NOTE = 12, '  · '

-- A note in the rest of a row, whose last cell stays free: a full row takes another one. Empty where it has no room.
---@param words string
---@param room integer cells
---@return string
local function note(words, room)
  room = room - api.nvim_strwidth(NOTE) - 1
  if words == '' or room < NOTE_WIDTH then
    return ''
  end
  return NOTE .. require('sextant.ui.say').cut(words, room)
end

-- Why a step is there, and what it is expected to bring.
---@param step sextant.PlanStep
---@return string
local function forecast(step)
  local parts = { M.reasons(step), detail(step, EXPECTED) }
  return table.concat(
    vim.tbl_filter(function(part)
      return part ~= ''
    end, parts),
    ' → '
  )
end

---@class sextant.Risk the estimate of a request
---@field level string
---@field reasons string[]

-- `- [ ] `, behind which a title begins.
local MARK = 6

--- Puts the symbols of each step behind it, or before a title that leaves them no room, and the part of their paths
--- that all have behind the plan's title, once; behind both, dimmed, what speaks for a step, and the risk.
---@param buf integer
---@param running? integer the number of the step that runs
---@param risk? sextant.Risk
---@param width integer the columns for a line
function M.draw(buf, running, risk, width)
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  local steps, paths = steps_of(buf), {}
  for _, step in ipairs(steps) do
    vim.list_extend(paths, step.symbols)
  end
  local shared = common(paths)
  local function put(line, column, text, more, note)
    -- A folded line shows inline text alone.
    local words = { { text, 'SextantHint' }, { note or '', 'SextantWarning' } }
    local mark = { virt_text = words, virt_text_pos = 'inline', hl_mode = 'combine' }
    api.nvim_buf_set_extmark(buf, NAMESPACE, line - 1, column, vim.tbl_extend('force', mark, more or {}))
  end
  for _, step in ipairs(steps) do
    local names = vim.tbl_map(function(path)
      return short(path, shared)
    end, step.symbols)
    local more = step.number == running and { line_hl_group = 'SextantRunning' } or {}
    local outside = beyond(step)
    local room = width - MARK - api.nvim_strwidth(step.title .. outside) - 2
    local text = fitting(names, room)
    if #names > 0 and not text then
      put(step.first, MARK, (fitting(names, math.floor(width / 2)) or names[1]) .. outside .. ' ', more)
    else
      local behind = '  ' .. (text or '')
      local words = note(forecast(step), room + 2 - api.nvim_strwidth(behind))
      put(step.first, MARK + #step.title, behind .. words, more, outside)
    end
  end
  local risky = risk and ('risk %s: %s'):format(risk.level, table.concat(risk.reasons, '; ')) or ''
  for at, line in ipairs(#steps > 0 and api.nvim_buf_get_lines(buf, 0, steps[1].first, false) or {}) do
    if line:find('^# ') then
      local place = shared ~= '' and (' in ' .. shared) or ''
      put(at, #line, place .. note(risky, width - api.nvim_strwidth(line .. place)))
      break
    end
  end
end

--- Folds the details in a window; a folded step looks as it does unfolded.
---@param win integer
function M.fold_in(win)
  local wanted = {
    foldmethod = 'manual',
    foldtext = '',
    foldlevel = 0,
    foldminlines = 0,
    foldenable = true,
    fillchars = 'fold: ',
    winhighlight = 'Folded:NormalFloat',
  }
  for option, value in pairs(wanted) do
    api.nvim_set_option_value(option, value, { win = win, scope = 'local' })
  end
  M.fold(api.nvim_win_get_buf(win), win, {})
end

--- Shows or folds the details of the step under the cursor; those that are shown are in sight.
---@param buf integer
---@return boolean on_step whether the cursor is on a step
function M.toggle(buf)
  local step = M.at(buf, vim.fn.line('.'))
  if not step or step.last == step.first then
    return step ~= nil
  end
  vim.cmd('normal! za')
  if vim.fn.foldclosed(step.first) == -1 and step.last > vim.fn.line('w$') then
    vim.fn.winrestview({ topline = step.first })
  end
  return true
end

return M
