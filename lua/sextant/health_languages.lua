--- :checkhealth sextant: what checks the languages of the open files; where nothing does, what was tried, and the fix.
local M = {}
local api = vim.api

-- The longest that a program may take to print its version.
local VERSION_MS = 2000

-- The ids of servers for filetypes of another name.
local IDS = { sh = 'shellscript', bash = 'shellscript' }

---@class sextant.LanguageCheckers as src/diagnostics/language_checkers.rs hands them over
---@field title string
---@field languages string[] LSP language ids
---@field install string[] shell commands that install a server
---@field versions table<string, string> the argument with which a program prints its version
---@field command? string the built-in command for it
---@field build_files string[] one of them says how a text is compiled

-- The open files of each language that something can check, by filetype.
---@return table<sextant.LanguageCheckers, table<string, integer[]>>
local function open_languages()
  local info = require('sextant.rpc.channel').info
  local found = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local filetype = vim.bo[buf].filetype
    local is_file = api.nvim_buf_is_loaded(buf) and vim.bo[buf].buflisted and vim.bo[buf].buftype == ''
    for _, row in ipairs(is_file and info and info.languages or {}) do
      if vim.list_contains(row.languages, IDS[filetype] or filetype) then
        found[row] = found[row] or {}
        found[row][filetype] = found[row][filetype] or {}
        table.insert(found[row][filetype], buf)
      end
    end
  end
  return found
end

-- The names of the clients and commands that check these files.
---@param row sextant.LanguageCheckers
---@param buffers integer[]
---@return string[]
local function checkers(row, buffers)
  local servers = require('sextant.lsp.servers')
  local names = {}
  for _, buf in ipairs(buffers) do
    for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
      if not servers.knows(client, 'no_checker') then
        names[client.name] = true
      end
    end
  end
  for _, command in ipairs(require('sextant.rpc.channel').info.commands or {}) do
    local of_it = #command.languages == 0
      or vim.iter(command.languages):any(function(language)
        return vim.list_contains(row.languages, language)
      end)
    if require('sextant.neovim').value(command.program) and of_it then
      names[command.name] = true
    end
  end
  return vim.tbl_keys(names)
end

-- The enabled configurations of servers for a filetype.
---@return vim.lsp.Config[]
local function enabled(filetype)
  local configs = {}
  if vim.lsp.get_configs then
    configs = vim.lsp.get_configs({ enabled = true })
  else
    -- Neovim 0.11 has no other list of them.
    for name in pairs(vim.lsp._enabled_configs or {}) do
      configs[#configs + 1] = vim.lsp.config[name]
    end
  end
  return vim.tbl_filter(function(config)
    return not config.filetypes or vim.list_contains(config.filetypes, filetype)
  end, configs)
end

-- The reason why an enabled server is not attached.
---@param config vim.lsp.Config
---@param versions table<string, string> the argument with which a program prints its version
---@return string
local function why_not(config, versions)
  local program = type(config.cmd) == 'table' and config.cmd[1] or nil
  if program and vim.fn.executable(program) == 0 then
    return ('%s is enabled, and its program %s is not installed'):format(config.name, program)
  end
  local version = program and versions[vim.fs.basename(program)]
  local ran, result = pcall(function()
    return version and vim.system({ program, version }, { timeout = VERSION_MS }):wait()
  end)
  local words = ran and result and result.signal == 0 and result.code ~= 0 and vim.trim(result.stderr or '') or ''
  if words ~= '' then
    return ('%s is enabled, and %s does not run: %s'):format(config.name, program, words:match('^[^\n]*'))
  end
  return ('%s is enabled and not attached: it quit or found no root, see :checkhealth vim.lsp'):format(config.name)
end

---@param row sextant.LanguageCheckers
---@param by_filetype table<string, integer[]>
local function unchecked(health, row, by_filetype)
  local advice = {}
  for filetype in vim.spairs(by_filetype) do
    for _, config in ipairs(enabled(filetype)) do
      advice[#advice + 1] = why_not(config, row.versions)
    end
  end
  if #advice == 0 then
    advice[1] = 'no server is enabled for it, see :help lsp-quickstart'
  end
  for _, install in ipairs(row.install) do
    advice[#advice + 1] = ('run `%s`'):format(install)
  end
  if row.command then
    advice[#advice + 1] = ("or set `commands = { '%s' }` in setup()"):format(row.command)
  end
  health.warn(('%s: only the parser checks it'):format(row.title), advice)
end

-- True if a text of these has one of the files beside it, or in a folder around it.
---@param names string[]
---@param buffers integer[]
local function has_one(names, buffers)
  return vim.iter(buffers):any(function(buf)
    return vim.iter(vim.fs.parents(api.nvim_buf_get_name(buf))):any(function(folder)
      return vim.iter(names):any(function(name)
        return vim.uv.fs_stat(vim.fs.joinpath(folder, name)) ~= nil
      end)
    end)
  end)
end

--- Reports on the languages of the open files.
---@return boolean any whether a language is open that something can check
function M.check(health)
  local found = open_languages()
  local rows = vim.tbl_keys(found)
  table.sort(rows, function(a, b)
    return a.title < b.title
  end)
  for _, row in ipairs(rows) do
    local by_filetype = found[row]
    local buffers = vim.iter(vim.tbl_values(by_filetype)):flatten():totable()
    local names = checkers(row, buffers)
    local first = row.build_files[1]
    if #names == 0 then
      unchecked(health, row, by_filetype)
    elseif first and not has_one(row.build_files, buffers) then
      health.warn(('%s: no %s names the include paths'):format(row.title, first), {
        'edits are often known in part only',
        ('let the build write %s (CMake: -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; make: `bear -- make`)'):format(first),
      })
    end
  end
  return next(found) ~= nil
end

return M
