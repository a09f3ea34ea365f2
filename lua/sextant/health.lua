--- :checkhealth sextant: versions, the handshake, the options, the model, the record, the servers, the commands.
local M = {}

---@return boolean usable
local function binary(health, options)
  local rpc = require('sextant.rpc.channel')
  local path = rpc.find(options)
  if not path then
    health.error('no sextant binary found', {
      'looked for: ' .. table.concat(rpc.candidates(options), ', '),
      ('run `cargo build --release` in %s'):format(rpc.folder),
      'or set `binary` in setup()',
    })
    return false
  end
  local result = vim.system({ path, '--version' }, { timeout = 5000 }):wait()
  local found = vim.trim(result.stdout or ''):match('(%d+%.%d+%.%d+)')
  local wanted = require('sextant').version
  if found == wanted then
    health.ok(('%s, version %s'):format(path, found))
    return true
  else
    health.error(('%s is version %s, this plugin needs %s'):format(path, found or 'unknown', wanted), {
      ('run `cargo build --release` in %s'):format(rpc.folder),
    })
    return false
  end
end

-- Does the handshake: a process that answers is of the right version and takes the options. One that refuses gives the
-- cause, with the fix in parentheses at its end.
---@return boolean done
local function process(health)
  local rpc = require('sextant.rpc.channel')
  local info, ms, why = rpc.handshake()
  if info then
    health.ok(('handshake done in %d ms: model %s, workspace %s'):format(ms, info.model, info.root))
    return true
  end
  local cause, fix = (why or ''):match('^(.-) (%b())$')
  if cause then
    local given, allowed = cause:match('unknown variant `([^`]+)`, expected one of (.*)$')
    local choices = vim.iter((allowed or ''):gmatch('`([^`]+)`')):totable()
    cause = cause .. (given and require('sextant.nearest_name').hint(given, choices) or '')
    health.error('the handshake failed: ' .. cause, { fix:sub(2, -2) })
  else
    health.error('the handshake failed: ' .. (why or 'no answer'), {
      'look into ' .. rpc.log_path(),
      ('run `cargo build --release` in %s'):format(rpc.folder),
    })
  end
  return false
end

-- The process and its model. A cause stands alone: what follows from it would only hide it.
local function agent(health, options, is_valid)
  local model = require('sextant.health_model')
  local has_key = not is_valid or model.key(health, options.model)
  local found = binary(health, options)
  if not is_valid then
    health.info('model and handshake are checked when setup() has no mistakes')
  elseif not has_key then
    health.info('the handshake is done when the model has its key')
    model.address(health, options.model)
  elseif found and process(health) then
    model.address(health, options.model)
  end
  health.info('log: ' .. require('sextant.rpc.channel').log_path())
end

-- Where the record of each workspace lies, and whether it can be written.
local function database(health)
  local home = vim.env.XDG_STATE_HOME
  home = home and home ~= '' and home or vim.fs.normalize('~/.local/state')
  local folder = vim.fs.joinpath(home, 'sextant')
  local there = folder
  while vim.fn.isdirectory(there) == 0 and vim.fs.dirname(there) ~= there do
    there = vim.fs.dirname(there)
  end
  if vim.fn.filewritable(there) == 2 then
    health.ok('memory and undo: ' .. folder)
  else
    health.error(('memory and undo: %s cannot be written'):format(there), {
      ('make it yours: `chown -R $USER %s`'):format(there),
      'or set XDG_STATE_HOME to a folder of yours',
    })
  end
end

-- The parsers that colour the windows; without them the text is plain. Those of the symbols are in the binary.
local function grammars(health)
  for _, language in ipairs({ 'markdown', 'markdown_inline' }) do
    if pcall(vim.treesitter.language.add, language) and vim.treesitter.language.add(language) then
      health.ok('grammar ' .. language)
    else
      health.warn(('grammar %s is missing: answers and plans are not coloured'):format(language), {
        'Neovim comes with it; start it with its own $VIMRUNTIME',
      })
    end
  end
end

-- How it is known that a server's report is of the text that was asked about.
---@param client vim.lsp.Client
---@return string words, string[]? fix
local function freshness(client)
  local servers = require('sextant.lsp.servers')
  local buf = next(client.attached_buffers)
  local way = buf and servers.way(client, buf)
  if not way then
    return 'nothing is asked of it yet: it has no buffer'
  elseif way == 'pull' then
    return 'exact: its diagnostics are pulled for a text'
  elseif way == 'command' then
    return 'exact: tsserver is asked about a text'
  elseif way == 'diagnose' then
    return 'exact: gopls publishes what it finds in a text when it is asked to'
  elseif servers.publishes_once(client) then
    return 'versioned: it publishes each version once and whole'
  end
  local fix = ("if it publishes each version once and whole, add '%s' to `publishes_once` in setup()"):format(
    client.name
  )
  if servers.knows(client, 'publishes_at_pull') then
    fix = "add '--preview' to its `cmd`: it then answers pulls"
  end
  return 'not known: its publishes may be of an older text, so answers about edits stay partial', { fix }
end

local function servers(health)
  local clients = vim.lsp.get_clients()
  if not require('sextant.health_languages').check(health) and #clients == 0 then
    health.warn(
      'no language server is running',
      { 'without one nothing is known of what an edit does to the diagnostics', 'see :help lsp-quickstart' }
    )
  end
  for _, client in ipairs(clients) do
    local words, fix = freshness(client)
    local buffers = require('sextant.ui.say').counted(vim.tbl_count(client.attached_buffers), 'buffer')
    local line = ('%s (in %s): %s'):format(client.name, buffers, words)
    if fix then
      health.warn(line, fix)
    else
      health.ok(line)
    end
  end
end

-- A running process knows the programs it found; before that, PATH shows those it will find, except those inside the
-- project.
local function commands(health, options)
  local info = require('sextant.rpc.channel').info
  local rows = info and info.commands
  if not rows then
    rows = vim.tbl_map(function(command)
      local name = type(command) == 'string' and command or command.name
      local program = type(command) == 'string' and command or (command.command or {})[1] or ''
      local path = vim.fn.exepath(program)
      return { name = tostring(name), program = path ~= '' and path or nil }
    end, options.commands)
  end
  if #rows == 0 then
    health.info('no command is asked beside them, see :help sextant-option-commands')
  end
  for _, row in ipairs(rows) do
    if row.program then
      health.ok(('command %s: %s'):format(row.name, row.program))
    else
      health.warn(('command %s is not installed'):format(row.name), {
        'install it, or put its folder on PATH; folders inside of the project are skipped',
      })
    end
  end
end

-- The part of the help about an option of `setup()` that is wrong, or that was meant.
---@param problem string
---@return string tag
local function help_of(problem)
  local name = problem:match('^option `([^`]+)`') or problem:match('did you mean `([^`]+)`')
  for _, row in ipairs(require('sextant.options').rows) do
    if row.name == name then
      return 'sextant-option-' .. name
    end
  end
  return 'sextant-options'
end

function M.check()
  local health = vim.health
  health.start('sextant')
  if require('sextant.neovim').is_supported() then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.11 or newer is needed', { 'update Neovim' })
  end
  local options, problems = require('sextant.options').resolve(require('sextant').given)
  if #problems == 0 then
    health.ok('options')
  end
  for _, problem in ipairs(problems) do
    health.error('setup(): ' .. problem, { 'see :help ' .. help_of(problem) })
  end
  agent(health, options, #problems == 0)
  database(health)
  grammars(health)
  health.start('sextant: language servers')
  servers(health)
  commands(health, options)
end

return M
