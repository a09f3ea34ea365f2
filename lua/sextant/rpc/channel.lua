--- Owns the process and the RPC channel: finds the binary, starts it, sends to it, notes its end. No other file does.
local M = {}

--- The time limit for the binary's answer to the greeting, in milliseconds.
M.handshake_ms = 10000
-- Bytes of one message: nvim-rs reads larger ones in quadratic time.
local PIECE = 60000
-- The number of diagnostics that are encoded in one turn.
local SLICE = 200

---@class sextant.Channel
---@field job integer
---@field ready boolean
---@field queue table[] commands given before the handshake was done
---@field stopping boolean
---@field path string of the binary
---@type sextant.Channel?
local channel = nil

---@class sextant.ProcessInfo the binary's data about itself in the handshake
---@field version string
---@field model string
---@field root string of the workspace
---@field problem? string why it will not work
---@field commands? { name: string, program?: string, languages: string[] }[] what is asked for diagnostics
---@field languages sextant.LanguageCheckers[]
---@field path string of the binary

--- The data of the running process; for :checkhealth.
---@type sextant.ProcessInfo?
M.info = nil
---@type fun(text: string)[]
local mourners = {}
--- The folder of this plugin.
M.folder = vim.fs.normalize(vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)), '../../..'))

--- The paths where the binary may be, in order of preference.
---@return string[]
function M.candidates(options)
  local list = {}
  if options.binary then
    list[1] = vim.fs.normalize(options.binary)
    return list
  end
  for _, build in ipairs({ 'release', 'debug' }) do
    list[#list + 1] = vim.fs.joinpath(M.folder, 'target', build, 'sextant')
  end
  local path = vim.fn.exepath('sextant')
  if path ~= '' then
    list[#list + 1] = path
  end
  return list
end

---@return string? path
function M.find(options)
  for _, path in ipairs(M.candidates(options)) do
    if vim.fn.executable(path) == 1 then
      return path
    end
  end
end

local function build_hint()
  return ('build it with `cargo build --release` in %s, or set `binary` in setup(); see :checkhealth sextant'):format(
    M.folder
  )
end

--- Calls `listener` with the reason when the process has ended by itself, or could not be started.
---@param listener fun(text: string)
function M.on_gone(listener)
  if not vim.list_contains(mourners, listener) then
    mourners[#mourners + 1] = listener
  end
end

-- The reason why the last process ended, or did not start.
---@type string?
local reason

local function gone(text)
  reason = text
  for _, listener in ipairs(mourners) do
    listener(text)
  end
end

local function fail(text)
  local had = channel
  channel = nil
  M.info = nil
  if had and had.job then
    had.stopping = true
    vim.fn.jobstop(had.job)
  end
  gone(text)
end

local function on_exit(job, code)
  if not channel or channel.job ~= job or channel.stopping then
    return
  end
  local was_ready = channel.ready
  channel = nil
  M.info = nil
  local what = was_ready and 'the agent process ended' or 'the agent process ended before it answered'
  local text = ('%s (exit code %d); the next command starts it again. Log: %s'):format(what, code, M.log_path())
  gone(text)
end

--- The log file of the binary.
function M.log_path()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'sextant.log')
end

local function flush_queue()
  local queue = channel.queue
  channel.queue = {}
  for _, item in ipairs(queue) do
    M.send(item[1], item[2])
  end
end

--- Starts the binary. Returns false if it cannot be started; the user has got a message then.
local function start(options)
  local path = M.find(options)
  if not path then
    local tried = table.concat(M.candidates(options), ', ')
    fail(('no sextant binary found (looked for: %s); %s'):format(tried ~= '' and tried or 'PATH', build_hint()))
    return false
  end
  local ok, job = pcall(vim.fn.jobstart, { path, 'nvim', '--log', M.log_path() }, {
    rpc = true,
    on_exit = function(id, code)
      on_exit(id, code)
    end,
  })
  if not ok or job <= 0 then
    fail(('%s could not be started; %s'):format(path, build_hint()))
    return false
  end
  channel = { job = job, ready = false, queue = {}, stopping = false, path = path }
  local this = channel
  vim.defer_fn(function()
    if channel == this and not this.ready then
      fail(
        ('%s did not answer within %g s; the next command tries again. Log: %s'):format(
          path,
          M.handshake_ms / 1000,
          M.log_path()
        )
      )
    end
  end, M.handshake_ms)
  vim.rpcnotify(
    job,
    'hello',
    vim.json.encode({
      version = require('sextant').version,
      cwd = vim.fn.getcwd(),
      options = require('sextant.options').for_binary(options),
    })
  )
  return true
end

--- Takes the binary's data from the handshake; false if the binary does not fit, and was ended.
---@param info sextant.ProcessInfo
---@return boolean
function M.welcome(info)
  if not channel then
    return false
  end
  local wanted = require('sextant').version
  if info.version ~= wanted then
    fail(('%s is version %s, this plugin needs %s; %s'):format(channel.path, info.version, wanted, build_hint()))
    return false
  elseif info.problem then
    fail(info.problem)
    return false
  end
  M.info = vim.tbl_extend('force', info, { path = channel.path })
  return true
end

--- Sends the messages that were queued while the binary started; from now on none is queued.
function M.open()
  if channel then
    channel.ready = true
    flush_queue()
  end
end

-- Starts the binary where none runs; false if it cannot be started.
---@return boolean
local function ensure()
  if channel then
    return true
  end
  local options, problems = require('sextant.options').resolve(require('sextant').given)
  if #problems > 0 then
    fail('setup() has mistakes: ' .. table.concat(problems, '; ') .. '. See :help sextant-options')
    return false
  end
  return start(options)
end

--- Does the handshake now, and waits for its end: for `:checkhealth`, which shows its outcome at once.
---@return sextant.ProcessInfo? info nil without an answer in time
---@return integer ms
---@return string? reason of a missing answer, in words for a user
function M.handshake()
  local began = vim.uv.now()
  reason = nil
  if ensure() then
    vim.wait(M.handshake_ms, function()
      return not channel or channel.ready
    end, 10)
  end
  return M.info, vim.uv.now() - began, reason
end

--- Sends a command to the binary, starting it if needed.
---@param name string
---@param params table
function M.send(name, params)
  if not ensure() then
    return
  end
  if not channel.ready then
    table.insert(channel.queue, { name, params })
    return
  end
  local ok = pcall(vim.rpcnotify, channel.job, name, vim.json.encode(params))
  if not ok then
    fail('the agent process does not listen any more; the next command starts it again')
  end
end

--- True if a process is running; never starts one.
function M.running()
  return channel ~= nil
end

function M.stop()
  if channel then
    channel.stopping = true
    vim.fn.jobstop(channel.job)
    channel = nil
    M.info = nil
  end
end

-- Messages besides commands, each as a coroutine that yields where its next part may wait for a turn. No message
-- overtakes another: an amendment must not come before the answer that it amends.
---@type thread[]
local outbox = {}

local function advance()
  local ok, err = coroutine.resume(outbox[1])
  if coroutine.status(outbox[1]) == 'dead' then
    table.remove(outbox, 1)
  end
  if #outbox > 0 then
    vim.schedule(advance)
  end
  if not ok then
    error(err)
  end
end

local function post(work)
  outbox[#outbox + 1] = coroutine.create(work)
  if #outbox == 1 then
    advance()
  end
end

-- Encodes the diagnostics of a long report a slice a turn, each as a text of its own.
---@async
local function slice(report)
  local items = report.items
  if #items <= SLICE then
    return
  end
  local slices = {}
  for from = 1, #items, SLICE do
    slices[#slices + 1] = vim.json.encode(vim.list_slice(items, from, from + SLICE - 1))
    coroutine.yield()
  end
  report.items, report.slices = {}, slices
end

-- Sends in turns of its own: the work for the answer has held Neovim long enough.
---@param job integer? of the process that asked
---@param reports table[] those in the result that may be long
local function answer(job, id, err, result, reports)
  post(function()
    local ok, text = pcall(function()
      for _, report in ipairs(reports) do
        slice(report)
      end
      return vim.json.encode(err and { error = err } or { result = result })
    end)
    if not ok then
      text = vim.json.encode({ error = { kind = 'other', message = 'the answer cannot be sent: ' .. tostring(text) } })
    end
    for at = 1, #text, PIECE do
      -- A process that is gone needs no answer.
      pcall(vim.rpcnotify, job, 'reply', id, at + PIECE > #text, text:sub(at, at + PIECE - 1))
      if at + PIECE <= #text then
        coroutine.yield()
      end
    end
  end)
end

--- Returns the function that answers a question of the binary, once. It answers the process that asks now: by the time
--- of the answer another may be there, with questions of the same numbers.
---@param id integer
---@param has_reports boolean whether the result is a list of reports, which may be long
---@return fun(err: table?, result: any)
function M.reply_to(id, has_reports)
  local job, done = channel and channel.job, false
  return function(err, result)
    if not done then
      done = true
      vim.schedule(function()
        answer(job, id, err, result, has_reports and result or {})
      end)
    end
  end
end

--- Sends the binary an answer that came after its deadline. It is sent later, like every answer.
function M.late_answer(report)
  vim.schedule(function()
    post(function()
      slice(report)
      if channel and channel.ready then
        pcall(vim.rpcnotify, channel.job, 'late', vim.json.encode(report))
      end
    end)
  end)
end

return M
