--- The keys of the list of what waits: each acts on the plan or task under the cursor.
local scratch = require('sextant.ui.scratch')

local M = {}

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
