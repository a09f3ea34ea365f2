--- Asks the binary for something that it knows, and gets the answer later; a completion waits for it, for a moment.
local rpc = require('sextant.rpc.channel')

local M = {}

-- The most milliseconds that a completion waits: a process that starts has said who it is by then.
local PATIENCE_MS = 1000

local last = 0
---@type table<integer, fun(result: table)> by number
local open = {}

--- Asks; the process is started if needed.
---@param name string
---@param params table
---@param done fun(result: table)
---@return integer id
function M.ask(name, params, done)
  last = last + 1
  open[last] = done
  params.id = last
  rpc.send(name, params)
  return last
end

--- Asks, and waits for the answer while a key of the user's does.
---@param name string
---@param params table
---@return table? result nil where none came in time
function M.answer(name, params)
  local result
  local id = M.ask(name, params, function(found)
    result = found
  end)
  vim.wait(rpc.running() and PATIENCE_MS or 0, function()
    return result ~= nil
  end, 5)
  open[id] = nil
  return result
end

--- Called by the binary: the answer to a question.
---@param json string
function M.answered(json)
  local answer = vim.json.decode(json, { luanil = { object = true, array = true } })
  local done = open[answer.id]
  open[answer.id] = nil
  if done then
    done(answer.result)
  end
end

return M
