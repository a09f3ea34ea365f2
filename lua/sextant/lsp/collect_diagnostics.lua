--- Collects the diagnostics of Neovim's own clients for the current text, or an honest "not known yet".
--
-- One job for each pair of client and buffer. A job ends in one of four ways, or stays open at the deadline (`timeout`)
-- and may answer late, once. The four are `exact` (pulled for this text), `versioned` (published with this text's
-- version), `quiet` (published, then silence, without proof: a guess) and `unavailable`.
local buffers = require('sextant.edit.buffers')
local jobs = require('sextant.lsp.jobs')
local neovim = require('sextant.neovim')
local publishes = require('sextant.lsp.publishes')
local servers = require('sextant.lsp.servers')
local unattached = require('sextant.lsp.unattached')
local strategies = require('sextant.lsp.strategies')
local texts = require('sextant.lsp.texts')

local M = {}
local api = vim.api

---@type table<string, sextant.Job> open jobs by client and buffer
local open_jobs = {}
---@type table<integer, table<integer, table<string, table[]>>> raw items of the last answers, by client and buffer
local raw = {}
---@type table<string, fun()> ends the wait for an amendment, by client and buffer
local amending = {}

local function stop(job)
  job.dead = true
  jobs.cancel(job)
  if job.unlisten then
    job.unlisten()
    job.unlisten = nil
  end
  if open_jobs[job.key] == job then
    open_jobs[job.key] = nil
  end
end

-- The number of bytes that is certain to hold a character.
local BYTES = 4

-- A number that JSON cannot carry (an endless one, or not a number) becomes the nearest that it can.
local function whole(number)
  return number == number and math.floor(math.max(0, math.min(number, 2 ^ 31))) or 0
end

local function place_of(place)
  if type(place) == 'table' and type(place.line) == 'number' and type(place.character) == 'number' then
    return { line = whole(place.line), character = whole(place.character) }
  end
end

local function range_of(range)
  local from, to = place_of(type(range) == 'table' and range.start), place_of(type(range) == 'table' and range['end'])
  return from and to and { start = from, ['end'] = to }
end

-- The parts of the diagnostics that the binary needs; nil if one of them cannot be read.
local function trimmed(items)
  if type(items) ~= 'table' then
    return nil
  end
  local out, shared = {}, servers.shared()
  for i, item in ipairs(items) do
    local range = type(item) == 'table' and range_of(item.range)
    if not range then
      return nil
    elseif i > shared.most then
      break
    end
    local code, message, severity = item.code, item.message, item.severity
    message = tostring(type(message) == 'table' and message.value or message)
    out[i] = {
      range = range,
      severity = (severity == 1 or severity == 2 or severity == 3 or severity == 4) and severity or nil,
      code = (type(code) == 'string' or type(code) == 'number') and tostring(code) or nil,
      message = #message > BYTES * shared.message and vim.fn.strcharpart(message, 0, shared.message) or message,
    }
  end
  return out
end

local function entry(job, how, items)
  return {
    client = job.name,
    path = job.path,
    how = how,
    tick = api.nvim_buf_is_valid(job.buf) and vim.b[job.buf].changedtick or -1,
    ms = math.floor((vim.uv.hrtime() - job.started) / 1e6),
    encoding = job.client.offset_encoding or 'utf-16',
    items = items or {},
    note = job.note,
  }
end

-- Neovim asks only for the lines in sight. Diagnostics from Sextant's own questions are shown by Neovim's own handler,
-- so that the signs are right everywhere. They have the name of the provider, as in Neovim. Servers that have declared
-- no pulls and publish are excluded: everything would stand twice.
local function show_pulled(job, version, pulled)
  local client, buf = job.client, job.buf
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  if vim.lsp.util.buf_versions[buf] == version and client:supports_method(servers.PULL, buf) then
    local handler = client.handlers[servers.PULL] or vim.lsp.handlers[servers.PULL]
    -- A server may register after it was asked. An answer under a name that Neovim does not ask for would stay for
    -- good, beside Neovim's own.
    local names = neovim.pull_names(client, buf)
    for _, answer in ipairs(pulled) do
      local name = answer.identifier or false
      local is_known = vim.list_contains(names, name)
      if not is_known and #names == 1 then
        name, is_known = names[1], true
      end
      if is_known then
        local params = { textDocument = { uri = vim.uri_from_bufnr(buf) }, identifier = name or nil }
        local context = { client_id = client.id, bufnr = buf, method = servers.PULL, params = params }
        pcall(handler, nil, { kind = 'full', items = answer.items }, context)
      end
    end
  end
end

local function give_up(job, how, note)
  if job.dead then
    return
  end
  job.note = note
  local result = entry(job, how)
  stop(job)
  if not job.late then
    job.done(result)
  end
end

local function stop_amending(key)
  if amending[key] then
    amending[key]()
    amending[key] = nil
  end
end

-- True if two lists are equal, in any order.
local function is_the_same(a, b)
  local function words(item)
    local from, to = item.range.start, item.range['end']
    return table.concat({
      from.line,
      from.character,
      to.line,
      to.character,
      item.severity or 0,
      item.code or '',
      item.message,
    }, ' ')
  end
  local left, right = vim.tbl_map(words, a), vim.tbl_map(words, b)
  table.sort(left)
  table.sort(right)
  return vim.deep_equal(left, right)
end

local function keep_raw(job, items)
  local by_buf = raw[job.client.id] or {}
  raw[job.client.id] = by_buf
  by_buf[job.buf] = by_buf[job.buf] or {}
  by_buf[job.buf][job.name] = items
end

-- A server may publish one version twice, the second time with more. The second publish is reported late, as an
-- amendment and not as the answer of an open job. From then on it is expected.
local function await_amendment(job, version, known)
  local uri, id = vim.uri_from_bufnr(job.buf), job.client.id
  local epoch = publishes.epoch(id)
  local stop_listening
  stop_listening = publishes.listen(function(client_id, at)
    if client_id ~= id or at ~= uri then
      return
    end
    local last = publishes.last(id, uri)
    if not last or last.version ~= version or last.epoch ~= epoch or not api.nvim_buf_is_loaded(job.buf) then
      return stop_amending(job.key)
    end
    local short = trimmed(last.items)
    if short and not is_the_same(short, known) and vim.lsp.util.buf_versions[job.buf] == version then
      known = short
      keep_raw(job, last.items)
      servers.note_amendment(job.client)
      local result = entry(job, 'versioned', short)
      result.amends = true
      require('sextant.rpc.channel').late_answer(result)
    end
  end)
  amending[job.key] = stop_listening
  vim.defer_fn(function()
    if amending[job.key] == stop_listening then
      stop_amending(job.key)
    end
  end, servers.shared().late_ms)
end

-- The most files that nobody asked about and that are reported after one run of a compiler.
local MOST_ELSEWHERE = 100

-- Returns the compiler's diagnostics of files that nobody asked about, in the parts that the binary needs. The second
-- value is the first file that is left out, with the number of these files.
local function elsewhere(job)
  local files, more = {}, nil
  for _, file in ipairs(job.elsewhere or {}) do
    local earlier, items = file.earlier and trimmed(file.earlier), trimmed(file.items)
    if (earlier or not file.earlier) and items and #files < MOST_ELSEWHERE then
      files[#files + 1] = { path = file.path, earlier = earlier, items = items }
    else
      more = { path = more and more.path or file.path, files = more and more.files + 1 or 1 }
    end
  end
  return files, more
end

local function finish(job, how, version, items, pulled)
  if job.dead then
    return
  end
  local short = trimmed(items)
  if not short then
    return give_up(job, 'unavailable', 'the server sent diagnostics that cannot be read')
  end
  local result = entry(job, how, short)
  result.elsewhere, result.more = elsewhere(job)
  keep_raw(job, items)
  stop(job)
  if not job.late then
    job.done(result)
  elseif how ~= 'quiet' then
    require('sextant.rpc.channel').late_answer(result)
  end
  if pulled then
    vim.schedule(function()
      show_pulled(job, version, pulled)
    end)
  elseif how == 'versioned' and not job.compiles then
    await_amendment(job, version, short)
  end
end

local function new_job(client, buf, item, asked, done, compiles)
  -- The compiler of a server is a source of its own.
  local part = compiles and '/check' or ''
  local job = {
    key = client.id .. ':' .. buf .. part,
    client = client,
    name = client.name .. part,
    compiles = compiles,
    buf = buf,
    path = item.path,
    asked = asked,
    started = vim.uv.hrtime(),
    done = done,
    finish = finish,
    give_up = give_up,
    begin = strategies.begin,
    requests = {},
  }
  local before = open_jobs[job.key]
  if before then
    -- The waiting caller gets this answer; a late answer is replaced by it.
    before:give_up('timeout', 'asked again before it was answered')
  end
  stop_amending(job.key)
  open_jobs[job.key] = job
  return job
end

-- Cuts the open jobs short at the deadline: they are reported as such, and kept for their late answer.
local function cut_short(job)
  job.late = true
  vim.defer_fn(function()
    stop(job)
  end, servers.shared().late_ms)
  local buf = job.buf
  if
    job.listens
    and api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].modified
    and servers.may_wait_for_a_save(job.client)
  then
    job.note = servers.shared().notes.perhaps_saved_only
    return entry(job, 'unavailable')
  end
  return entry(job, 'timeout')
end

-- Asks, once each client has been brought the changes of files that it is not attached to.
---@param edited string[] paths
local function begin(asked, edited)
  local unsaved = {}
  for _, job in ipairs(asked) do
    local client = job.client
    unsaved[client] = unsaved[client] or { unattached.bring(client, edited) }
    local path = unsaved[client][1]
    if path then
      job:give_up(
        'unavailable',
        'the unsaved text of ' .. path .. ' is not known to this client, which has another root'
      )
    else
      strategies.begin(job)
    end
  end
end

--- Answers with one entry for each client of each file.
---@param params { files: { path: string, bystander: boolean? }[], outside: table[]?, ms: integer }
function M.collect(params, reply)
  publishes.watch()
  unattached.report(params.outside or {})
  local entries, asked, left, closed = {}, {}, 1, false
  local function answer()
    closed = true
    reply(nil, entries)
  end
  local function done(result)
    if not closed then
      entries[#entries + 1] = result
      left = left - 1
      if left == 0 then
        answer()
      end
    end
  end
  local edited, paths = {}, {}
  for _, item in ipairs(params.files) do
    paths[item.path] = true
    if not item.bystander then
      edited[#edited + 1] = item.path
    end
  end
  for _, item in ipairs(params.files) do
    local buf = buffers.find(item.path)
    for _, client in ipairs(buf and vim.lsp.get_clients({ bufnr = buf, _uninitialized = true }) or {}) do
      local is_left = servers.leaves_others(client, edited) or texts.stands_alone(client, buf)
      if not servers.knows(client, 'no_checker') and not (item.bystander and is_left) then
        asked[#asked + 1] = new_job(client, buf, item, paths, done, false)
        if servers.knows(client, 'compiles_beside') then
          asked[#asked + 1] = new_job(client, buf, item, paths, done, true)
        end
      end
    end
  end
  left = left + #asked
  begin(asked, edited)
  left = left - 1
  if left == 0 then
    return answer()
  end
  vim.defer_fn(function()
    if not closed then
      for _, job in ipairs(asked) do
        if not job.dead then
          entries[#entries + 1] = cut_short(job)
        end
      end
      answer()
    end
  end, math.max(1, params.ms))
end

--- The raw diagnostics of the last answer of a client for a buffer; questions for code actions need them.
function M.raw_items(client_id, buf)
  local answers = raw[client_id] and raw[client_id][buf] or {}
  return vim.iter(vim.tbl_values(answers)):flatten():totable()
end

-- A server that ends, or a buffer that is taken from it, answers no more.
publishes.listen(function(client_id)
  for _, job in pairs(open_jobs) do
    if job.client.id == client_id and (job.client:is_stopped() or not api.nvim_buf_is_loaded(job.buf)) then
      vim.schedule(function()
        local stopped = job.client:is_stopped()
        job:give_up('unavailable', stopped and 'the server has stopped' or 'the file was closed')
      end)
    end
  end
end)

return M
