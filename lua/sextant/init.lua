--- Setup: keeps the user's options until the first command needs them.
local M = {}

--- The version that the binary must have too.
M.version = '0.1.0'

---@type sextant.Options what the user gave to setup()
M.given = {}

--- What the agent is doing, for a status line. Never waits, and starts nothing.
---@return sextant.Status
function M.status()
  return require('sextant.status').now()
end

--- The same in one line: `waiting for the model 8 s · 1.2k tokens`; empty while nothing runs.
---@return string line of half the width of its window at most
function M.statusline()
  local status = require('sextant.status')
  status.in_line()
  local width = vim.o.laststatus == 3 and vim.o.columns or vim.api.nvim_win_get_width(0)
  return status.now().state == 'idle' and '' or status.line(math.floor(width / 2))
end

--- Asks the agent about the code at the cursor, and calls back at the end.
---@param options sextant.AskOptions see |sextant-api|
function M.ask(options)
  require('sextant.ask').run(options)
end

--- Keeps the options. They are checked when the first command runs; nothing is started here.
---@param opts? sextant.Options see |sextant-options|
function M.setup(opts)
  M.given = opts or {}
end

return M
