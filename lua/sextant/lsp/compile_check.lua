--- Asks for the part of a server's diagnostics that its compiler finds in the saved files: rust-analyzer runs
--- `cargo check` after a save, and its answers to a pull leave that out.
--
-- src/diagnostics/server/compile_check.rs is the same for a shell.
local elsewhere = require('sextant.lsp.compiled_elsewhere')
local jobs = require('sextant.lsp.jobs')
local neovim = require('sextant.neovim')
local publishes = require('sextant.lsp.publishes')
local runs = require('sextant.lsp.compile_runs')
local server_status = require('sextant.lsp.server_status')
local servers = require('sextant.lsp.servers')
local texts = require('sextant.lsp.texts')

local M = {}
local api = vim.api

-- The wait for a run that the server starts by itself: the begin was measured 70 to 110 ms after the save.
local OWN_RUN_MS = 400
-- The wait after the end of a run, which may have been cancelled for another: rust-analyzer begins that one after a
-- pause of 50 ms (ra_ap_rust-analyzer 0.0.349, flycheck.rs).
local NEXT_RUN_MS = 200

---@class sextant.CompileState what a run was asked for last
---@field edit integer
---@field saved number
---@field after? sextant.CompileRun the run before

---@type table<integer, sextant.CompileState> by client
local asked = {}

-- A note with the name of a file in it.
local function name_in(note, path)
  return (note:gsub('{file}', function()
    return vim.fn.fnamemodify(path, ':.')
  end))
end

local function unsaved_buffer(client)
  return vim.iter(pairs(client.attached_buffers)):find(function(buf)
    return api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified
  end)
end

-- Why no run can say anything about the text; nil if one can.
local function objection(job)
  local notes = servers.shared().notes
  if vim.bo[job.buf].modified then
    return notes.saved_only
  end
  local other = unsaved_buffer(job.client)
  if other then
    return name_in(notes.other_unsaved, api.nvim_buf_get_name(other))
  end
  local settings = neovim.without_null(job.client.settings or {})
  if vim.tbl_get(settings, 'rust-analyzer', 'checkOnSave') == false then
    return notes.not_compiled .. ' (checkOnSave is off)'
  end
end

-- A run is older than a file that another program wrote after it began.
local function is_older(run, path)
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.mtime.sec + stat.mtime.nsec / 1e9 > run.at
end

-- Returns the run that has read the saved files as they are, if there is one.
local function proof(job)
  local run = runs.last(job.client.id)
  local is_newest = run and run.change >= publishes.last_edit(job.client.id) and run.at >= publishes.saved_at()
  if run and is_newest and not runs.may_be_cancelled(job.client.id) and not is_older(run, job.path) then
    return run
  end
end

-- The folder of a file's crate, and the part of the crate that is compiled as one: the library or program, or each test,
-- example and benchmark. Beside a library, a program is a part of its own. src/diagnostics/cargo_units.rs is the same.
local function unit(path)
  local folder = vim.fs.root(path, 'Cargo.toml') or vim.fs.dirname(path)
  local inside = path:sub(#folder + 2)
  local targets, name = inside:match('^(%w+)/([^/]*)')
  if targets == 'src' then
    local is_program = inside == 'src/main.rs' or vim.startswith(inside, 'src/bin/')
    return folder .. (is_program and vim.uv.fs_stat(folder .. '/src/lib.rs') and inside or 'src')
  end
  return folder .. (targets and name or inside)
end

-- Lines of a manifest that are read for the name of its package, which stands at the top.
local MANIFEST_LINES = 400

-- The name of the target that the file is compiled for, in the form of a crate's name.
local function target_of(path)
  local folder = vim.fs.root(path, 'Cargo.toml')
  local part = folder and unit(path):sub(#folder + 1)
  if part == 'src' or part == 'src/main.rs' then
    local ok, lines = pcall(vim.fn.readfile, folder .. '/Cargo.toml', '', MANIFEST_LINES)
    local name = ok and ('\n' .. table.concat(lines, '\n')):match('\n%[package%].-\nname%s*=%s*"([^"]+)"')
    return name and (name:gsub('-', '_'))
  end
  return part and (vim.fn.fnamemodify(part, ':t:r'):gsub('-', '_'))
end

-- The reason why the file was left out: another part of the project has an error, and this one has not been heard of.
local function not_reached(path, run)
  local broken = vim.iter(pairs(run.filled)):find(function(_, is_error)
    return is_error
  end)
  local own = broken and unit(path)
  local is_heard_of = broken
    and vim.iter(pairs(run.filled)):any(function(uri)
      return unit(vim.uri_to_fname(uri)) == own
    end)
  if broken and not is_heard_of and not run.checked[target_of(path) or ''] then
    return name_in(servers.shared().notes.not_reached, vim.uri_to_fname(broken))
  end
end

-- Takes the diagnostics of the run. The server sends them within one turn of its loop, some after the end of the run: the
-- answer to a request that was sent after that end comes after all of them.
local function take(job, run)
  local uri = vim.uri_from_bufnr(job.buf)
  local params = { textDocument = { uri = uri } }
  local sent = job.client.rpc.request('textDocument/documentSymbol', params, function()
    vim.schedule(function()
      local failure = runs.failure(job.client.id) or not_reached(job.path, run)
      if jobs.is_over(job) then
        return
      elseif proof(job) ~= run then
        M.begin(job)
      elseif failure then
        job:give_up('unavailable', failure)
      else
        job.wanted, job.note = texts.version_of(job.buf), nil
        job.elsewhere = elsewhere.take(job, run, function(path)
          return not not_reached(path, run)
        end)
        job:finish('versioned', job.wanted, runs.items(job.client.id, uri))
      end
    end)
  end)
  if not sent then
    job:give_up('unavailable', 'the server does not take requests')
  end
end

-- Asks for a run where the server starts none by itself: no save, or a file that another program has written.
local function ask_for_run(job)
  local id = job.client.id
  vim.defer_fn(function()
    local state = { edit = publishes.last_edit(id), saved = publishes.saved_at(), after = runs.last(id) }
    if job.dead or proof(job) or runs.is_running(id) or vim.deep_equal(asked[id], state) then
      return
    end
    asked[id] = state
    job.client.rpc.notify('rust-analyzer/runFlycheck', { textDocument = { uri = vim.uri_from_bufnr(job.buf) } })
  end, OWN_RUN_MS)
end

--- Answers the job once the compiler has checked the saved text, or at once where it cannot.
---@param job sextant.Job
function M.begin(job)
  if jobs.is_over(job) then
    return
  end
  jobs.stop_listening(job)
  local why = objection(job)
  if why then
    return job:give_up('unavailable', why)
  end
  job.note = servers.shared().notes.not_compiled
  local id = job.client.id
  local has_loaded, last = server_status.at_rest(id), runs.last(id)
  local run = has_loaded and proof(job)
  if run then
    return vim.defer_fn(function()
      if not jobs.is_over(job) then
        take(job, run)
      end
    end, math.max(0, run.ended + NEXT_RUN_MS - vim.uv.now()))
  end
  job.unlisten = publishes.listen(function(client_id, uri)
    local is_news = server_status.at_rest(id) ~= has_loaded or runs.last(id) ~= last
    if client_id == id and not uri and is_news and not runs.is_running(id) then
      jobs.stop_listening(job)
      vim.schedule(function()
        M.begin(job)
      end)
    end
  end)
  if has_loaded then
    ask_for_run(job)
  end
end

return M
