--- Maps the keys of the answer window, and shows them.
local scratch = require('sextant.ui.scratch')

local M = {}

-- Answers the open question in words, or else asks on from the answer, about the code that the user was at last.
local function ask_on()
  if require('sextant.status').now().question then
    return require('sextant.ui.question').words()
  end
  vim.cmd('AgentAsk')
end

local KEYS = {
  { '<CR>', 'go to the code of the name under the cursor (also gf)' },
  { 'gp', 'apply the code block under the cursor to a symbol' },
  { 'i', 'ask on; answer the open question in words' },
  { '1 … 9', 'answer the open question (also g1 …)' },
  { 'x', 'take the last request back that waits' },
  { '<C-c>', 'stop the task' },
  { 'q', 'close the window; :AgentShow opens it again' },
  { 'g?', 'show these keys' },
}

local function help()
  local lines = vim.tbl_map(function(key)
    return ('%-8s %s'):format(key[1], key[2])
  end, KEYS)
  require('sextant.ui.key_help').open('Answer', lines)
end

---@param buf integer
function M.map(buf)
  local function go()
    require('sextant.ui.go_to_code').go()
  end
  scratch.map(buf, '<C-c>', '<Cmd>AgentStop<CR>', 'Stop the task')
  scratch.map(buf, 'x', '<Cmd>AgentStop next<CR>', 'Take the last request back that waits')
  scratch.map(buf, '<CR>', go, 'Go to the code of the name under the cursor')
  scratch.map(buf, 'gf', go, 'Go to the code of the name under the cursor')
  scratch.map(buf, 'gp', '<Cmd>AgentApply<CR>', 'Apply the code block under the cursor')
  scratch.map(buf, 'i', ask_on, 'Ask on')
  scratch.map(buf, 'g?', help, 'Show the keys')
  local question = require('sextant.ui.question')
  question.map(buf, question.answer)
end

return M
