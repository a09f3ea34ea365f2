--- Words the count of a review, and leaves the end of its task beside it in the one line that a message has.
local say = require('sextant.ui.say')

local M = {}

---@class sextant.SaidEnd the message of the end of a task
---@field text string
---@field short? string
---@field tail string

---@class sextant.TaskEnd
---@field verdict? string the reason why the task is not done
---@field said? sextant.SaidEnd the message of its end, where no window shows that

--- The count of a review.
---@param review sextant.Review
---@param what? string stands before the count, which the headers of the changes have too
---@return string
function M.progress(review, what)
  local left = review.total > 0 and ('reviewed %d of %s'):format(review.reviewed, say.counted(review.total, 'change'))
  local count = left or 'the review is over: no change is left'
  return what and ('%s; %s'):format(what, count) or count
end

---@param said sextant.SaidEnd
---@param behind string
local function say_with(said, behind)
  say.say(said.text, nil, nil, { short = said.short, tail = ('%s · %s'):format(said.tail, behind) })
end

--- Reports the end of a task that has ended the review.
---@param said sextant.SaidEnd
function M.report_over(said)
  say_with(said, 'the review is over')
end

--- Reports the count of a review that is open now, with the end of the task before it.
---@param review sextant.Review
---@param ending sextant.TaskEnd
function M.report(review, ending)
  local said = ending.said
  -- The window of the answer has the figures; the verdict alone leaves room for the way.
  if said and not (ending.verdict and said.tail == '') then
    return say_with(said, ('reviewed %d of %d'):format(review.reviewed, review.total))
  end
  local verdict = ending.verdict and ending.verdict .. ' ' or ''
  say.say(('%s%s; %s'):format(verdict, M.progress(review), require('sextant.ui.review_places').way(review)))
end

return M
