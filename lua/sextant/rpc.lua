--- The process and the RPC channel: finds the binary, starts it, speaks with it. No other file does.
local M = {}

--- How long the binary may take to answer the greeting, in milliseconds.
M.handshake_ms = 10000
-- Bytes of one message: nvim-rs reads larger ones in quadratic time.
local PIECE = 60000
-- Diagnostics that are written down in one turn.
local SLICE = 200

---@class sextant.Channel
---@field job integer
---@field ready boolean
---@field queue table[] commands given before the handshake was done
---@field stopping boolean
local channel = nil

--- What the binary told about itself in the handshake; for :checkhealth.
M.info = nil
--- The folder of this plugin.
M.folder = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))))

-- JSON's null is nil here: `vim.NIL` would count as true.
local function decode(json)
  return vim.json.decode(json, { luanil = { object = true, array = true } })
end

--- Where the binary is looked for, in order.
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
  return ('build it with `cargo build --release` in %s, or set `binary` in setup(); :checkhealth sextant tells more'):format(
    M.folder
  )
end

local function fail(text)
  local had = channel
  channel = nil
  M.info = nil
  if had and had.job then
    had.stopping = true
    vim.fn.jobstop(had.job)
  end
  require('sextant.show').process_gone(text)
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
  require('sextant.show').process_gone(text)
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

--- Starts the binary. Returns false when it cannot be started; the user has been told.
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
  -- What only concerns windows and the process itself stays here.
  local theirs = {
    model = options.model,
    mode = options.mode,
    -- An empty table would be an object there.
    commands = #options.commands > 0 and options.commands or nil,
    diagnostics = options.diagnostics,
    save = options.save,
    quickfix = options.quickfix,
    limits = options.limits,
    memory = options.memory,
    commands_allowed = options.commands_allowed,
    commands_env = options.commands_env,
    -- An empty table would be sent as a list.
    preferences = next(options.preferences) and options.preferences or nil,
  }
  vim.rpcnotify(
    job,
    'hello',
    vim.json.encode({
      version = require('sextant').version,
      cwd = vim.fn.getcwd(),
      options = theirs,
    })
  )
  return true
end

--- Called by the binary once it has read the greeting.
---@param json string
function M.welcome(json)
  local info = decode(json)
  if not channel then
    return
  end
  local wanted = require('sextant').version
  if info.version ~= wanted then
    fail(('%s is version %s, this plugin needs %s; %s'):format(channel.path, info.version, wanted, build_hint()))
    return
  end
  if info.problem then
    fail(info.problem)
    return
  end
  channel.ready = true
  require('sextant.servers').know(info.servers)
  info.servers = nil
  M.info = vim.tbl_extend('force', info, { path = channel.path })
  require('sextant.publishes').watch()
  flush_queue()
end

--- Sends a command to the binary, starting it where needed.
---@param name string
---@param params table
function M.send(name, params)
  if not channel then
    local options, problems = require('sextant.options').resolve(require('sextant').given)
    if #problems > 0 then
      return fail('setup() has mistakes: ' .. table.concat(problems, '; ') .. '. See :help sextant-options')
    end
    if not start(options) then
      return
    end
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

--- Whether a process is running; never starts one.
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

-- What the binary may ask. Each handler gets the parameters and a `reply(err, result)` to call once.
local handlers = {
  read = { 'sextant.buffers', 'read' },
  apply = { 'sextant.apply', 'apply' },
  reread = { 'sextant.buffers', 'reread' },
  close = { 'sextant.buffers', 'close' },
  loaded = { 'sextant.buffers', 'loaded' },
  marks = { 'sextant.buffers', 'marks' },
  restore_marks = { 'sextant.buffers', 'restore_marks' },
  settle = { 'sextant.settle', 'settle' },
  fixes = { 'sextant.fixes', 'fixes' },
  fix_change = { 'sextant.fixes', 'change' },
}

-- What is sent besides commands, each as a coroutine that yields where its next part may wait for a turn. None
-- overtakes another: an amendment must not come before what it amends.
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

-- Writes the diagnostics of a long report down a slice a turn, each as a text of its own.
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

-- In turns of its own: what made the answer has held Neovim long enough.
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

--- Called by the binary: runs a handler later, answers through a notification.
---@param id integer
---@param method string
---@param json string
function M.call(id, method, json)
  -- Who asks is answered: by then another process may be there, with questions of the same numbers.
  local job = channel and channel.job
  vim.schedule(function()
    local handler = handlers[method]
    local done = false
    local function reply(err, result)
      if not done then
        done = true
        vim.schedule(function()
          answer(job, id, err, result, method == 'settle' and result or {})
        end)
      end
    end
    if not handler then
      return reply({ kind = 'other', message = 'unknown method ' .. method })
    end
    local ok, err = pcall(function()
      require(handler[1])[handler[2]](decode(json), reply)
    end)
    if not ok then
      reply({ kind = 'other', message = tostring(err) })
    end
  end)
end

--- Called by the binary: shows an event.
function M.event(json)
  vim.schedule(function()
    require('sextant.show').event(decode(json))
  end)
end

--- Tells the binary that an answer came after its deadline. Later, as every answer is sent.
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
