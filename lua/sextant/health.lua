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
---@return boolean done whether the handshake was
local function agent(health, options, is_valid)
  local model = require('sextant.health_model')
  local has_key = model.key(health, options.model)
  local found = binary(health, options)
  local is_done = false
  if not is_valid then
    health.info('the handshake is done when setup() has no mistakes')
    if has_key and options.model.provider then
      model.address(health, options.model)
    end
  elseif not has_key then
    health.info('the handshake is done when the model has its key')
    model.address(health, options.model)
  elseif found and process(health) then
    is_done = true
    model.address(health, options.model)
  end
  health.info('log: ' .. require('sextant.rpc.channel').log_path())
  return is_done
end

-- The most milliseconds that the look at the memory file takes here; it reads every page.
local LOOK_MS = 5000

-- The fault of the memory file, which the first task would find.
---@return { file: string, why: string, is_damage: boolean }?
local function memory_fault()
  local result
  require('sextant.rpc.inquiry').ask('memory_fault', {}, function(found)
    result = found
  end)
  vim.wait(LOOK_MS, function()
    return result ~= nil
  end, 5)
  return result and result.fault
end

-- Where the record of each workspace lies, whether it can be written, and the state of this one.
---@param health table
---@param runs boolean whether the process can be asked
local function database(health, runs)
  local home = vim.env.XDG_STATE_HOME
  home = home and home ~= '' and home or vim.fs.normalize('~/.local/state')
  local folder = vim.fs.joinpath(home, 'sextant')
  local there = folder
  while vim.fn.isdirectory(there) == 0 and vim.fs.dirname(there) ~= there do
    there = vim.fs.dirname(there)
  end
  local fault = runs and memory_fault() or nil
  if fault then
    health[fault.is_damage and 'error' or 'warn'](('memory and undo: %s: %s'):format(fault.file, fault.why), {
      fault.is_damage
          and 'the first task moves it to a name of its own beside it and begins a new one; the project loses nothing'
        or 'another process may hold it; look again when it is over',
      'a newer Sextant may have made it: update the plugin and its binary',
    })
  elseif vim.fn.filewritable(there) == 2 then
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

-- Seconds in which a server that was just attached may still register what it offers.
local STARTS_S = 30

-- True if a server was attached a moment ago and has published nothing since.
---@param client vim.lsp.Client
---@return boolean
local function says_nothing_yet(client)
  local is_heard = vim.iter(pairs(client.attached_buffers)):any(function(buf)
    return require('sextant.lsp.publishes').last(client.id, vim.uri_from_bufnr(buf)) ~= nil
  end)
  return not is_heard and os.time() - require('sextant.lsp.servers').attached_since(client) < STARTS_S
end

-- How it is known that a server's report is of the text that was asked about.
---@param client vim.lsp.Client
---@return string words, string[]? fix, boolean? is_open whether that is not known yet
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
  if not servers.has_facts() then
    return 'known once the handshake is done', nil, true
  elseif says_nothing_yet(client) then
    return 'not known yet: it has just started, or was not heard; check again in a moment', nil, true
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
  local starting = vim.tbl_filter(function(client)
    return not client.initialized
  end, vim.lsp.get_clients({ _uninitialized = true }))
  for _, client in ipairs(starting) do
    health.info(client.name .. ' is starting: check again in a moment')
  end
  local is_reported = require('sextant.health_languages').check(health)
  if not is_reported and #clients == 0 and #starting == 0 then
    health.warn(
      'no language server is running',
      { 'without one nothing is known of what an edit does to the diagnostics', 'see :help lsp-quickstart' }
    )
  end
  for _, client in ipairs(clients) do
    local words, fix, is_open = freshness(client)
    local buffers = require('sextant.ui.say').counted(vim.tbl_count(client.attached_buffers), 'buffer')
    local line = ('%s (in %s): %s'):format(client.name, buffers, words)
    if is_open then
      health.info(line)
    elseif fix then
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
  local known, given = require('sextant.options'), require('sextant').given
  local options, problems = known.resolve(given)
  if #problems == 0 then
    health.ok('options')
  else
    -- The other options are checked all the same, but no default in the place of a model that is wrong.
    local sound = known.sound(given)
    options = known.resolve(sound)
    options.model = type(given) == 'table' and given.model ~= nil and not sound.model and {} or options.model
  end
  for _, problem in ipairs(problems) do
    health.error('setup(): ' .. problem, { 'see :help ' .. help_of(problem) })
  end
  database(health, agent(health, options, #problems == 0))
  grammars(health)
  health.start('sextant: language servers')
  servers(health)
  commands(health, options)
end

return M
