--- Reads the words of `:AgentReview`, and completes them.
local review = require('sextant.ui.review')
local say = require('sextant.ui.say')

local M = {}

local ACTIONS = { accept = true, reject = true }
local PARTS = { 'hunk', 'symbol', 'file', 'all' }

-- The words behind the verb: the part that is meant, and the reason of a rejection. An acceptance has no reason.
---@param verb string
---@param words string[]
---@return string? part, string reason
local function read(verb, words)
  local known = vim.list_contains(PARTS, words[2])
  local rest = table.concat(words, ' ', known and 3 or 2):gsub('^because%s+', '')
  if verb == 'accept' and rest ~= '' then
    local given = table.concat(words, ' ', 2)
    say.say(('there is no part `%s`; use hunk, symbol, file or all'):format(given), vim.log.levels.WARN)
    return nil, ''
  end
  return known and words[2] or 'hunk', rest
end

--- `:AgentReview`, and its words.
---@param words string[]
---@param place table
---@param lines? integer[]
function M.run(words, place, lines)
  local verb = words[1]
  if not verb then
    return require('sextant.rpc.channel').send('review', { open = true, wish = { action = 'show' }, place = place })
  elseif verb == 'close' then
    return review.close()
  elseif verb == 'back' then
    return review.bring_back()
  elseif verb == 'send' then
    return review.hand_over()
  elseif ACTIONS[verb] then
    if not review.is_open() then
      return say.say('no review is open; `:AgentReview` opens it', vim.log.levels.WARN)
    end
    local part, reason = read(verb, words)
    return part and review.decide(verb, part, reason, lines)
  end
  say.say(('there is no `:AgentReview %s`; use accept, reject, back, send or close'):format(verb), vim.log.levels.WARN)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line), '%s+')
  local second = #words > 2 or #words == 2 and lead == ''
  local list = second and PARTS or { 'accept', 'reject', 'back', 'send', 'close' }
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, list)
end

return M
