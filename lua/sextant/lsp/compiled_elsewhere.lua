--- The compiler's diagnostics of files that nobody asked about, where its last run says something else of them than the
--- run before: an edit that removes the last use of a function makes rustc warn where the function is defined.
--
-- src/diagnostics/server/compiled_elsewhere.rs is the same for a shell.
local runs = require('sextant.lsp.compile_runs')
local servers = require('sextant.lsp.servers')

local M = {}

---@class sextant.CompiledElsewhere
---@field path string
---@field earlier table[]? what the run before said of it; nil if that has read another text
---@field items table[]

---@type table<integer, { at: number, lists: table<string, table[]> }> the run that was taken last, by client
local taken = {}

local function was_written_since(path, time)
  local stat = vim.uv.fs_stat(path)
  return not stat or stat.mtime.sec + stat.mtime.nsec / 1e9 >= time
end

-- True for a text that may have kept the compiler from checking types: an error without a code, or one of the lexer.
local function may_stop(items)
  local unended = servers.shared().unended_codes
  return vim.iter(items):any(function(item)
    local code = require('sextant.neovim').value(item.code)
    local is_coded = code ~= nil and not vim.list_contains(unended, code)
    return item.severity == vim.lsp.protocol.DiagnosticSeverity.Error and not is_coded
  end)
end

--- Takes a run, and returns the files of which it says something else, without those that the job's caller has asked
--- about. A file that it has not read keeps what was known of it. The first run says nothing new, and returns as they
--- are those files that may have stopped it.
---@param job sextant.Job
---@param run sextant.CompileRun
---@param has_read fun(path: string): boolean
---@return sextant.CompiledElsewhere[]
function M.take(job, run, has_read)
  local id = job.client.id
  local before, lists = taken[id], runs.lists(id)
  taken[id] = { at = run.at, lists = lists }
  local changed = {}
  local known = before and before.lists or {}
  for uri in pairs(vim.tbl_extend('keep', lists, known)) do
    local earlier, items, path = known[uri] or {}, lists[uri] or {}, vim.uri_to_fname(uri)
    local is_changed = not vim.deep_equal(earlier, items)
    if is_changed and not has_read(path) then
      lists[uri] = earlier
    elseif is_changed and before and not job.asked[path] then
      local is_other = was_written_since(path, before.at)
      changed[#changed + 1] = { path = path, earlier = not is_other and earlier or nil, items = items }
    elseif is_changed and not job.asked[path] and may_stop(items) and not was_written_since(path, run.at) then
      changed[#changed + 1] = { path = path, earlier = items, items = items }
    end
  end
  return changed
end

--- Drops a client that is gone.
---@param client_id integer
function M.forget(client_id)
  taken[client_id] = nil
end

return M
