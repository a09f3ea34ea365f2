--- Shows the open question with what would be written, and takes its answer: by number, in words, or from a list.
local status = require('sextant.status')

local M = {}
local api = vim.api

-- Lines of the text to be written that the plan window shows; the answer window has all of it.
local MOST = 12
-- Its rows beside these lines: the two fences, and the number of the lines that are left.
local FRAME = 3

---@class sextant.Question
---@field text string
---@field options string[]
---@field shows? string the text that would be written, line by line

-- True if a question waits for its answer now.
local function is_open()
  return status.now().question ~= nil
end

--- The lines of the text that would be written; none without one.
---@param event sextant.Question
---@param most? integer
---@return string[]
local function shown(event, most)
  if not event.shows then
    return {}
  end
  local lines = vim.split(event.shows, '\n', { plain = true })
  local left = most and #lines - most or 0
  if left > 0 then
    lines = vim.list_slice(lines, 1, most)
    lines[#lines + 1] = ('… %s; :AgentShow has all of it'):format(
      require('sextant.ui.say').counted(left, 'more line')
    )
  end
  table.insert(lines, 1, '```diff')
  lines[#lines + 1] = '```'
  return lines
end

-- The rows that lines take, where words move to the next row whole.
---@param lines string[]
---@param columns integer
---@return integer
local function rows(lines, columns)
  local count = 0
  for _, line in ipairs(lines) do
    count = count + math.max(1, #require('sextant.ui.wrapped_text').rows(line, columns))
  end
  return count
end

-- The options beside each other, in as few rows as they need.
---@param options string[]
---@param columns integer
---@return string[]
local function packed(options, columns)
  local lines = {}
  for _, option in ipairs(options) do
    local beside = #lines > 0 and ('%s · %s'):format(lines[#lines], vim.trim(option))
    if beside and api.nvim_strwidth(beside) <= columns then
      lines[#lines] = beside
    else
      lines[#lines + 1] = option
    end
  end
  return lines
end

-- The bar of the answer window takes one of its rows.
local BAR = 1

-- The most rows that the answer window can have for text.
local function most_rows()
  return require('sextant.ui.room').most({ kind = 'answer', wanted = 0 }) - BAR
end

---@param options string[]
---@return string[]
local function numbered(options)
  local lines = {}
  for choice, option in ipairs(options) do
    lines[#lines + 1] = ('  %d. %s'):format(choice, option)
  end
  return lines
end

-- The question with its options, and the text to be written.
---@param event sextant.Question
---@param options string[]
---@return string[]
local function whole(event, options)
  return vim.list_extend(vim.list_extend({ '? ' .. event.text }, options), shown(event))
end

--- The question as it stands in an earlier conversation: nobody answers it there.
---@param event sextant.Question
---@return string[]
function M.past_lines(event)
  return whole(event, numbered(event.options))
end

--- The answer of the user as a line of the conversation.
---@param words string
---@return string
function M.quoted(words)
  return '> ' .. words:gsub('\n', '\n> ')
end

--- The question for the answer window: the text to be written stands below the options, which stay in sight. Where the
--- window has no room for all, the options stand beside each other.
---@param event sextant.Question
---@return string[]
function M.lines(event)
  local options = numbered(event.options)
  local function with(these)
    local lines = whole(event, these)
    lines[#lines + 1] = '  1 … or i here, :AgentAnswer with a number or with words'
    return lines
  end
  local lines, win = with(options), require('sextant.ui.scratch').window('answer')
  local columns = win and api.nvim_win_get_width(win)
  if columns and rows(vim.split(table.concat(lines, '\n'), '\n'), columns) > most_rows() then
    return with(packed(options, columns))
  end
  return lines
end

--- Gives the answer window the rows of a question, as far as the code can spare them; without one, its own rows again.
---@param first? integer the line that the question begins at
function M.make_room(first)
  local own = require('sextant.options').resolve(require('sextant').given).window.height
  for _, win in ipairs(require('sextant.ui.scratch').windows('answer')) do
    local needed = first and api.nvim_win_text_height(win, { start_row = first - 1, end_row = -2 }).all + BAR or 0
    require('sextant.ui.room').fit(win, math.max(own, needed))
  end
end

-- The question and its options in a room: the options stand beside each other where they need it, and of a long question
-- there is the beginning.
---@param event sextant.Question
---@param columns integer
---@param room integer
---@return string[]
local function asked(event, columns, room)
  local options = {}
  for choice, option in ipairs(event.options) do
    options[#options + 1] = ('  %d  %s'):format(choice, option)
  end
  local lines = vim.split('? ' .. event.text, '\n', { plain = true })
  if rows(lines, columns) + rows(options, columns) > room then
    options = packed(options, columns)
  end
  local kept = math.max(1, room - rows(options, columns))
  if rows(lines, columns) > kept then
    local text = table.concat(lines, ' '):gsub('%s+', ' ')
    local cut = require('sextant.ui.say').cut
    text = cut(text, kept * columns)
    local least, most = columns, kept * columns
    while least < most do
      local width = math.ceil((least + most) / 2)
      if rows({ cut(text, width) }, columns) <= kept then
        least = width
      else
        most = width - 1
      end
    end
    lines = { cut(text, least) }
  end
  return vim.list_extend(lines, options)
end

--- The question for the plan window, where `g1` answers too. All of it is in sight; a text to be written stands above it
--- as far as there is room, or else below.
---@param event sextant.Question
---@param columns integer of the window
---@param room integer the most rows that it has
---@return string[]
function M.plan_lines(event, columns, room)
  -- A row keeps cells for the space behind a word and for the one before an option.
  local width = columns - 3
  local question = asked(event, width, room)
  local free = room - rows(question, width) - FRAME
  local text = shown(event, math.max(1, math.min(MOST, free)))
  if free < 1 then
    return vim.list_extend(question, text)
  end
  return vim.list_extend(text, question)
end

--- The question with its options, for `:messages`: the first line is the short form.
---@param event sextant.Question
---@return string
function M.message(event)
  local lines = { ('%s :AgentAnswer %s, or words'):format(event.text:match('[^\n]*'), status.numbers(event.options)) }
  for choice, option in ipairs(event.options) do
    lines[#lines + 1] = ('%d. %s'):format(choice, option)
  end
  return table.concat(lines, '\n')
end

local watches = false

-- Reports that a question waits where the last window that shows it was closed.
local function watch()
  if watches then
    return
  end
  watches = true
  local scratch = require('sextant.ui.scratch')
  api.nvim_create_autocmd('WinClosed', {
    group = api.nvim_create_augroup('sextant_question', {}),
    callback = function(args)
      local win = assert(tonumber(args.match))
      if not is_open() or not scratch.is_ours(api.nvim_win_get_buf(win)) then
        return
      end
      vim.schedule(function()
        if is_open() and not scratch.window('answer') and not scratch.window('plan') then
          require('sextant.ui.say').say('a question waits; :AgentShow shows it, :AgentAnswer answers it')
        end
      end)
    end,
  })
end

-- Gets the user's answer to the open question, as a line of the conversation.
---@type fun(line: string)
local heard

--- The conversation takes each answer of the user's.
---@param run fun(line: string)
function M.on_answer(run)
  heard = run
end

---@param answer integer|string
local function quote(answer)
  local now = status.now()
  local option = type(answer) == 'number' and (now.options or {})[answer]
  local words = option and ('%d. %s'):format(answer, option) or type(answer) == 'string' and answer
  if heard and now.question and words then
    heard(M.quoted(words))
  end
end

--- Answers with a number of an option, or with words.
---@param answer integer|string
---@param root? string
function M.answer(answer, root)
  quote(answer)
  local given = type(answer) == 'number' and { choice = answer } or { words = answer }
  given.root = root
  require('sextant.ui.plan_change').goes_on(true)
  require('sextant.rpc.channel').send('answer', given)
end

--- Asks for words and answers with them.
---@param root? string
function M.words(root)
  vim.ui.input({ prompt = 'Answer: ' }, function(words)
    if words and vim.trim(words) ~= '' then
      M.answer(vim.trim(words), root)
    end
  end)
end

--- What a command line means: `2`, an option with its number as completion gives it, or words.
---@param text string
---@return integer|string
function M.read(text)
  local number, rest = text:match('^(%d+)%s*(.*)$')
  local option = number and (status.now().options or {})[tonumber(number)]
  if number and (rest == '' or rest == option) then
    return assert(tonumber(number))
  end
  return text
end

--- Maps the numbers in a window of ours. While a task runs, a number is not a count there: until the key behind a
--- count comes, Neovim takes no edit of the agent.
---@param buf integer
---@param answer fun(choice: integer)
function M.map(buf, answer)
  watch()
  for choice = 1, 9 do
    local key = tostring(choice)
    local desc = 'Answer ' .. key .. ' to the open question'
    require('sextant.ui.scratch').map(buf, key, function()
      if is_open() then
        answer(choice)
      elseif status.now().state == 'running' then
        require('sextant.ui.say').say('no question is open')
      else
        -- Before what is typed ahead.
        api.nvim_feedkeys((vim.v.count > 0 and vim.v.count or '') .. key, 'ni', false)
      end
    end, desc)
    require('sextant.ui.scratch').map(buf, 'g' .. key, function()
      answer(choice)
    end, desc)
  end
end

--- Lets the user choose in `vim.ui.select` as soon as nothing is typed, where the options want it.
---@param event sextant.Question
function M.select(event)
  if require('sextant.options').resolve(require('sextant').given).questions ~= 'select' then
    return
  end
  local still = function()
    return status.now().question == event.text
  end
  require('sextant.ui.say').when_idle(function()
    if not still() then
      return
    end
    local items = vim.list_extend(vim.list_extend({}, event.options), { 'answer in words …' })
    vim.ui.select(items, { prompt = event.text:match('[^\n]*') }, function(_, choice)
      if not choice or not still() then
        return
      end
      if choice == #items then
        return M.words()
      end
      M.answer(choice)
    end)
  end)
end

return M
