--- Asks the clients of a buffer about a name in it: its definition, its references, its hover, its renaming.
local background_work = require('sextant.lsp.background_work')
local buffers = require('sextant.edit.buffers')
local neovim = require('sextant.neovim')
local publishes = require('sextant.lsp.publishes')
local servers = require('sextant.lsp.servers')

local M = {}

local RENAME, PREPARE = 'textDocument/rename', 'textDocument/prepareRename'
-- Codes of the protocol: the content was modified, the server cancelled; and a missing method.
local OUTDATED = { [-32801] = true, [-32802] = true }
local METHOD_NOT_FOUND = -32601
-- The time in which a server ends the progress that it reports for a question of ours. It begins none before, and so no
-- work of its own is taken for that.
local OWN_PROGRESS_MS = 500

-- The time in which a server may still read a text that it has published nothing about, and the pause before it is asked
-- again. bash-language-server answers with nothing until it has. src/diagnostics/server/name_requests.rs has the same.
local READS_MS, AGAIN_MS = 3000, 100

---@type table<integer, fun()> how a question that is open is called off, by its number
local open = {}

-- Converts the place to the client's own unit.
local function position(params, buf, encoding)
  local line = vim.api.nvim_buf_get_lines(buf, params.line, params.line + 1, false)[1] or ''
  local column = math.min(params.column, #line)
  if encoding ~= 'utf-8' then
    column = vim.str_utfindex(line, encoding, column, false)
  end
  return { line = params.line, character = column }
end

local function is_loaded_as(uri)
  local ok, buf = pcall(function()
    return buffers.find(vim.uri_to_fname(uri))
  end)
  return ok and buf or nil
end

-- The versions of the buffers that an edit is for; nil if it is for an earlier text.
local function ticks_of(edit)
  local ticks = {}
  local function note(uri, version)
    local buf = type(uri) == 'string' and is_loaded_as(uri)
    if buf then
      local sent = vim.lsp.util.buf_versions[buf]
      if type(version) == 'number' and sent and version ~= sent then
        return false
      end
      ticks[uri] = vim.b[buf].changedtick
    end
    return true
  end
  if type(edit) ~= 'table' then
    return ticks
  end
  for _, change in ipairs(type(edit.documentChanges) == 'table' and edit.documentChanges or {}) do
    local document = type(change) == 'table' and change.textDocument
    if type(document) == 'table' and not note(document.uri, document.version) then
      return nil
    end
  end
  for uri in pairs(type(edit.changes) == 'table' and edit.changes or {}) do
    note(uri)
  end
  return ticks
end

-- True if an answer ends the question. The binary reads its content.
local function says_something(job)
  local value = job.answer and job.answer.how == 'answered' and job.answer.value
  return type(value) == 'table' and next(value) ~= nil and (value.contents == nil or #vim.inspect(value.contents) > 2)
end

local function set(job, how, more)
  if not job.answer then
    job.answer = vim.tbl_extend('force', { how = how }, more or {})
    job.request = nil
    job.notify()
  end
end

local function refused(job, err)
  if OUTDATED[err.code] then
    set(job, 'outdated')
  elseif err.code == METHOD_NOT_FOUND then
    set(job, 'skipped')
  else
    set(job, 'refused', { message = tostring(err.message or err.code) })
  end
end

-- The part that the client has not read yet: its own work, and the files that were opened for the question.
local function unread(client, params)
  local unpublished = 0
  for _, path in ipairs(params.lent or {}) do
    local buf = buffers.find(path)
    if buf and vim.lsp.buf_is_attached(buf, client.id) and not publishes.last(client.id, vim.uri_from_bufnr(buf)) then
      unpublished = unpublished + 1
    end
  end
  return background_work.unread(client, unpublished)
end

-- Asks once more if the server has answered with nothing about a text that it may not have read yet.
local function asks_again(job, params, value)
  local is_nothing = value == nil or type(value) == 'table' and next(value) == nil
  local since = vim.uv.now() - job.began
  local is_unread = servers.way(job.client, job.buf) == 'push'
    and not publishes.last(job.client.id, vim.uri_from_bufnr(job.buf))
  if
    not (is_nothing and is_unread and params.spans_project)
    or since >= math.min(READS_MS, params.reading_ms)
    or job.answer
  then
    return false
  end
  job.request = nil
  vim.defer_fn(function()
    if not job.answer then
      job.ask()
    end
  end, AGAIN_MS)
  return true
end

local function take(job, params, value)
  if not vim.api.nvim_buf_is_loaded(job.buf) or vim.b[job.buf].changedtick ~= params.version then
    return set(job, 'outdated')
  elseif asks_again(job, params, value) then
    return
  end
  if vim.islist(value) and #value > params.most then
    value = vim.list_slice(value, 1, params.most)
  end
  local ticks = params.method == RENAME and ticks_of(value) or {}
  if params.method == RENAME and not ticks_of(value) then
    return set(job, 'outdated')
  end
  local function settle()
    local left = params.spans_project and unread(job.client, params) or nil
    -- The work may have ended before the answer that it shaped.
    local loads = params.spans_project and servers.knows(job.client, 'answers_while_loading')
    if loads and not left and background_work.begun(job.client.id) ~= job.work_begun then
      left = 'loading'
    end
    -- A server begins to read the project with the first text.
    if left and not params.read_over then
      job.request, job.asked = nil, false
      job.again()
    elseif not job.answer then
      set(job, 'answered', { value = value, ticks = ticks, unread = left })
    end
  end
  if
    params.spans_project
    and not servers.knows(job.client, 'answers_while_indexing')
    and unread(job.client, params)
  then
    return vim.defer_fn(settle, OWN_PROGRESS_MS)
  end
  settle()
end

local function request(job, method, ask, done)
  local ok, id = job.client:request(method, ask, function(err, value)
    if job.answer then
      return
    elseif err then
      return refused(job, type(err) == 'table' and err or { message = tostring(err) })
    end
    done(neovim.without_null(value))
  end, job.buf)
  if not ok then
    return set(job, 'gone', { message = 'the server has stopped' })
  end
  job.request = id
end

local function ask(job, params)
  local client, buf = job.client, job.buf
  local question = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = position(params, buf, client.offset_encoding),
  }
  if params.method == 'textDocument/references' then
    question.context = { includeDeclaration = true }
  end
  local function put()
    question.newName = params.new_name
    request(job, params.method, question, function(value)
      take(job, params, value)
    end)
  end
  if params.method == RENAME and client:supports_method(PREPARE, buf) then
    return request(job, PREPARE, question, function(value)
      if neovim.value(value) ~= nil then
        put()
      elseif not asks_again(job, params, nil) then
        set(job, 'refused', { message = 'this cannot be renamed' })
      end
    end)
  end
  put()
end

-- A client that still starts is asked after its start; one that still reads the project, after that or its time.
local function begin(job, params)
  if job.client:is_stopped() then
    set(job, 'gone', { message = 'the server has stopped' })
  elseif job.client.initialized and params.lent and not job.asked then
    if not job.client:supports_method(params.method, job.buf) then
      return set(job, 'skipped')
    end
    if params.spans_project and not params.read_over and unread(job.client, params) then
      return
    end
    job.asked, job.work_begun = true, background_work.begun(job.client.id)
    job.began = job.began or vim.uv.now()
    ask(job, params)
  end
end

-- Opens files hidden, one a turn, so that the clients know them.
local function lend(paths, lent, is_over, done)
  local path = table.remove(paths, 1)
  if is_over() then
    return
  elseif not path then
    return done()
  end
  if not buffers.find(path) and pcall(buffers.open, path) then
    lent[#lent + 1] = path
  end
  vim.schedule(function()
    lend(paths, lent, is_over, done)
  end)
end

-- Closes the files again, except those that the answer is about to change: their versions have just been sent.
local function give_back(lent, jobs)
  local kept = {}
  for _, job in ipairs(jobs) do
    for uri in pairs(job.answer and job.answer.ticks or {}) do
      kept[vim.uri_to_fname(uri)] = true
    end
  end
  local paths = vim.tbl_filter(function(path)
    return not kept[path]
  end, lent)
  buffers.close({ paths = paths }, function() end)
end

--- Asks every client of the buffer at once; answers with the first in their order that has content, and those before
--- it. A client without an answer in time is reported as silent.
---@param params { id: integer, path: string, version: integer, line: integer, column: integer, method: string, new_name: string?, most: integer, ms: integer, spans_project: boolean, reading_ms: integer }
function M.look_up(params, reply)
  local buf = buffers.find(params.path)
  if not buf then
    return reply({ kind = 'not_found' })
  elseif vim.b[buf].changedtick ~= params.version then
    return reply({ kind = 'stale' })
  end
  local clients = vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })
  table.sort(clients, function(a, b)
    return a.name < b.name or (a.name == b.name and a.id < b.id)
  end)
  local jobs, closed, unlisten, lent = {}, false, nil, {}
  local function close()
    if closed then
      return
    end
    closed, open[params.id] = true, nil
    if unlisten then
      unlisten()
    end
    for _, job in ipairs(jobs) do
      if job.request then
        job.client.rpc.notify('$/cancelRequest', { id = job.request })
        job.request = nil
      end
    end
    give_back(lent, jobs)
  end
  -- With `late`, a client that has not answered is reported as silent.
  local function look(late)
    if closed then
      return
    end
    local answers = {}
    for _, job in ipairs(jobs) do
      if not job.answer and not late then
        return
      end
      local answer = job.answer or { how = 'silent' }
      if answer.how ~= 'skipped' then
        answer.client, answer.encoding = job.client.name, job.client.offset_encoding or 'utf-16'
        answers[#answers + 1] = answer
      end
      if says_something(job) then
        break
      end
    end
    close()
    reply(nil, answers)
  end
  for _, client in ipairs(clients) do
    jobs[#jobs + 1] = {
      client = client,
      buf = buf,
      notify = function()
        vim.schedule(look)
      end,
    }
    local job = jobs[#jobs]
    job.ask = function()
      if not closed then
        ask(job, params)
      end
    end
  end
  open[params.id] = close
  publishes.watch()
  local function begin_all()
    for _, job in ipairs(closed and {} or jobs) do
      if not job.answer then
        begin(job, params)
      end
    end
  end
  local function begin_soon()
    vim.schedule(begin_all)
  end
  for _, job in ipairs(jobs) do
    job.again = begin_soon
  end
  unlisten = publishes.listen(begin_soon)
  vim.defer_fn(function()
    look(true)
  end, math.max(1, params.ms))
  vim.defer_fn(function()
    params.read_over = true
    begin_all()
  end, params.reading_ms)
  lend(params.beside or {}, lent, function()
    return closed
  end, function()
    params.lent = lent
    begin_all()
    look()
  end)
end

--- Cancels a question whose caller no longer waits.
function M.forget(params, reply)
  local close = open[params.id]
  if close then
    close()
  end
  reply(nil, true)
end

return M
