--- Diagnostics of Neovim's own clients for the text as it is now, or an honest "not known yet".
--
-- One job for each pair of client and buffer. A job ends with `exact` (pulled for this text), `versioned`
-- (published with this text's version), `quiet` (published without a version, then silence: a guess),
-- or stays open at the deadline (`timeout`) and may answer late, once.
local publishes = require('sextant.publishes')
local buffers = require('sextant.buffers')

local M = {}
local api = vim.api

-- Servers that answer textDocument/diagnostic without advertising it.
local ANSWERS_PULL = { pyright = true, basedpyright = true, pyrefly = true }
-- Clients that hold documents but have nothing to say about them.
local NOT_A_CHECKER = { copilot = true, ['GitHub Copilot'] = true, copilot_ls = true }
local PULL = 'textDocument/diagnostic'
local RETRY = { [-32802] = true, [-32801] = true, [-32800] = true }
local METHOD_NOT_FOUND = -32601
-- Silence after a versionless publish, in milliseconds, before it is taken for the last of its kind.
local QUIET_MS = 250
-- How long an unanswered job may still deliver late, in milliseconds.
local LATE_MS = 60000

---@type table<string, string> learned per client name: `pull` or `push`
local learned = {}
---@type table<string, table> open jobs by client and buffer
local open_jobs = {}
---@type table<integer, table<integer, table>> raw items of the last fresh answer, by client and buffer
local raw = {}
---@type table<string, string> clangd: the `#` lines of the text that was settled last, by URI
local preambles = {}

local function version_of(buf)
  return vim.lsp.util.buf_versions[buf]
end

local function flush(client, buf)
  local ok, tracking = pcall(require, 'vim.lsp._changetracking')
  if not ok or not pcall(tracking.flush, client, buf) then
    client:notify('$/setTrace', { value = 'off' })
  end
end

local function has_command(client, name)
  local provider = client.server_capabilities and client.server_capabilities.executeCommandProvider
  return provider and vim.tbl_contains(provider.commands or {}, name)
end

local function way(client, buf)
  if learned[client.name] then
    return learned[client.name]
  elseif client:supports_method(PULL, buf) then
    return 'pull'
  elseif ANSWERS_PULL[client.name] then
    return 'pull'
  elseif has_command(client, 'typescript.tsserverRequest') then
    return 'command'
  end
  return 'push'
end

local function cancel(job)
  if job.request then
    job.client.rpc.notify('$/cancelRequest', { id = job.request })
    job.request = nil
  end
end

local function stop(job)
  job.dead = true
  cancel(job)
  if job.unlisten then
    job.unlisten()
    job.unlisten = nil
  end
  if open_jobs[job.key] == job then
    open_jobs[job.key] = nil
  end
end

local function trim(item)
  return {
    range = item.range,
    severity = item.severity,
    code = item.code ~= vim.NIL and item.code ~= nil and tostring(item.code) or nil,
    message = type(item.message) == 'table' and item.message.value or tostring(item.message),
  }
end

local function entry(job, how, version, items)
  local out = {}
  for i, item in ipairs(items or {}) do
    out[i] = trim(item)
  end
  return {
    client = job.client.name,
    path = job.path,
    how = how,
    version = version,
    wanted = job.wanted,
    tick = api.nvim_buf_is_valid(job.buf) and vim.b[job.buf].changedtick or -1,
    ms = math.floor((vim.uv.hrtime() - job.started) / 1e6),
    encoding = job.client.offset_encoding or 'utf-16',
    items = out,
    note = job.note,
  }
end

-- Neovim asks only for visible buffers; what we asked for is shown by its own handler, so that the signs are
-- right everywhere. Not for servers that publish as well: Neovim would show everything twice.
local function show_pulled(job, items)
  if job.client:supports_method(PULL, job.buf) then
    local ctx = { client_id = job.client.id, bufnr = job.buf, method = PULL, params = { textDocument = { uri = vim.uri_from_bufnr(job.buf) } } }
    local handler = job.client.handlers[PULL] or vim.lsp.handlers[PULL]
    pcall(handler, nil, { kind = 'full', items = items }, ctx)
  end
end

local function finish(job, how, version, items)
  if job.dead then
    return
  end
  if how == 'exact' then
    show_pulled(job, items)
  end
  raw[job.client.id] = raw[job.client.id] or {}
  raw[job.client.id][job.buf] = { items = items, version = version }
  local result = entry(job, how, version, items)
  local was_late = job.late
  stop(job)
  if was_late then
    require('sextant.rpc').late_answer(result)
  else
    job.done(result)
  end
end

local function give_up(job, how, note)
  job.note = note
  local result = entry(job, how, nil, nil)
  stop(job)
  job.done(result)
end

local pull

local function try_again(job, ms)
  vim.defer_fn(function()
    if not job.dead then
      pull(job)
    end
  end, ms)
end

local function preamble(buf)
  local lines = vim.tbl_filter(function(line)
    return line:match('^%s*#') ~= nil
  end, api.nvim_buf_get_lines(buf, 0, -1, false))
  return table.concat(lines, '\n')
end

-- A pull is trusted for a server that did not advertise it once it has equalled a publish of the same version.
local function learn(client, buf, version, published)
  if learned[client.name] or ANSWERS_PULL[client.name] or not published then
    return
  end
  learned[client.name] = 'push'
  client.rpc.request(PULL, { textDocument = { uri = vim.uri_from_bufnr(buf) } }, vim.schedule_wrap(function(err, result)
    if err or not api.nvim_buf_is_valid(buf) or version_of(buf) ~= version or type(result) ~= 'table' then
      return
    end
    local last = publishes.last(client.id, vim.uri_from_bufnr(buf))
    if result.kind == 'full' and last and last.version == version and vim.deep_equal(vim.tbl_map(trim, result.items), vim.tbl_map(trim, published)) then
      learned[client.name] = #published > 0 and 'pull' or nil
    end
  end))
end

-- Waits for the publish of this very version.
local function push(job)
  flush(job.client, job.buf)
  job.wanted = version_of(job.buf)
  local uri = vim.uri_from_bufnr(job.buf)
  local needed = 1
  if job.client.name == 'clangd' then
    -- A changed preamble is published twice under one version, the first time with the old preamble.
    local now = preamble(job.buf)
    needed = (preambles[uri] and preambles[uri] ~= now) and 2 or 1
    preambles[uri] = now
    job.client.rpc.request('textDocument/documentSymbol', { textDocument = { uri = uri } }, function() end)
  end
  local asked_at = vim.uv.now()
  local function look()
    if job.dead or not api.nvim_buf_is_valid(job.buf) then
      return
    end
    local version = version_of(job.buf)
    if version ~= job.wanted then
      job.wanted = version
      asked_at = vim.uv.now()
    end
    local last = publishes.last(job.client.id, uri)
    if not last then
      return
    end
    if last.version then
      if last.version == version and last.count >= needed then
        learn(job.client, job.buf, version, last.items)
        finish(job, 'versioned', version, last.items)
      end
    elseif last.at >= asked_at then
      local seen = last
      vim.defer_fn(function()
        if not job.dead and publishes.last(job.client.id, uri) == seen and version_of(job.buf) == version then
          finish(job, 'quiet', nil, seen.items)
        end
      end, QUIET_MS)
    end
  end
  job.unlisten = publishes.listen(function(id, at)
    if id == job.client.id and at == uri then
      vim.schedule(look)
    end
  end)
  look()
end

-- Asks for the diagnostics of this very text. Not through client:request(): Neovim's own refresh would cancel it.
pull = function(job)
  flush(job.client, job.buf)
  job.wanted = version_of(job.buf)
  local wanted = job.wanted
  local provider = job.client.server_capabilities.diagnosticProvider
  local params = { textDocument = { uri = vim.uri_from_bufnr(job.buf) }, identifier = type(provider) == 'table' and provider.identifier or nil }
  local ok, id = job.client.rpc.request(PULL, params, vim.schedule_wrap(function(err, result)
    job.request = nil
    if job.dead then
      return
    end
    if not api.nvim_buf_is_loaded(job.buf) then
      return give_up(job, 'unavailable', 'the buffer was closed')
    end
    if err then
      if RETRY[err.code] then
        job.tries = (job.tries or 0) + 1
        return try_again(job, math.min(10 * job.tries, 80))
      end
      if err.code == METHOD_NOT_FOUND then
        learned[job.client.name] = 'push'
      end
      return push(job)
    end
    if version_of(job.buf) ~= wanted then
      return pull(job)
    end
    if type(result) ~= 'table' or result.kind ~= 'full' then
      return push(job)
    end
    finish(job, 'exact', wanted, result.items)
  end))
  if ok then
    job.request = id
  else
    give_up(job, 'unavailable', 'the server does not take requests')
  end
end

local TS_COMMANDS = { 'syntacticDiagnosticsSync', 'semanticDiagnosticsSync', 'suggestionDiagnosticsSync' }
local TS_SEVERITY = { error = 1, warning = 2, suggestion = 4, message = 3 }

local function from_tsserver(diag, hint)
  local from, to = diag.start or diag.startLocation, diag['end'] or diag.endLocation
  return {
    range = {
      start = { line = from.line - 1, character = from.offset - 1 },
      ['end'] = { line = to.line - 1, character = to.offset - 1 },
    },
    severity = hint and 4 or TS_SEVERITY[diag.category] or 1,
    code = diag.code,
    message = diag.text or diag.message,
    source = 'typescript',
  }
end

-- typescript-language-server publishes without versions; tsserver itself answers for the text it has.
local function command(job)
  flush(job.client, job.buf)
  job.wanted = version_of(job.buf)
  local wanted, left, items = job.wanted, #TS_COMMANDS, {}
  for i, name in ipairs(TS_COMMANDS) do
    local params = { command = 'typescript.tsserverRequest', arguments = { name, { file = job.path } } }
    local ok = job.client.rpc.request('workspace/executeCommand', params, vim.schedule_wrap(function(err, result)
      if job.dead then
        return
      end
      local body = type(result) == 'table' and result.body or nil
      if err or type(body) ~= 'table' then
        return push(job)
      end
      for _, diag in ipairs(body) do
        items[#items + 1] = from_tsserver(diag, i == 3)
      end
      left = left - 1
      if left == 0 then
        if version_of(job.buf) ~= wanted then
          return command(job)
        end
        finish(job, 'exact', wanted, items)
      end
    end))
    if not ok then
      return give_up(job, 'unavailable', 'the server does not take requests')
    end
  end
end

local ways = { pull = pull, push = push, command = command }

local function begin(job)
  local client = job.client
  if client:is_stopped() then
    return give_up(job, 'unavailable', 'the server has stopped')
  end
  if not client.initialized then
    -- The attach comes with the end of the server's start-up.
    job.note = 'the server is still starting'
    job.unlisten = publishes.listen(function(id)
      if id == client.id and client.initialized and job.unlisten then
        job.unlisten()
        job.unlisten = nil
        job.note = nil
        vim.schedule(function()
          if not job.dead then
            ways[way(client, job.buf)](job)
          end
        end)
      end
    end)
    return
  end
  ways[way(client, job.buf)](job)
end

-- A file that no edit touched cannot change for a server that looks at one file at a time.
local function looks_at_one_file(client)
  local provider = client.server_capabilities and client.server_capabilities.diagnosticProvider
  return type(provider) == 'table' and provider.interFileDependencies == false and not provider.workspaceDiagnostics
end

--- Answers with one entry for each client of each file.
---@param params { paths: string[], only_edited: table<string, boolean>?, ms: integer }
function M.settle(params, reply)
  local entries, left, closed = {}, 1, false
  local jobs = {}
  local function done(result)
    if closed then
      return
    end
    entries[#entries + 1] = result
    left = left - 1
    if left == 0 then
      closed = true
      reply(nil, entries)
    end
  end
  for _, item in ipairs(params.files) do
    local buf = buffers.find(item.path)
    for _, client in ipairs(buf and vim.lsp.get_clients({ bufnr = buf, _uninitialized = true }) or {}) do
      local skip = NOT_A_CHECKER[client.name] or (item.bystander and looks_at_one_file(client))
      if not skip then
        local key = client.id .. ':' .. buf
        if open_jobs[key] then
          stop(open_jobs[key])
        end
        local job = { key = key, client = client, buf = buf, path = item.path, started = vim.uv.hrtime(), done = done }
        open_jobs[key] = job
        jobs[#jobs + 1] = job
        left = left + 1
      end
    end
  end
  for _, job in ipairs(jobs) do
    begin(job)
  end
  left = left - 1
  if left == 0 then
    closed = true
    return reply(nil, entries)
  end
  vim.defer_fn(function()
    if closed then
      return
    end
    closed = true
    for _, job in ipairs(jobs) do
      if not job.dead then
        local open_entry = entry(job, 'timeout', nil, nil)
        if job.client:is_stopped() then
          open_entry.how, open_entry.note = 'unavailable', 'the server has stopped'
          stop(job)
        else
          job.late = true
          vim.defer_fn(function()
            stop(job)
          end, LATE_MS)
        end
        entries[#entries + 1] = open_entry
      end
    end
    reply(nil, entries)
  end, math.max(1, params.ms))
end

--- The raw diagnostics of the last answer of a client for a buffer; what code actions are asked with.
function M.raw_items(client_id, buf)
  local last = raw[client_id] and raw[client_id][buf]
  return last and last.items or {}
end

return M
