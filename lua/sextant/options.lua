--- Defines the options: one row each, from which the defaults, the checks and the message to the binary derive.
--
-- `tests/docs.rs` compares the classes below and the help with the rows, and names what is missing.
local M = {}

---@class sextant.Options
---@field binary? string Path of the sextant binary; without it the plugin's own build folder, then PATH.
---@field model? table The model; `offline` needs no network and no key.
---@field mode? 'planner'|'supervised' How a plan is carried out when the work leaves it: planned again, or paused with a question.
---@field commands? (string|table)[] Programs that are asked for diagnostics beside the language servers, by name or in full.
---@field publishes_once? string[] Names of further language servers that publish the diagnostics of a version once and whole.
---@field diagnostics? sextant.Options.diagnostics
---@field save? 'if_clean'|'never' Writes files after an edit where they had no unsaved changes of yours, or never.
---@field review? 'before'|'after'|'never' When you review edits: each one before it is written, all at the end of their task, or when you ask for it.
---@field follow? boolean Show each edit in a code window of the tab that you are not in.
---@field questions? 'window'|'select' Where a question is answered: in Sextant's windows, or in `vim.ui.select` as soon as you do not type.
---@field quickfix? sextant.Options.quickfix
---@field sign? sextant.Options.sign
---@field window? sextant.Options.window
---@field limits? sextant.Options.limits
---@field commands_allowed? string[] Commands that the agent may run without asking you, each the beginning of one.
---@field commands_env? string[] Environment variables that these are given beside what every program needs, by name.
---@field memory? sextant.Options.memory
---@field rpc? sextant.Options.rpc
---@field preferences? table<string, string> What you prefer in every project, by name.

---@class sextant.Options.diagnostics
---@field on_edit? boolean Answer every edit with the diagnostics that it introduced.
---@field timeout_ms? integer Milliseconds for one edit's diagnostics, everything included.
---@field start_timeout_ms? integer Milliseconds for the first look at a file, while a server may still be starting.
---@field reach? integer Files that are not open and use a name that an edit changes: so many are looked at.
---@field severity_floor? 'error'|'warning'|'info'|'hint' The least severity that is reported.
---@field max? integer The most new diagnostics that one answer lists.
---@field new_errors? 'keep'|'undo_syntax'|'undo' What becomes of a task that ends with new errors: kept, taken back where a file does not parse any more, or taken back.

---@class sextant.Options.quickfix
---@field open? boolean Open the quickfix list when a task has introduced diagnostics. The focus stays where it is.

---@class sextant.Options.sign
---@field text? string Sign at each diagnostic that a task introduced, as long as it is there; an empty text shows none.
---@field priority? integer Priority of this sign; above 10 it covers the one of the diagnostic.

---@class sextant.Options.window
---@field height? integer Lines of the answer window.
---@field plan? 'float'|'split' How the plan is shown: over the lower half of the screen, or in a window below the code.

---@class sextant.Options.limits
---@field steps? integer The most steps of one task.
---@field tokens? integer The most tokens of one task; 0 is no limit.
---@field seconds? integer The most seconds of one task; 0 is no limit.
---@field cost? number The most that one task may cost; 0 is no limit.
---@field command_seconds? integer Seconds after which a command is killed.

---@class sextant.Options.memory
---@field enabled? boolean Remember from task to task, in the user's state folder.
---@field session? string The name of what belongs together.
---@field checkpoints_mb? integer Megabytes that the states to go back to may take.

---@class sextant.Options.rpc
---@field port? boolean Serve the session on a port of this machine too, for programs that know its token.

---@class sextant.Option
---@field name string dotted where it is inside of another
---@field type string as LuaCATS writes it; whatever is inside of a table the binary checks
---@field default any
---@field choices? string[]
---@field help string one line
---@field here? boolean whether it concerns this plugin alone, and is not passed on

---@type sextant.Option[]
M.rows = {
  {
    name = 'binary',
    type = 'string',
    help = "Path of the sextant binary; without it the plugin's own build folder, then PATH.",
    here = true,
  },
  {
    name = 'model',
    type = 'table',
    default = { provider = 'offline' },
    help = 'The model; `offline` needs no network and no key.',
  },
  {
    name = 'mode',
    type = 'string',
    default = 'planner',
    choices = { 'planner', 'supervised' },
    help = 'How a plan is carried out when the work leaves it: planned again, or paused with a question.',
  },
  {
    name = 'commands',
    type = '(string|table)[]',
    default = {},
    help = 'Programs that are asked for diagnostics beside the language servers, by name or in full.',
  },
  {
    name = 'publishes_once',
    type = 'string[]',
    default = {},
    help = 'Names of further language servers that publish the diagnostics of a version once and whole.',
    here = true,
  },
  {
    name = 'diagnostics.on_edit',
    type = 'boolean',
    default = true,
    help = 'Answer every edit with the diagnostics that it introduced.',
  },
  {
    name = 'diagnostics.timeout_ms',
    type = 'integer',
    default = 1000,
    help = "Milliseconds for one edit's diagnostics, everything included.",
  },
  {
    name = 'diagnostics.start_timeout_ms',
    type = 'integer',
    default = 30000,
    help = 'Milliseconds for the first look at a file, while a server may still be starting.',
  },
  {
    name = 'diagnostics.reach',
    type = 'integer',
    default = 30,
    help = 'Files that are not open and use a name that an edit changes: so many are looked at.',
  },
  {
    name = 'diagnostics.severity_floor',
    type = 'string',
    default = 'warning',
    choices = { 'error', 'warning', 'info', 'hint' },
    help = 'The least severity that is reported.',
  },
  {
    name = 'diagnostics.max',
    type = 'integer',
    default = 20,
    help = 'The most new diagnostics that one answer lists.',
  },
  {
    name = 'diagnostics.new_errors',
    type = 'string',
    default = 'undo_syntax',
    choices = { 'keep', 'undo_syntax', 'undo' },
    help = 'What becomes of a task that ends with new errors: kept, taken back where a file does not parse any more, or taken back.',
  },
  {
    name = 'save',
    type = 'string',
    default = 'if_clean',
    choices = { 'if_clean', 'never' },
    help = 'Writes files after an edit where they had no unsaved changes of yours, or never.',
  },
  {
    name = 'review',
    type = 'string',
    default = 'never',
    choices = { 'before', 'after', 'never' },
    help = 'When you review edits: each one before it is written, all at the end of their task, or when you ask for it.',
  },
  {
    name = 'follow',
    type = 'boolean',
    default = false,
    help = 'Show each edit in a code window of the tab that you are not in.',
    here = true,
  },
  {
    name = 'questions',
    type = 'string',
    default = 'window',
    choices = { 'window', 'select' },
    help = "Where a question is answered: in Sextant's windows, or in `vim.ui.select` as soon as you do not type.",
    here = true,
  },
  {
    name = 'quickfix.open',
    type = 'boolean',
    default = true,
    help = 'Open the quickfix list when a task has introduced diagnostics. The focus stays where it is.',
  },
  {
    name = 'sign.text',
    type = 'string',
    default = '▸',
    help = 'Sign at each diagnostic that a task introduced, as long as it is there; an empty text shows none.',
    here = true,
  },
  {
    name = 'sign.priority',
    type = 'integer',
    default = 5,
    help = 'Priority of this sign; above 10 it covers the one of the diagnostic.',
    here = true,
  },
  {
    name = 'window.height',
    type = 'integer',
    default = 12,
    help = 'Lines of the answer window.',
    here = true,
  },
  {
    name = 'window.plan',
    type = 'string',
    default = 'float',
    choices = { 'float', 'split' },
    help = 'How the plan is shown: over the lower half of the screen, or in a window below the code.',
    here = true,
  },
  {
    name = 'limits.steps',
    type = 'integer',
    default = 25,
    help = 'The most steps of one task.',
  },
  {
    name = 'limits.tokens',
    type = 'integer',
    default = 0,
    help = 'The most tokens of one task; 0 is no limit.',
  },
  {
    name = 'limits.seconds',
    type = 'integer',
    default = 0,
    help = 'The most seconds of one task; 0 is no limit.',
  },
  {
    name = 'limits.cost',
    type = 'number',
    default = 0,
    help = 'The most that one task may cost; 0 is no limit.',
  },
  {
    name = 'limits.command_seconds',
    type = 'integer',
    default = 60,
    help = 'Seconds after which a command is killed.',
  },
  {
    name = 'commands_allowed',
    type = 'string[]',
    default = {},
    help = 'Commands that the agent may run without asking you, each the beginning of one.',
  },
  {
    name = 'commands_env',
    type = 'string[]',
    default = {},
    help = 'Environment variables that these are given beside what every program needs, by name.',
  },
  {
    name = 'memory.enabled',
    type = 'boolean',
    default = true,
    help = "Remember from task to task, in the user's state folder.",
  },
  {
    name = 'memory.session',
    type = 'string',
    default = 'main',
    help = 'The name of what belongs together.',
  },
  {
    name = 'memory.checkpoints_mb',
    type = 'integer',
    default = 256,
    help = 'Megabytes that the states to go back to may take.',
  },
  {
    name = 'rpc.port',
    type = 'boolean',
    default = false,
    help = 'Serve the session on a port of this machine too, for programs that know its token.',
  },
  {
    name = 'preferences',
    type = 'table<string, string>',
    default = {},
    help = 'What you prefer in every project, by name.',
  },
}

---@type table<string, sextant.Option>
local by_name = {}

--- Every option's default, in the form of an argument of `setup()`.
---@type sextant.Options
M.defaults = {}

for _, row in ipairs(M.rows) do
  by_name[row.name] = row
  local section, key = row.name:match('^(.-)%.(.*)$')
  if section then
    M.defaults[section] = M.defaults[section] or {}
    M.defaults[section][key] = row.default
  else
    M.defaults[row.name] = vim.deepcopy(row.default)
  end
end

--- The choices of an option; nil if they are not a list of words.
---@param name string
---@return string[]?
function M.choices(name)
  return by_name[name].choices
end

--- The user's options over the defaults, and a list of their faults.
---@param given table
---@return sextant.Options options, string[] problems
function M.resolve(given)
  local problems = {}
  if type(given) ~= 'table' then
    return vim.deepcopy(M.defaults), { 'setup() takes a table' }
  end
  require('sextant.option_checks').check(given, M.defaults, by_name, problems)
  if #problems > 0 then
    return vim.deepcopy(M.defaults), problems
  end
  local options = vim.tbl_deep_extend('force', vim.deepcopy(M.defaults), given)
  -- A model is one unit: half of the user's and half of the default would be another model.
  options.model = given.model and vim.deepcopy(given.model) or options.model
  options.commands = vim.deepcopy(given.commands or {})
  return options, problems
end

--- The given options without those that have a fault, for a check of the others.
---@param given table
---@return table
function M.sound(given)
  local kept = {}
  for key, value in pairs(type(given) == 'table' and given or {}) do
    local problems = {}
    require('sextant.option_checks').check({ [key] = value }, M.defaults, by_name, problems)
    kept[key] = #problems == 0 and value or nil
  end
  return kept
end

--- The part of the options for the binary. An empty table is left out: JSON would not know whether it is a list.
---@param options sextant.Options
---@return table
function M.for_binary(options)
  local theirs = {}
  for _, row in ipairs(M.rows) do
    local key = row.name:match('^[^.]*')
    local value = options[key]
    if not row.here and not (type(value) == 'table' and next(value) == nil) then
      theirs[key] = value
    end
  end
  return theirs
end

return M
