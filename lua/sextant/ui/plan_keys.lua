--- Maps the keys of the plan's window: those of the whole plan, and those of the step under the cursor.
local say = require('sextant.ui.say').say
local scratch = require('sextant.ui.scratch')
local steps = require('sextant.ui.plan_steps')

local M = {}

---@class sextant.PlanActions what the window can do with the whole plan
---@field state fun(): sextant.PlanState?
---@field approve fun(steps: 'all'|'one')
---@field change fun()
---@field edit fun()
---@field toggle_reason fun()

-- The step under the cursor.
---@return sextant.PlanStep?
local function here()
  local step = steps.at(0, vim.fn.line('.'))
  if not step then
    say('this line has no step')
  end
  return step
end

---@param actions sextant.PlanActions
---@return string?
local function root(actions)
  local state = actions.state()
  return state and state.root
end

-- The words for a step whose mark is sent and not taken yet.
---@type string?
local marking = nil

--- The binary has read the plan's text, or refused to: reports the mark that a key has given a step.
---@param taken boolean
---@return boolean marked whether it was for a key
function M.marked(taken)
  local words = marking
  marking = nil
  if words and taken then
    say(words)
  end
  return words ~= nil and taken
end

-- Gives the step under the cursor another mark: the text with it becomes the plan, if it is valid.
---@param actions sextant.PlanActions
---@param mark string
---@param words string with the place of the step's number
local function set_mark(actions, mark, words)
  local step, state = here(), actions.state()
  if step and state and state.markdown then
    local text = steps.marked(vim.trim(state.markdown), step.number, mark) .. '\n'
    marking = words:format(step.number)
    require('sextant.rpc.channel').send('write_plan', { text = text, root = state.root })
  end
end

-- Opens the step under the cursor again: one that is done is taken back.
---@param actions sextant.PlanActions
local function retry(actions)
  local step = here()
  if step and (step.mark == 'x' or step.mark == '~') then
    vim.cmd({ cmd = 'AgentUndo', args = { tostring(step.number) } })
  elseif step and step.mark == ' ' then
    say('this step is open already')
  elseif step then
    set_mark(actions, ' ', 'step %d is open again')
  end
end

local function roll_back()
  local step = here()
  if step then
    vim.cmd({ cmd = 'AgentUndo', args = { ('from %d'):format(step.number) } })
  end
end

-- On a step the key goes to its code, anywhere else it approves.
---@param actions sextant.PlanActions
local function go_or_approve(actions)
  local step = steps.at(0, vim.fn.line('.'))
  if not step then
    return actions.approve('all')
  elseif not step.symbols[1] then
    return say('this step names no code')
  end
  require('sextant.rpc.channel').send('locate', { name = step.symbols[1], root = root(actions) })
end

---@type { [1]: string, [2]: string|fun(actions: sextant.PlanActions), [3]: string }[]
local KEYS = {
  { '<CR>', go_or_approve, 'on a step: go to its code; elsewhere: approve the plan and run it' },
  {
    'a',
    function(actions)
      actions.approve('all')
    end,
    'approve the plan and run it',
  },
  {
    's',
    function(actions)
      actions.approve('one')
    end,
    'run the next step',
  },
  {
    'x',
    function(actions)
      set_mark(actions, '-', 'step %d is skipped; `r` opens it again')
    end,
    'skip the step',
  },
  { 'r', retry, 'open the step again; one that is done is taken back' },
  { 'R', roll_back, 'take this step and all behind it back' },
  {
    'K',
    function(actions)
      local step = here()
      if step then
        require('sextant.ui.plan_evidence').show(step, root(actions) or '')
      end
    end,
    'show why the step is there',
  },
  {
    '<Tab>',
    function(actions)
      if steps.toggle(0) then
        require('sextant.ui.plan_cut').mark(vim.api.nvim_get_current_buf())
        require('sextant.ui.plan_view').fill()
      else
        actions.toggle_reason()
      end
    end,
    'show or fold the details of the step; above the steps: the reason',
  },
  {
    'e',
    function(actions)
      actions.edit()
    end,
    'edit the plan as text',
  },
  {
    'c',
    function(actions)
      actions.change()
    end,
    'ask for changes, in your words',
  },
  {
    'gf',
    function()
      require('sextant.ui.go_to_code').go()
    end,
    'go to the code of the name under the cursor',
  },
  { '<C-c>', '<Cmd>AgentStop<CR>', 'stop the plan' },
  { 'q', '<Cmd>close<CR>', 'close the window; :AgentPlan opens it again' },
}

local function help()
  local lines = vim.tbl_map(function(key)
    return ('%-6s %s'):format(key[1], key[3])
  end, KEYS)
  lines[#lines + 1] = '1 … 9  answer the open question (also g1 …)'
  require('sextant.ui.key_help').open('Plan', lines)
end

---@param buf integer
---@param actions sextant.PlanActions
function M.map(buf, actions)
  for _, key in ipairs(KEYS) do
    local run = key[2]
    scratch.map(buf, key[1], type(run) == 'string' and run or function()
      run(actions)
    end, key[3])
  end
  scratch.map(buf, '?', help, 'Show the keys')
  scratch.map(buf, 'g?', help, 'Show the keys')
end

return M
