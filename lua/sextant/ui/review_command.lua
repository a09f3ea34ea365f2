--- Reads the words of `:AgentReview`, and completes them.
local review = require('sextant.ui.review')
local say = require('sextant.ui.say')

local M = {}

local ACTIONS = { accept = true, reject = true }

--- `:AgentReview`, and its words.
---@param words string[]
---@param place table
---@param lines? integer[]
function M.run(words, place, lines)
  local verb, scope = words[1], words[2]
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
    local known = vim.list_contains({ 'hunk', 'symbol', 'file', 'all' }, scope)
    local reason = table.concat(words, ' ', known and 3 or 2):gsub('^because%s+', '')
    return review.decide(verb, known and scope or 'hunk', reason, lines)
  end
  say.say(('there is no `:AgentReview %s`; use accept, reject, back, send or close'):format(verb), vim.log.levels.WARN)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line), '%s+')
  local second = #words > 2 or #words == 2 and lead == ''
  local list = second and { 'hunk', 'symbol', 'file', 'all' } or { 'accept', 'reject', 'back', 'send', 'close' }
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, list)
end

return M
