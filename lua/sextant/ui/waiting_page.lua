--- The keys of the list of what waits: each acts on the plan or task under the cursor.
local scratch = require('sextant.ui.scratch')

local M = {}
local api = vim.api

-- Closes the list as soon as what was chosen goes on: it is not up to date from then on, and takes the room of the plan.
-- A refusal leaves it open.
local function close_when_taken()
  api.nvim_create_autocmd('User', {
    group = api.nvim_create_augroup('sextant_waiting', {}),
    pattern = { 'SextantPlan', 'SextantStarted', 'SextantFailed' },
    callback = function(args)
      api.nvim_create_augroup('sextant_waiting', {})
      local win = args.match ~= 'SextantFailed' and scratch.window('waiting')
      if win then
        pcall(api.nvim_win_close, win, true)
      end
    end,
  })
end

--- Maps the keys.
---@param buf integer
---@param event { root: string, entries?: sextant.PageEntry[] }
function M.map(buf, event)
  local tasks = {}
  for _, entry in ipairs(event.entries or {}) do
    tasks[entry.line] = entry.task
  end
  local function send(verb)
    return function()
      local task = tasks[vim.fn.line('.')]
      if not task then
        return require('sextant.ui.say').say('nothing that waits is on this line')
      end
      if verb == 'resume' then
        require('sextant.ui.plan').expect()
        close_when_taken()
      else
        require('sextant.ui.reader').asks('waiting')
      end
      require('sextant.rpc.channel').send(verb, { which = task, root = event.root })
    end
  end
  local keys = {
    { '<CR>', send('resume'), 'Go on with what is under the cursor' },
    { 'x', send('discard'), 'Discard what is under the cursor; its changes stay' },
    { 'R', '<Cmd>AgentResume!<CR>', 'Make the list again' },
  }
  local help = {}
  for _, key in ipairs(keys) do
    scratch.map(buf, key[1], key[2], key[3])
    help[#help + 1] = ('%s  %s'):format(key[1], key[3])
  end
  scratch.map(buf, 'g?', function()
    require('sextant.ui.key_help').open('What waits', help)
  end, 'Show the keys')
end

return M
