--- Applies a code block of the answer to a symbol: reads its fence, shows the target that the engine finds, and asks.
local M = {}
local api = vim.api

---@class sextant.CodeBlock
---@field block string its text, without the fence and the fence's indentation
---@field language string the word behind the fence; may be empty
---@field mentioned string the `FILE::SYMBOL` that the words above it name last; may be empty

---@class sextant.BlockWish : sextant.CodeBlock
---@field target string `FILE::SYMBOL`; empty where the engine finds it
---@field place table the user's place in the code
---@field id integer
---@field confirmed? boolean whether the user has seen the target and the effect

-- The block whose target is asked for, and the number of that question. Only the last one is waited for.
---@type sextant.BlockWish?
local wanted = nil
local asked = 0

-- The name of a symbol in the words above a block: in its turn, and below the block before.
---@param lines string[]
---@param first integer
---@param floor integer the last line of the block before
---@return string
local function mentioned(lines, first, floor)
  local number, last = first - 1, nil
  while number > floor and not last and not lines[number]:find('^# ') do
    for name in lines[number]:gmatch('[%w_./-]+::[%w_:.]*[%w_]') do
      last = name
    end
    number = number - 1
  end
  return last or ''
end

-- Every block of these lines, with its first and last line, the fences among them. One that is open yet goes to the end.
---@param lines string[]
---@return { first: integer, last: integer, found: sextant.CodeBlock }[]
local function blocks(lines)
  local all, open = {}, nil
  for number, line in ipairs(lines) do
    local indent, fence, word = line:match('^(%s*)(```+)%s*([^%s`]*)[^`]*$')
    if not fence then
      indent, fence, word = line:match('^(%s*)(~~~+)%s*(%S*)')
    end
    if open then
      local closes = fence and word == '' and vim.startswith(fence, open.fence)
      if closes then
        open.last = number
        all[#all + 1], open = open, nil
      else
        open.lines[#open.lines + 1] = line:gsub('^' .. (' ?'):rep(open.indent), '', 1)
      end
    elseif fence then
      open = { first = number, last = #lines, fence = fence, indent = #indent, word = word, lines = {} }
    end
  end
  all[#all + 1] = open
  local floor = 0
  return vim.tbl_map(function(one)
    local above = mentioned(lines, one.first, floor)
    floor = one.last
    local found = { block = table.concat(one.lines, '\n'), language = one.word, mentioned = above }
    return { first = one.first, last = one.last, found = found }
  end, all)
end

-- The block under the cursor of the answer window, or else the last one that is code.
---@return sextant.CodeBlock?
local function block()
  local buf = require('sextant.ui.answer').text()
  local all = blocks(api.nvim_buf_get_lines(buf, 0, -1, false))
  if buf == api.nvim_get_current_buf() then
    local line = api.nvim_win_get_cursor(0)[1]
    for _, one in ipairs(all) do
      if line >= one.first and line <= one.last then
        return one.found
      end
    end
  end
  for index = #all, 1, -1 do
    -- The question for a consent shows its change in such a block.
    if all[index].found.language ~= 'diff' then
      return all[index].found
    end
  end
end

--- Applies the block that is meant. Without a target the user confirms the one that the engine finds.
---@param target string
---@param place table
function M.apply(target, place)
  local found = block()
  if not found then
    return require('sextant.ui.say').say('no code block is here', vim.log.levels.WARN)
  end
  wanted, asked = vim.tbl_extend('force', found, { target = target, place = place, id = asked + 1 }), asked + 1
  -- For a block that is not shown as it was written the binary asks too, though the target is named.
  require('sextant.rpc.channel').send(target == '' and 'find_target' or 'apply', wanted)
end

--- A target, from the binary: the user confirms it, changes it, or leaves.
---@param event { id: integer, target: string, effect: string, symbols: string[] }
function M.confirm(event)
  local wish = wanted
  if not wish or event.id ~= asked then
    return
  end
  wanted = nil
  require('sextant.ui.mentions').know(event.symbols)
  local prompt = ('Apply the block to this symbol (%s): '):format(event.effect)
  local completion = "customlist,v:lua.require'sextant.ui.mentions'.targets"
  vim.ui.input({ prompt = prompt, default = event.target, completion = completion }, function(target)
    if target and vim.trim(target) ~= '' then
      wish.target, wish.confirmed = vim.trim(target), true
      require('sextant.rpc.channel').send('apply', wish)
    end
  end)
end

return M
