--- Asks the request of an earlier task again, with its scope and mode: a key of the history and of the conversations.
local M = {}

---@param task string the task, or the last one of a conversation
---@param root string its workspace
function M.ask(task, root)
  local rpc = require('sextant.rpc.channel')
  require('sextant.rpc.inquiry').ask('asked_before', { task = task, root = root }, function(known)
    local failure = known.failure
    if failure then
      local text = failure.hint ~= '' and (failure.message .. '; ' .. failure.hint) or failure.message
      return require('sextant.ui.say').say(text, vim.log.levels.ERROR)
    elseif known.plans then
      require('sextant.ui.plan').open(known.text)
    else
      local state = require('sextant.status').now().state
      local alone = state ~= 'running' and state ~= 'question'
      require('sextant.ui.answer').expect(known.text, alone, false)
    end
    rpc.send('ask_again', { task = task, root = root })
  end)
end

return M
