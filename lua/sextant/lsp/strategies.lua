--- Asks one client about one buffer: by a pull, by commands of tsserver or gopls, or by waiting for the publish of its
--- version.
local compile_check = require('sextant.lsp.compile_check')
local diagnose_command = require('sextant.lsp.diagnose_command')
local jobs = require('sextant.lsp.jobs')
local server_status = require('sextant.lsp.server_status')
local neovim = require('sextant.neovim')
local neovim_pulls = require('sextant.lsp.neovim_pulls')
local publishes = require('sextant.lsp.publishes')
local push = require('sextant.lsp.push')
local servers = require('sextant.lsp.servers')
local settings_reads = require('sextant.lsp.settings_reads')
local texts = require('sextant.lsp.texts')

local M = { push = push.push, diagnose = diagnose_command.diagnose }
local version_of, texts_of, flush = texts.version_of, texts.texts_of, texts.flush

local RETRY = { [-32802] = true, [-32801] = true, [-32800] = true }
local METHOD_NOT_FOUND = -32601

---@class sextant.Question a pull that was sent
---@field version integer of the text
---@field texts string the texts that the server had
---@field theirs boolean whether Neovim itself had asked
---@field at integer? when it was sent, milliseconds of vim.uv.now()
---@field complaints integer errors that the server had logged then

-- Asks every provider; `answer` is called once, with the first error, or with all their diagnostics.
---@param names (string|false)[]
---@param answer fun(err: table?, result: any, pulled: sextant.Pulled[]?)
local function ask_providers(job, names, answer)
  local pulled, left, over = {}, #names, false
  for index, name in ipairs(names) do
    local params = { textDocument = { uri = vim.uri_from_bufnr(job.buf) }, identifier = name or nil }
    local id
    id = jobs.request(job, servers.PULL, params, function(err, result)
      job.requests[id] = nil
      if over then
        return
      elseif err or type(result) ~= 'table' or result.kind ~= 'full' or type(result.items) ~= 'table' then
        over = true
        jobs.cancel(job)
        return answer(err, result)
      end
      pulled[index] = { identifier = name or nil, items = result.items }
      left = left - 1
      if left == 0 then
        local items = vim.iter(pulled):fold({}, function(all, one)
          return vim.list_extend(all, one.items)
        end)
        answer(nil, { kind = 'full', items = items }, pulled)
      end
    end)
    if not id then
      return
    end
    job.requests[id] = true
  end
end

-- The time for the publish alone, in milliseconds: a pull beside it takes its time from the server.
local PUBLISH_FIRST_MS = 100

-- Some servers now and then answer a pull from the text before, without an error, and publish so too. Their answer
-- counts when a second pull gives the same: one that was sent after their own publish of this version, or after another
-- pull.
local function is_confirmed(job, items, asked_at)
  local last = publishes.last(job.client.id, vim.uri_from_bufnr(job.buf))
  local earlier = last and last.version == job.wanted and asked_at and last.at < asked_at
  if earlier and type(last.items) == 'table' and jobs.same_items(last.items, items) then
    return true
  end
  local before = job.unconfirmed
  job.unconfirmed = { version = job.wanted, items = items }
  return before ~= nil and before.version == job.wanted and jobs.same_items(before.items, items)
end

-- True if there is a publish for the exact text.
local function is_published(job)
  local last = publishes.last(job.client.id, vim.uri_from_bufnr(job.buf))
  return last ~= nil and last.version == version_of(job.buf) and not last.ambiguous
end

-- The proof that an answer to a pull gives.
---@param asked sextant.Question
---@param pulled sextant.Pulled[]? what Neovim is not to ask for itself
local function take(job, asked, err, result, pulled)
  local theirs = asked.theirs
  if jobs.is_over(job) or jobs.is_loading(job, M.pull) then
    return
  elseif err and theirs then
    -- Sextant must not repeat Neovim's request.
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
    return push.push(job)
  elseif texts_of(job.client, job.buf) ~= asked.texts then
    return M.pull(job)
  elseif type(result) == 'table' and result.kind == 'unchanged' and servers.knows(job.client, 'publishes_at_pull') then
    local last = publishes.last(job.client.id, vim.uri_from_bufnr(job.buf))
    return job:finish('exact', asked.version, last and last.items or {})
  elseif type(result) ~= 'table' or result.kind ~= 'full' then
    if theirs then
      job.alone = true
      return M.pull(job)
    end
    return push.push(job)
  elseif
    servers.knows(job.client, 'answers_early')
    and type(result.items) == 'table'
    and not is_confirmed(job, result.items, asked.at)
  then
    return vim.defer_fn(function()
      M.pull(job)
    end, servers.shared().confirm_ms)
  end
  if servers.knows(job.client, 'hides_trouble') and type(result.items) == 'table' then
    if #result.items > 0 then
      server_status.has_found(job.client.id)
    else
      local objection = server_status.objection(job.client.id, asked.complaints)
      if objection then
        return job:give_up('unavailable', objection)
      end
    end
  end
  job:finish('exact', asked.version, result.items, pulled)
end

-- Waits for Neovim's own pull, or takes its answer if it is there already.
local function join(job, theirs)
  local asked = { version = job.wanted, texts = theirs.texts, theirs = true, complaints = theirs.complaints }
  local function look()
    job.unlisten = nil
    if theirs.void then
      M.pull(job)
    else
      take(job, asked, theirs.answer.err, theirs.answer.result)
    end
  end
  if theirs.answer then
    look()
  else
    job.unlisten = neovim_pulls.listen(theirs, look)
  end
end

-- A publish for the exact text makes one pull enough: whether it is worth waiting for.
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
      -- A pull in the millisecond of the publish could be for the text before it.
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

--- Asks for the diagnostics of this exact text, or takes the answer to Neovim's own question. Not through
--- client:request(): Neovim's own refresh would cancel it.
function M.pull(job)
  if jobs.is_over(job) or jobs.is_loading(job, M.pull) then
    return
  end
  jobs.stop_listening(job)
  local uri = vim.uri_from_bufnr(job.buf)
  local sent = neovim_pulls.sent(job.client, uri)
  flush(job.client)
  job.wanted = version_of(job.buf)
  -- Neovim asks each provider separately: one of its answers is not complete.
  local names = neovim.pull_names(job.client, job.buf)
  if not job.alone and #names == 1 then
    local theirs = neovim_pulls.of(job.client, job.buf)
    if theirs and (theirs.at_rest or not servers.knows(job.client, 'tells_when_loaded')) then
      return join(job, theirs)
    elseif neovim_pulls.sent(job.client, uri) ~= sent and neovim.pulls_by_itself(job.client, job.buf) then
      -- Neovim's turn comes first: its notice of the change is scheduled already.
      return vim.schedule(function()
        M.pull(job)
      end)
    end
  end
  if servers.knows(job.client, 'answers_early') and wait_for_publish(job) then
    return
  end
  ---@type sextant.Question
  local asked = {
    version = job.wanted,
    texts = texts_of(job.client, job.buf),
    theirs = false,
    at = vim.uv.now(),
    complaints = server_status.complaints(job.client.id),
  }
  ask_providers(job, names, function(err, result, pulled)
    take(job, asked, err, result, pulled)
  end)
end

--- typescript-language-server publishes without versions; tsserver itself answers for the text it has.
function M.command(job)
  if jobs.is_over(job) then
    return
  end
  flush(job.client)
  local reload = servers.reload_request(job.client)
  if reload then
    job.client:request('workspace/executeCommand', reload, function() end)
  end
  job.wanted = version_of(job.buf)
  local wanted, texts_then, items = job.wanted, texts_of(job.client, job.buf), {}
  local requests = servers.tsserver_requests(job.path)
  local left, failed = #requests, false
  for _, params in ipairs(requests) do
    local ok = jobs.request(job, 'workspace/executeCommand', params, function(err, result)
      if failed or jobs.is_over(job) then
        return
      end
      local body = type(result) == 'table' and neovim.without_null(result.body) or nil
      if err or type(body) ~= 'table' then
        failed = true
        return push.push(job)
      end
      for _, diag in ipairs(body) do
        items[#items + 1] = servers.from_tsserver(job.client, diag)
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

--- Asks in the way that suits the client; waits for the client while it is still starting.
function M.begin(job)
  local client = job.client
  local rereads_for = settings_reads.rereads_for(client)
  if jobs.is_over(job) then
    return
  elseif client.initialized and not rereads_for then
    job.way = servers.way(client, job.buf)
    if not job.compiles then
      return M[job.way](job)
    elseif job.way == 'pull' then
      return compile_check.begin(job)
    end
    -- Its publishes have both parts.
    return job:give_up('unavailable', servers.shared().notes.not_compiled)
  end
  -- The attach comes with the end of the server's start-up.
  job.note = rereads_for and 'the server reads its settings again' or 'the server is still starting'
  local unlisten
  local function again()
    if job.unlisten == unlisten then
      jobs.stop_listening(job)
      job.note = nil
      vim.schedule(function()
        M.begin(job)
      end)
    end
  end
  unlisten = publishes.listen(function(id)
    local waits = settings_reads.rereads_for(client) or not client.initialized
    if id == client.id and (not waits or client:is_stopped()) then
      again()
    end
  end)
  job.unlisten = unlisten
  if rereads_for then
    vim.defer_fn(again, rereads_for)
  end
end

return M
