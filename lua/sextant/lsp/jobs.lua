--- Asks one client about one buffer: whether it can still answer, and the event that the question waits for.
local server_status = require('sextant.lsp.server_status')
local neovim = require('sextant.neovim')
local neovim_pulls = require('sextant.lsp.neovim_pulls')
local publishes = require('sextant.lsp.publishes')
local servers = require('sextant.lsp.servers')

local M = {}
local api = vim.api

---@class sextant.Pulled the answer of one of the providers that a client has registered
---@field identifier string?
---@field items table[]

---@class sextant.Job one client and one buffer; `finish` and `give_up` end it
---@field client vim.lsp.Client
---@field name string of the answer: the client's, or `NAME/check`
---@field compiles boolean whether it asks for what the client's compiler has found
---@field asked table<string, true> the files that the caller has asked about
---@field elsewhere sextant.CompiledElsewhere[]? the compiler's news of other files
---@field buf integer
---@field path string
---@field dead boolean?
---@field wanted integer?
---@field requests table<integer, true> the open requests
---@field unlisten fun()?
---@field way string? how it was asked first: `pull`, `command`, `diagnose` or `push`
---@field begin fun(job: sextant.Job) asks, in the way that suits the client by now
---@field listens boolean? waits for what the server publishes by itself
---@field finish fun(job: sextant.Job, how: string, version: integer?, items: table[], pulled: sextant.Pulled[]?)
---@field give_up fun(job: sextant.Job, how: string, note: string)

--- Ends the job if it cannot be answered any more.
---@param job sextant.Job
---@return boolean
function M.is_over(job)
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

--- Cancels the open requests: abandoned pulls pile up in some servers.
---@param job sextant.Job
function M.cancel(job)
  for id in pairs(job.requests) do
    job.client.rpc.notify('$/cancelRequest', { id = id })
  end
  job.requests = {}
end

---@param job sextant.Job
function M.stop_listening(job)
  if job.unlisten then
    job.unlisten()
    job.unlisten = nil
  end
end

--- A loading server reports on a part only. If it reports the end of its loading, the question waits for that, and
--- calls `again` then.
---@param job sextant.Job
---@param again fun(job: sextant.Job)
---@return boolean
function M.is_loading(job, again)
  local id = job.client.id
  if not servers.knows(job.client, 'tells_when_loaded') or server_status.at_rest(id) then
    return false
  end
  M.stop_listening(job)
  job.note = 'the server has not said that it has loaded'
  job.unlisten = publishes.listen(function(client_id)
    if client_id == id and server_status.at_rest(id) then
      M.stop_listening(job)
      job.note = nil
      vim.schedule(function()
        again(job)
      end)
    end
  end)
  return true
end

--- Sends a request whose answer always comes: Neovim drops the callback of a request that the server cancels.
---@param job sextant.Job
---@param method string
---@param params table
---@param answer fun(err: table?, result: any)
---@return integer? id nil if it could not be sent; the job has ended then
function M.request(job, method, params, answer)
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
      -- The handler is called first, in the tick of the answer.
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

--- True if two lists of diagnostics are equal, in the same order.
---@param a table[]
---@param b table[]
---@return boolean
function M.same_items(a, b)
  local function short(item)
    return { item.range, neovim.value(item.severity) or 1, tostring(neovim.value(item.code)), item.message }
  end
  return #a == #b and vim.deep_equal(vim.tbl_map(short, a), vim.tbl_map(short, b))
end

return M
