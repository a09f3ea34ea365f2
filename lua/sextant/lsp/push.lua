--- Waits for a server's own publish, until it is for the exact text.
local jobs = require('sextant.lsp.jobs')
local preamble = require('sextant.lsp.preamble')
local publishes = require('sextant.lsp.publishes')
local servers = require('sextant.lsp.servers')
local texts = require('sextant.lsp.texts')

local M = {}
local api = vim.api
local version_of, flush = texts.version_of, texts.flush

-- The silence after a publish without proof that ends a list while clangd builds a preamble.
local PREAMBLE_MS = 3000

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
  if servers.knows(job.client, 'woken_by_request') then
    -- A waiting request makes it look at once instead of waiting for more edits.
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
    if jobs.is_over(job) then
      return
    end
    local version = version_of(job.buf)
    job.wanted = version
    local last = publishes.last(id, uri)
    if not last then
      return
    elseif not last.version or reads_the_disk then
      -- A server that reads the disk names the version of its opening.
      if publishes.is_later(id, uri, last) then
        wait(last, version, servers.shared().quiet_ms, 'quiet')
      end
    elseif last.version ~= version then
      return
    elseif last.ambiguous or not publishes.is_newest(id, uri) then
      -- The version of a file does not move with the others that it depends on.
      wait(last, version, servers.shared().quiet_ms, 'quiet')
    elseif servers.knows(job.client, 'preamble') and preamble.is_open(id, uri) then
      wait(last, version, PREAMBLE_MS, 'quiet')
    elseif servers.amends(job.client) or not servers.publishes_once(job.client) then
      local how = servers.publishes_once(job.client) and 'versioned' or 'quiet'
      wait(last, version, math.max(1, servers.shared().quiet_ms - (vim.uv.now() - last.at)), how)
    else
      learn(job, version, last.items)
      job:finish('versioned', version, last.items)
    end
  end

  job.unlisten = publishes.listen(function(client_id, at)
    if client_id ~= id then
      return
    elseif at == uri then
      vim.schedule(look)
    elseif not at and job.way == 'push' and servers.way(job.client, job.buf) ~= 'push' then
      -- It has registered for pulls meanwhile, so its publishes may be incomplete.
      job:begin()
    end
  end)
  -- The look comes after the work that the flush has started.
  vim.schedule(look)
end

return M
