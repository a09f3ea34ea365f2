--- :checkhealth sextant: the binary, the handshake, the options, the servers, the commands.
local M = {}

local function binary(health, options)
  local rpc = require('sextant.rpc.channel')
  local path = rpc.find(options)
  if not path then
    health.error('no sextant binary found', {
      'looked for: ' .. table.concat(rpc.candidates(options), ', '),
      ('run `cargo build --release` in %s'):format(rpc.folder),
      'or set `binary` in setup()',
    })
    return
  end
  local result = vim.system({ path, '--version' }, { timeout = 5000 }):wait()
  local found = vim.trim(result.stdout or ''):match('(%d+%.%d+%.%d+)')
  local wanted = require('sextant').version
  if found == wanted then
    health.ok(('%s, version %s'):format(path, found))
  else
    health.error(('%s is version %s, this plugin needs %s'):format(path, found or 'unknown', wanted), {
      ('run `cargo build --release` in %s'):format(rpc.folder),
    })
  end
end

local function process(health)
  local rpc = require('sextant.rpc.channel')
  if rpc.info then
    health.ok(('running, model %s, workspace %s'):format(rpc.info.model, rpc.info.root))
  else
    health.info('not running; the first command starts it')
  end
  health.info('log: ' .. rpc.log_path())
end

local function servers(health)
  local clients = vim.lsp.get_clients()
  if #clients == 0 then
    health.warn(
      'no language server is running',
      { 'without one nothing is known of what an edit does to the diagnostics', 'see :help lsp-quickstart' }
    )
  end
  for _, client in ipairs(clients) do
    health.ok(
      ('%s (in %s)'):format(
        client.name,
        require('sextant.ui.say').counted(vim.tbl_count(client.attached_buffers), 'buffer')
      )
    )
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
    health.info('no command is asked beside them (:help sextant-option-commands)')
  end
  for _, row in ipairs(rows) do
    if row.program then
      health.ok(('command %s: %s'):format(row.name, row.program))
    else
      health.warn(('command %s is not installed'):format(row.name), {
        'install it, or put its folder on PATH; folders inside of the project are passed over',
      })
    end
  end
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
  else
    health.error('setup(): ' .. table.concat(problems, '; '), { 'see :help sextant-options' })
  end
  binary(health, options)
  process(health)
  health.start('sextant: language servers')
  servers(health)
  commands(health, options)
end

return M
