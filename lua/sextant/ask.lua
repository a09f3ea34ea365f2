--- Asks from Lua: `require('sextant').ask{ … }`, with a callback for the end.
local M = {}
local api = vim.api

---@class sextant.AskOptions
---@field text string the request
---@field workspace? boolean about the whole workspace, like `:AgentAsk!`
---@field range? integer[] first and last line, from 1
---@field callback? fun(result: sextant.AskResult) called once, at the end

---@class sextant.AskResult
---@field ok boolean whether the task ended well
---@field summary? string of a task that ended
---@field failure? { kind: string, message: string, hint: string } of one that failed, was stopped or was refused

-- Calls back at the end of the task of this request, or when it is refused.
---@param text string
---@param callback fun(result: sextant.AskResult)
---@return integer group of the listener
local function listen(text, callback)
  local group = api.nvim_create_augroup('sextant_ask_' .. vim.uv.hrtime(), {})
  local runs = false
  api.nvim_create_autocmd('User', {
    group = group,
    pattern = { 'SextantStarted', 'SextantFinished', 'SextantFailed' },
    callback = function(args)
      local data = args.data or {}
      if args.match == 'SextantStarted' then
        runs = runs or data.request == text
      elseif runs and not data.request or data.request == text then
        api.nvim_del_augroup_by_id(group)
        callback({ ok = data.ok == true, summary = data.summary, failure = data.failure })
      end
    end,
  })
  return group
end

--- Asks about the code at the cursor of the current window.
---@param options sextant.AskOptions
function M.run(options)
  vim.validate('text', options.text, 'string')
  local text = vim.trim(options.text)
  if text == '' then
    error('sextant: the `text` to ask is empty', 0)
  end
  local group = options.callback and listen(text, options.callback)
  local command = { cmd = 'AgentAsk', args = { text }, bang = options.workspace or nil, range = options.range }
  local is_good, failure = pcall(vim.cmd, command)
  if not is_good then
    -- Nothing was asked: the end of another request is not this one's.
    if group then
      api.nvim_del_augroup_by_id(group)
    end
    error(failure, 0)
  end
end

return M
