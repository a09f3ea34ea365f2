--- The options: defaults, and what is wrong with the user's own.
local M = {}

M.defaults = {
  -- Path of the sextant binary; nil looks in the plugin's own build folder, then in PATH.
  binary = nil,
  -- The model; `offline` needs no network and no key.
  model = { provider = 'offline' },
  -- How a plan is carried out: `planner` plans anew by itself when the work leaves the plan, `supervised` pauses
  -- and asks. Only you change it.
  mode = 'planner',
  -- Programs that are asked for diagnostics beside the language servers: names (ruff, mypy, pytest, cargo), or
  -- commands in full.
  commands = {},
  -- Names of further language servers that publish the diagnostics of a version once and whole. Of any other that is
  -- not known to do so, what it publishes is a guess.
  publishes_once = {},
  diagnostics = {
    -- Answer every edit with the diagnostics that it introduced.
    on_edit = true,
    -- Milliseconds for one edit's diagnostics, everything included.
    timeout_ms = 1000,
    -- Milliseconds for the first look at a file, while a server may still be starting.
    start_timeout_ms = 30000,
    -- The least severity that is reported: error, warning, info, hint.
    severity_floor = 'warning',
    -- The most new diagnostics that one answer lists.
    max = 20,
  },
  -- Whether files are written after an edit: `if_clean` (no unsaved changes of yours) or `never`.
  save = 'if_clean',
  -- Open the quickfix list when a task has introduced diagnostics. The focus stays where it is.
  quickfix = { open = true },
  -- Lines of the answer window.
  window = { height = 12 },
  limits = {
    -- The most steps of one task.
    steps = 25,
    -- The most tokens of one task, its most seconds, and the most that it may cost; 0 is no limit.
    tokens = 0,
    seconds = 0,
    cost = 0,
    -- Seconds after which a command is killed.
    command_seconds = 60,
  },
  -- Commands that the agent may run without asking you, each the beginning of one: 'pytest', 'cargo test'.
  commands_allowed = {},
  -- Environment variables that these are given beside what every program needs, by name.
  commands_env = {},
  -- What is remembered from task to task, in the user's state folder; `session` names what belongs
  -- together.
  memory = {
    enabled = true,
    session = 'main',
    -- Megabytes that the states to go back to may take.
    checkpoints_mb = 256,
  },
  -- What you prefer in every project, by name: `{ style = 'short functions' }`.
  preferences = {},
}

-- Tables whose keys are the binary's business: it checks them itself and says what it does not know.
local open = {
  model = true,
  publishes_once = true,
  commands = true,
  commands_allowed = true,
  commands_env = true,
  preferences = true,
}

-- A list in which each entry is a name or a table; what is in a table the binary checks.
local function check_commands(given, problems)
  if not vim.islist(given) then
    problems[#problems + 1] = 'option `commands` must be a list'
    return
  end
  for i, command in ipairs(given) do
    if type(command) ~= 'string' and type(command) ~= 'table' then
      problems[#problems + 1] = ('option `commands[%d]` must be a name or a table'):format(i)
    end
  end
end

local function check(given, defaults, path, problems)
  for key, value in pairs(given) do
    local name = path .. tostring(key)
    local default = defaults[key]
    if default == nil and name ~= 'binary' then
      problems[#problems + 1] = ('unknown option `%s`'):format(name)
    elseif default ~= nil and type(value) ~= type(default) then
      problems[#problems + 1] = ('option `%s` must be a %s'):format(name, type(default))
    elseif type(default) == 'table' and not open[name] then
      check(value, default, name .. '.', problems)
    end
  end
end

--- The user's options over the defaults, and a list of what is wrong with them.
---@param given table
---@return table options, string[] problems
function M.resolve(given)
  local problems = {}
  if type(given) ~= 'table' then
    return vim.deepcopy(M.defaults), { 'setup() takes a table' }
  end
  check(given, M.defaults, '', problems)
  if type(given.commands) == 'table' then
    check_commands(given.commands, problems)
  end
  table.sort(problems)
  if #problems > 0 then
    return vim.deepcopy(M.defaults), problems
  end
  local options = vim.tbl_deep_extend('force', vim.deepcopy(M.defaults), given)
  -- A model is one thing: half of the user's and half of the default would be another.
  options.model = given.model and vim.deepcopy(given.model) or options.model
  options.commands = vim.deepcopy(given.commands or {})
  return options, problems
end

return M
