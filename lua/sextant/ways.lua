--- The ways to ask one client about one buffer: a pull, tsserver's own commands, or waiting for the publish of its version.
local neovim_pulls = require('sextant.neovim_pulls')
local preamble = require('sextant.preamble')
local publishes = require('sextant.publishes')
local servers = require('sextant.servers')
local texts = require('sextant.texts')

local M = {}
local api = vim.api
local version_of, texts_of, flush = texts.version_of, texts.texts_of, texts.flush

local RETRY = { [-32802] = true, [-32801] = true, [-32800] = true }
local METHOD_NOT_FOUND = -32601
-- Silence after a publish that proves nothing, in milliseconds, before it is taken for the last of its kind.
local QUIET_MS = 250
-- The same where clangd builds a preamble in between.
local PREAMBLE_MS = 3000

---@class sextant.Job one client and one buffer; `finish` and `give_up` end it
---@field client vim.lsp.Client
---@field buf integer
---@field path string
---@field dead boolean?
---@field wanted integer?
---@field request integer? the open request
---@field unlisten fun()?
---@field listens boolean? waits for what the server publishes by itself
---@field finish fun(job: sextant.Job, how: string, version: integer?, items: table[])
---@field give_up fun(job: sextant.Job, how: string, note: string)

-- Ends the job where it cannot be answered any more.
local function is_over(job)
  if job.dead then
    return true
  elseif not api.nvim_buf_is_loaded(job.buf) then
    job:give_up('unavailable', 'the file was closed')
    return true
  elseif job.client:is_stopped() then
    job:give_up('unavailable', 'the server has stopped')
    return true
  end
  return false
end

local function stop_listening(job)
  if job.unlisten then
    job.unlisten()
    job.unlisten = nil
  end
end

-- A request whose answer always comes: Neovim drops the callback of one that the server calls cancelled.
local function request(job, method, params, answer)
  local sent, answered = false, false
  local ok, id = neovim_pulls.as_ours(job.client, function()
    return job.client.rpc.request(method, params, function(err, result)
      answered = true
      if sent then
        answer(err, result)
      else
        -- A server inside Neovim may answer within the request.
        vim.schedule(function()
          answer(err, result)
        end)
      end
    end, function()
      -- It is called first, in the tick of the answer.
      vim.schedule(function()
        if not answered then
          answer({ code = -32800 }, nil)
        end
      end)
    end)
  end)
  sent = true
  if not ok then
    job:give_up('unavailable', 'the server does not take requests')
  end
  return ok and id or nil
end

local function same_items(a, b)
  local function short(item)
    return { item.range, item.severity or 1, tostring(item.code), item.message }
  end
  return #a == #b and vim.deep_equal(vim.tbl_map(short, a), vim.tbl_map(short, b))
end

-- Some servers now and then answer a pull from the text before, without an error, and publish so too: their word
-- counts when a pull that was sent after their own publish of this version, or after another pull, says the same.
local CONFIRM_MS = 50
-- How long their publish is waited for alone, in milliseconds: a pull beside it takes its time from the server.
local PUBLISH_FIRST_MS = 100

local function is_confirmed(job, items, asked_at)
  local last = publishes.last(job.client.id, vim.uri_from_bufnr(job.buf))
  local earlier = last and last.version == job.wanted and asked_at and last.at < asked_at
  if earlier and type(last.items) == 'table' and same_items(last.items, items) then
    return true
  end
  local before = job.unconfirmed
  job.unconfirmed = { version = job.wanted, items = items }
  return before ~= nil and before.version == job.wanted and same_items(before.items, items)
end

-- Whether there is a publish of the very text.
local function is_published(job)
  local last = publishes.last(job.client.id, vim.uri_from_bufnr(job.buf))
  return last ~= nil and last.version == version_of(job.buf) and not last.ambiguous
end

-- A pull is trusted for a server that did not advertise it once it has equalled a publish of the same version.
local function learn(job, version, published)
  local client, buf = job.client, job.buf
  if not servers.is_unknown(client) or type(published) ~= 'table' or #published == 0 then
    return
  end
  servers.learn(client, 'push')
  local uri = vim.uri_from_bufnr(buf)
  client.rpc.request(servers.PULL, { textDocument = { uri = uri } }, function(err, result)
    vim.schedule(function()
      if err or not api.nvim_buf_is_loaded(buf) or type(result) ~= 'table' or result.kind ~= 'full' then
        return
      elseif version_of(buf) ~= version then
        -- Proves nothing either way: to be tried again.
        return servers.learn(client, nil)
      end
      local last = publishes.last(client.id, uri)
      if last and last.version == version and same_items(result.items, published) then
        servers.learn(client, 'pull')
      end
    end)
  end)
end

--- Waits for the publish of this very version.
function M.push(job)
  if is_over(job) then
    return
  end
  stop_listening(job)
  flush(job.client)
  job.wanted = version_of(job.buf)
  local reads_the_disk = servers.reads_the_disk(job.client)
  if reads_the_disk and vim.bo[job.buf].modified then
    return job:give_up('unavailable', servers.SAVED_ONLY)
  end
  job.listens = true
  local uri = vim.uri_from_bufnr(job.buf)
  local id = job.client.id
  if job.client.name == 'clangd' then
    -- A request that waits makes clangd look at once instead of waiting for more edits.
    job.client.rpc.request('textDocument/documentSymbol', { textDocument = { uri = uri } }, function() end)
  end

  -- Waits for silence after a publish that proves nothing by itself.
  local function wait(seen, version, ms, how)
    vim.defer_fn(function()
      if not job.dead and publishes.last(id, uri) == seen and version_of(job.buf) == version then
        job:finish(how, how == 'versioned' and version or nil, seen.items)
      end
    end, ms)
  end

  local function look()
    if is_over(job) then
      return
    end
    local version = version_of(job.buf)
    job.wanted = version
    local last = publishes.last(id, uri)
    if not last then
      return
    elseif not last.version or reads_the_disk then
      -- What reads the disk names the version of its opening.
      if publishes.is_later(id, uri, last) then
        wait(last, version, QUIET_MS, 'quiet')
      end
    elseif last.version ~= version then
      return
    elseif last.ambiguous or not publishes.is_newest(id, uri) then
      -- The version of a file does not move with the others that it depends on.
      wait(last, version, QUIET_MS, 'quiet')
    elseif preamble.is_open(id, uri) then
      wait(last, version, PREAMBLE_MS, 'quiet')
    elseif servers.amends(job.client) or not servers.publishes_once(job.client) then
      local how = servers.publishes_once(job.client) and 'versioned' or 'quiet'
      wait(last, version, math.max(1, QUIET_MS - (vim.uv.now() - last.at)), how)
    else
      learn(job, version, last.items)
      job:finish('versioned', version, last.items)
    end
  end

  job.unlisten = publishes.listen(function(client_id, at)
    if client_id == id and at == uri then
      vim.schedule(look)
    end
  end)
  -- After what the flush has set going.
  vim.schedule(look)
end

-- What an answer to a pull for these texts is worth; `theirs` where Neovim itself had asked.
local function take(job, wanted, texts_then, theirs, err, result, asked_at)
  if is_over(job) then
    return
  elseif err and theirs then
    -- Neovim's request is not ours to repeat.
    job.alone = true
    return M.pull(job)
  elseif err and RETRY[err.code] then
    job.tries = (job.tries or 0) + 1
    return vim.defer_fn(function()
      M.pull(job)
    end, math.min(10 * job.tries, 80))
  elseif err then
    if err.code == METHOD_NOT_FOUND then
      servers.learn(job.client, 'push')
    end
    return M.push(job)
  elseif texts_of(job.client, job.buf) ~= texts_then then
    return M.pull(job)
  elseif type(result) ~= 'table' or result.kind ~= 'full' then
    if theirs then
      job.alone = true
      return M.pull(job)
    end
    return M.push(job)
  elseif
    servers.must_confirm(job.client)
    and type(result.items) == 'table'
    and not is_confirmed(job, result.items, asked_at)
  then
    return vim.defer_fn(function()
      M.pull(job)
    end, CONFIRM_MS)
  end
  job:finish('exact', wanted, result.items)
end

-- Waits for Neovim's own pull, or takes its answer where it is there already.
local function join(job, theirs)
  local wanted = job.wanted
  local function look()
    job.unlisten = nil
    if theirs.void then
      M.pull(job)
    else
      take(job, wanted, theirs.texts, true, theirs.answer.err, theirs.answer.result)
    end
  end
  if theirs.answer then
    look()
  else
    job.unlisten = neovim_pulls.listen(theirs, look)
  end
end

-- Whether Neovim will pull in a moment for what has just been sent: it does so for the current buffer.
local function will_pull(job)
  return job.buf == api.nvim_get_current_buf() and job.client:supports_method(servers.PULL, job.buf)
end

-- The publish of the very text makes one pull enough: whether it is worth waiting for.
local function wait_for_publish(job)
  local id, uri = job.client.id, vim.uri_from_bufnr(job.buf)
  if is_published(job) or job.waited == job.wanted or not publishes.is_newest(id, uri) then
    return false
  end
  job.waited = job.wanted
  local over = false
  local function go_on()
    if not over then
      over = true
      -- A pull in the millisecond of the publish could be of before it.
      vim.defer_fn(function()
        M.pull(job)
      end, 2)
    end
  end
  job.unlisten = publishes.listen(function(client_id, at)
    if client_id == id and at == uri and not job.dead and is_published(job) then
      go_on()
    end
  end)
  vim.defer_fn(go_on, PUBLISH_FIRST_MS)
  return true
end

--- Asks for the diagnostics of this very text, or takes the answer that Neovim itself has asked for. Not through
--- client:request(): Neovim's own refresh would cancel it.
function M.pull(job)
  if is_over(job) then
    return
  end
  stop_listening(job)
  local uri = vim.uri_from_bufnr(job.buf)
  local sent = neovim_pulls.sent(job.client, uri)
  flush(job.client)
  job.wanted = version_of(job.buf)
  if not job.alone then
    local theirs = neovim_pulls.of(job.client, job.buf)
    if theirs then
      return join(job, theirs)
    elseif neovim_pulls.sent(job.client, uri) ~= sent and will_pull(job) then
      -- Neovim's turn comes first: what tells it of the change is scheduled already.
      return vim.schedule(function()
        M.pull(job)
      end)
    end
  end
  if servers.must_confirm(job.client) and wait_for_publish(job) then
    return
  end
  local wanted, texts_then = job.wanted, texts_of(job.client, job.buf)
  local provider = job.client.server_capabilities.diagnosticProvider
  local params = {
    textDocument = { uri = uri },
    identifier = type(provider) == 'table' and provider.identifier or nil,
  }
  local asked_at = vim.uv.now()
  job.request = request(job, servers.PULL, params, function(err, result)
    job.request = nil
    take(job, wanted, texts_then, false, err, result, asked_at)
  end)
end

--- typescript-language-server publishes without versions; tsserver itself answers for the text it has.
function M.command(job)
  if is_over(job) then
    return
  end
  flush(job.client)
  job.wanted = version_of(job.buf)
  local wanted, texts_then, items = job.wanted, texts_of(job.client, job.buf), {}
  local requests = servers.tsserver_requests(job.path)
  local left, failed = #requests, false
  for _, params in ipairs(requests) do
    local ok = request(job, 'workspace/executeCommand', params, function(err, result)
      if failed or is_over(job) then
        return
      end
      local body = type(result) == 'table' and result.body or nil
      if err or type(body) ~= 'table' then
        failed = true
        return M.push(job)
      end
      for _, diag in ipairs(body) do
        items[#items + 1] = servers.from_tsserver(diag)
      end
      left = left - 1
      if left == 0 and texts_of(job.client, job.buf) ~= texts_then then
        M.command(job)
      elseif left == 0 then
        job:finish('exact', wanted, items)
      end
    end)
    if not ok then
      return
    end
  end
end

--- Asks, in the way that suits the client; waits for the client where it is still starting.
function M.begin(job)
  local client = job.client
  if is_over(job) then
    return
  elseif client.initialized then
    return M[servers.way(client, job.buf)](job)
  end
  -- The attach comes with the end of the server's start-up.
  job.note = 'the server is still starting'
  job.unlisten = publishes.listen(function(id)
    if id == client.id and (client.initialized or client:is_stopped()) then
      stop_listening(job)
      job.note = nil
      vim.schedule(function()
        M.begin(job)
      end)
    end
  end)
end

return M
