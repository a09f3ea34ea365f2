--- Waits for a server's own publish, until it is for the exact text.
local jobs = require('sextant.lsp.jobs')
local preamble = require('sextant.lsp.preamble')
local publishes = require('sextant.lsp.publishes')
local push_freshness = require('sextant.lsp.push_freshness')
local reopen = require('sextant.lsp.reopen')
local servers = require('sextant.lsp.servers')
local texts = require('sextant.lsp.texts')

local M = {}
local api = vim.api
local version_of, flush = texts.version_of, texts.flush

-- A server without an advertised pull is trusted with one once its pull has equalled a publish of the same version.
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
        -- Without proof either way, the pull is tried again.
        return servers.learn(client, nil)
      end
      local last = publishes.last(client.id, uri)
      if last and last.version == version and jobs.same_items(result.items, published) then
        servers.learn(client, 'pull')
      end
    end)
  end)
end

--- Waits for the publish of this very version.
---@param job sextant.Job
function M.push(job)
  if jobs.is_over(job) or jobs.is_loading(job, M.push) then
    return
  end
  jobs.stop_listening(job)
  flush(job.client)
  job.wanted = version_of(job.buf)
  local reads_the_disk = servers.reads_the_disk(job.client)
  if reads_the_disk and vim.bo[job.buf].modified then
    return job:give_up('unavailable', servers.shared().notes.saved_only)
  end
  job.listens = true
  local uri = vim.uri_from_bufnr(job.buf)
  local id = job.client.id
  local asked_at = vim.uv.now()
  local is_reopened = false
  local function reopen_if(due)
    if due and not is_reopened then
      is_reopened = true
      reopen.reopen(job.client, job.buf)
    end
  end
  -- bash-language-server looks at none but the last of the texts that came before its start was over.
  local function is_missed()
    return servers.knows(job.client, 'looks_once') and not publishes.last(id, uri) and publishes.last(id) ~= nil
  end
  reopen_if(servers.knows(job.client, 'preamble') and preamble.keeps_headers(id, uri))
  reopen_if(texts.is_due_again(job.client, job.buf) and not publishes.is_newest(id, uri))
  reopen_if(is_missed())
  if servers.knows(job.client, 'woken_by_request') then
    -- A waiting request makes it look at once instead of waiting for more edits.
    job.client.rpc.request('textDocument/documentSymbol', { textDocument = { uri = uri } }, function() end)
  end

  local habits = {
    one_file = servers.looks_at_one_file(job.client) or texts.stands_alone(job.client, job.buf),
    once = servers.publishes_once(job.client),
    two_phase = servers.amends(job.client),
    reads_disk = reads_the_disk,
    quiet_ms = servers.shared().quiet_ms,
  }

  local function look()
    local last = publishes.last(id, uri)
    if jobs.is_over(job) or not last then
      return
    end
    local version = version_of(job.buf)
    job.wanted = version
    if (not last.version or reads_the_disk) and not publishes.is_later(id, uri, last) then
      return
    end
    local text = {
      version = version,
      is_newest = publishes.is_newest(id, uri),
      epoch = publishes.epoch(id),
      is_doubtful = servers.knows(job.client, 'preamble') and preamble.is_open(id, uri),
      is_reopened = is_reopened,
      asked_at = asked_at,
    }
    local how, ms = push_freshness.judge(text, last, habits, vim.uv.now())
    if ms then
      vim.defer_fn(look, ms)
    elseif how == 'versioned' then
      if not habits.two_phase then
        learn(job, version, last.items)
      end
      job:finish(how, version, last.items)
    elseif how then
      job:finish(how, nil, last.items)
    end
  end

  job.unlisten = publishes.listen(function(client_id, at)
    if client_id ~= id then
      return
    elseif at == uri then
      vim.schedule(look)
    elseif at and is_missed() then
      vim.schedule(function()
        reopen_if(not jobs.is_over(job) and is_missed())
      end)
    elseif not at and job.way == 'push' and servers.way(job.client, job.buf) ~= 'push' then
      -- It has registered for pulls meanwhile, so its publishes may be incomplete.
      job:begin()
    end
  end)
  -- The look comes after the work that the flush has started.
  vim.schedule(look)
end

return M
