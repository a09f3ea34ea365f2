--- Follows the runs of a compiler that a language server starts, by their progress messages.
--
-- A run that began after the last save and has ended has read the saved files as they are. rust-analyzer reports each
-- run of `cargo check` under a token of its own name.
local M = {}

local TOKEN = 'rust-analyzer/flycheck'
-- The start of its message about a run that could not be done, as `experimental/serverStatus` has it.
local FAILED = 'cargo check failed[^\n]*'

---@class sextant.CompileRun
---@field change integer the number of the client's last change that was sent before it began
---@field at number when it began, in seconds since 1970
---@field spoke boolean whether it has reported on any crate or file
---@field dropped boolean whether a list of a file was emptied after it had diagnostics
---@field filled table<string, boolean> the URIs of files with diagnostics, and whether there is an error among them
---@field checked table<string, true> the targets that it has reported as checked, by crate name
---@field ended? integer when it ended, milliseconds of vim.uv.now()

---@class sextant.Compiler of one client
---@field open table<string|integer, true> the tokens of the runs that go on
---@field current? sextant.CompileRun
---@field last? sextant.CompileRun the last that has ended
---@field failure? string why the last could not be done
---@field mute integer how many runs in a row have reported nothing
---@field lists table<string, table[]> what it published last, by URI; opening or closing a document changes none

---@type table<integer, sextant.Compiler>
local compilers = {}

---@param client_id integer
---@return sextant.Compiler
local function of(client_id)
  compilers[client_id] = compilers[client_id] or { open = {}, lists = {}, mute = 0 }
  return compilers[client_id]
end

--- The time in seconds since 1970, as file systems count it.
---@return number
function M.now()
  local seconds, micros = vim.uv.gettimeofday()
  return seconds + micros / 1e6
end

--- Takes a `$/progress` in.
---@param client_id integer
---@param params { token: string|integer, value: { kind: string, message: string? }? }
---@param change integer the number of the client's last change
function M.progress(client_id, params, change)
  local token, kind = params.token, type(params.value) == 'table' and params.value.kind
  if type(token) ~= 'string' or not vim.startswith(token, TOKEN) then
    return
  end
  local compiler = of(client_id)
  if kind == 'begin' then
    if not next(compiler.open) then
      compiler.current = { change = change, at = M.now(), spoke = false, dropped = false, filled = {}, checked = {} }
    end
    compiler.open[token] = true
  elseif compiler.current and kind == 'report' then
    compiler.current.spoke = true
    -- rust-analyzer's message is `NAME (KIND)`.
    local target = tostring(params.value.message):match('^%S+')
    if target then
      compiler.current.checked[(target:gsub('-', '_'))] = true
    end
  elseif compiler.current and kind == 'end' then
    compiler.open[token] = nil
    if not next(compiler.open) then
      compiler.current.ended = vim.uv.now()
      compiler.last = compiler.current
      compiler.mute = compiler.last.spoke and 0 or compiler.mute + 1
    end
  end
end

--- Takes a publish in.
---@param client_id integer
---@param uri string
---@param items table[]
function M.published(client_id, uri, items)
  local compiler = compilers[client_id]
  local run = compiler and compiler.current
  if run then
    compiler.lists[uri] = items
    if #items > 0 then
      run.spoke = true
      run.filled[uri] = vim.iter(items):any(function(item)
        return item.severity == vim.lsp.protocol.DiagnosticSeverity.Error
      end)
    elseif run.filled[uri] ~= nil then
      run.dropped = true
    end
  end
end

--- Takes the server's status in.
---@param client_id integer
---@param message any
function M.reported(client_id, message)
  of(client_id).failure = type(message) == 'string' and message:match(FAILED) or nil
end

--- The last run; nil while one goes on.
---@param client_id integer
---@return sextant.CompileRun?
function M.last(client_id)
  local compiler = of(client_id)
  return not next(compiler.open) and compiler.last or nil
end

--- A first run without a report may have been cancelled for another; a second one in a row was not.
---@param client_id integer
---@return boolean
function M.may_be_cancelled(client_id)
  return of(client_id).mute == 1
end

---@param client_id integer
---@return boolean
function M.is_running(client_id)
  return next(of(client_id).open) ~= nil
end

--- The reason why the last run has checked nothing; nil if it has.
---@param client_id integer
---@return string?
function M.failure(client_id)
  local compiler = of(client_id)
  if compiler.failure then
    return compiler.failure
  elseif compiler.last and not compiler.last.spoke then
    return 'cargo check ended without a report'
  elseif compiler.last and compiler.last.dropped then
    -- Seen of ra_ap_rust-analyzer 0.0.349 in 3 of 1,400 runs, each time for a file that cargo had diagnostics of.
    return 'diagnostics of cargo check were reported and dropped within one run'
  end
end

-- The word of rust-analyzer for the diagnostic that a hint is a note of.
local ORIGINAL = 'original diagnostic'

-- Recognizes a note of another diagnostic, which is published as a hint at the note's own place.
local function is_note(item)
  local related = item.severity == vim.lsp.protocol.DiagnosticSeverity.Hint and item.relatedInformation
  return type(related) == 'table'
    and vim.iter(ipairs(related)):any(function(_, place)
      return place.message == ORIGINAL
    end)
end

--- The compiler's diagnostics of a document, without those that are notes of others.
---@param client_id integer
---@param uri string
---@return table[]
function M.items(client_id, uri)
  return vim
    .iter(of(client_id).lists[uri] or {})
    :filter(function(item)
      return not is_note(item)
    end)
    :totable()
end

--- The compiler's diagnostics of every file that had some once, by URI.
---@param client_id integer
---@return table<string, table[]>
function M.lists(client_id)
  local lists = {}
  for uri in pairs(of(client_id).lists) do
    lists[uri] = M.items(client_id, uri)
  end
  return lists
end

--- Drops a client that is gone.
---@param client_id integer
function M.forget(client_id)
  compilers[client_id] = nil
end

return M
