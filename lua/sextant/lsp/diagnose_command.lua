--- Asks a client by the command of gopls that publishes all that it finds in a file before it answers.
local jobs = require('sextant.lsp.jobs')
local publishes = require('sextant.lsp.publishes')
local push = require('sextant.lsp.push')
local server_status = require('sextant.lsp.server_status')
local servers = require('sextant.lsp.servers')
local texts = require('sextant.lsp.texts')

local M = {}

-- gopls leaves out the version 0, which Neovim gives to a text that was opened and not changed.
---@param publish sextant.Publish?
---@param version integer
local function is_of(publish, version)
  return publish ~= nil and (publish.version or 0) == version and not publish.ambiguous
end

--- Asks for the diagnostics of this exact text. After an error, or without a publish for this text, the last list may be
--- that of an older one: then the publishes are waited for.
---@param job sextant.Job
function M.diagnose(job)
  if jobs.is_over(job) then
    return
  end
  texts.flush(job.client)
  job.wanted = texts.version_of(job.buf)
  local id, uri, wanted = job.client.id, vim.uri_from_bufnr(job.buf), job.wanted
  local texts_then, complaints = texts.texts_of(job.client, job.buf), server_status.complaints(id)
  local params = { command = servers.DIAGNOSE, arguments = { { Files = { uri } } } }
  jobs.request(job, 'workspace/executeCommand', params, function(err)
    if jobs.is_over(job) then
      return
    elseif texts.texts_of(job.client, job.buf) ~= texts_then then
      return M.diagnose(job)
    end
    local last = publishes.last(id, uri)
    if err or server_status.complaints(id) ~= complaints or not is_of(last, wanted) then
      return push.push(job)
    end
    job:finish('exact', wanted, last.items)
  end)
end

return M
