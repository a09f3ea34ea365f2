-- Notes how long each piece of the plugin's Lua holds Neovim's main loop, and times settling against a bare pull.
local job = vim.json.decode(io.open(vim.env.SEXTANT_BENCH_JOB):read('a'))
local mine = job.repository .. '/lua/sextant/'

local pieces = {}

local function note(label, wall, cpu)
  local piece = pieces[label] or { wall = {}, cpu = {} }
  pieces[label] = piece
  table.insert(piece.wall, wall)
  table.insert(piece.cpu, cpu)
end

-- Neovim's own work has its own share, counted apart from Sextant's. One part is its work with a changed text: its
-- language clients go through the whole buffer for each hunk. The other part is an answer to its own pull, which only
-- passes by.
local inside = { wall = 0, cpu = 0, calls = 0, what = '' }
local function own(what, run)
  return function(...)
    local wall, cpu = vim.uv.hrtime(), os.clock()
    local results = { pcall(run, ...) }
    inside.wall = inside.wall + (vim.uv.hrtime() - wall) / 1e6
    inside.cpu = inside.cpu + (os.clock() - cpu) * 1000
    inside.calls, inside.what = inside.calls + 1, what
    if not results[1] then
      error(results[2], 0)
    end
    return unpack(results, 2)
  end
end
vim.api.nvim_buf_set_text = own('nvim_buf_set_text', vim.api.nvim_buf_set_text)

local function timed(label, run)
  return function(...)
    local outer = inside
    inside = { wall = 0, cpu = 0, calls = 0, what = '' }
    local wall, cpu = vim.uv.hrtime(), os.clock()
    local results = { pcall(run, ...) }
    local name = label()
    note(name, (vim.uv.hrtime() - wall) / 1e6 - inside.wall, (os.clock() - cpu) * 1000 - inside.cpu)
    if inside.calls > 0 then
      local what = ("Neovim's own, in %s: %s, called %d times"):format(name, inside.what, inside.calls)
      note(what, inside.wall, inside.cpu)
    end
    inside = outer
    if not results[1] then
      error(results[2], 0)
    end
    return unpack(results, 2)
  end
end

-- The place of a function of Sextant's; nil for any other function.
local function place_of(run)
  local info = type(run) == 'function' and debug.getinfo(run, 'S')
  local source = info and info.source:sub(2)
  if source and vim.startswith(source, mine) then
    return ('%s:%d'):format(vim.fs.basename(source), info.linedefined)
  end
end

-- All of Sextant's code enters through one of these three, as an autocommand, or as the handler of a publish.
local current = nil
for _, name in ipairs({ 'schedule', 'defer_fn', 'schedule_wrap' }) do
  local original = vim[name]
  vim[name] = function(run, ...)
    local place = place_of(run)
    if not place then
      return original(run, ...)
    end
    return original(timed(function()
      local label = current or place
      current = nil
      return label
    end, run), ...)
  end
end
local create_autocmd = vim.api.nvim_create_autocmd
vim.api.nvim_create_autocmd = function(event, opts)
  local place = place_of(opts.callback)
  if place then
    opts.callback = timed(function()
      return 'autocommand ' .. place
    end, opts.callback)
  end
  return create_autocmd(event, opts)
end

local neovim_pulls = require('sextant.lsp.neovim_pulls')
local watch_client = neovim_pulls.watch_client
neovim_pulls.watch_client = function(client)
  local before = client.rpc.request
  watch_client(client)
  local watched = client.rpc.request
  if watched ~= before then
    client.rpc.request = function(method, params, callback, ...)
      local theirs = place_of(callback) == nil
      return watched(method, params, theirs and own('the handler of ' .. method, callback) or callback, ...)
    end
  end
end

local handlers = {
  ['sextant.edit.buffers'] = { 'read', 'loaded', 'marks', 'restore_marks' },
  ['sextant.edit.apply'] = { 'apply' },
  ['sextant.lsp.collect_diagnostics'] = { 'collect' },
}
for name, functions in pairs(handlers) do
  local module = require(name)
  for _, handler in ipairs(functions) do
    local original = module[handler]
    module[handler] = function(...)
      current = handler
      return original(...)
    end
  end
end

-- The longest gap between two beats of a timer: a user would feel it, whichever code caused it.
local beat = { last = vim.uv.hrtime(), longest = 0 }
vim.uv.new_timer():start(1, 1, function()
  local now = vim.uv.hrtime()
  beat.longest = math.max(beat.longest, (now - beat.last) / 1e6)
  beat.last = now
end)

local function time(run)
  local wall, cpu = vim.uv.hrtime(), os.clock()
  run()
  return { wall = (vim.uv.hrtime() - wall) / 1e6, cpu = (os.clock() - cpu) * 1000 }
end

function _G.bench_reset()
  pieces = {}
  beat.last, beat.longest = vim.uv.hrtime(), 0
end

function _G.bench_pieces()
  return vim.json.encode({ pieces = next(pieces) and pieces or vim.empty_dict(), gap = beat.longest })
end

-- Neovim's own work for comparison: the same kind of edit, and showing the diagnostics once.
function _G.bench_own()
  local buf = vim.fn.bufnr(job.file)
  local edit = time(function()
    local last = vim.api.nvim_buf_line_count(buf) - 1
    for _, row in ipairs({ last - 20, math.floor(last / 2), 20 }) do
      local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
      vim.api.nvim_buf_set_text(buf, row, 0, row, #line, { line .. ' ' })
    end
  end)
  local many = time(function()
    local edits = {}
    for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
      local at = line:find('first + second', 1, true)
      if at then
        local range = { start = { line = row - 1, character = at - 1 }, ['end'] = { line = row - 1, character = #line } }
        edits[#edits + 1] = { range = range, newText = 'first + other' }
      end
    end
    vim.lsp.util.apply_text_edits(edits, buf, 'utf-8')
  end)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent undo')
  end)
  local found = vim.diagnostic.get(buf)
  local ns = vim.api.nvim_create_namespace('bench')
  local show = time(function()
    vim.diagnostic.set(ns, buf, found)
  end)
  vim.diagnostic.reset(ns, buf)
  local write = time(function()
    vim.cmd('silent write')
  end)
  return vim.json.encode({ edit = edit, many = many, show = show, write = write, found = #found })
end

-- One edit, then the time until the server's answer to a bare pull, or until Sextant's.
function _G.bench_settle(bare, channel)
  local buf = vim.fn.bufnr(job.file)
  local client = vim.lsp.get_clients({ bufnr = buf })[1]
  local line = vim.api.nvim_buf_get_lines(buf, 3, 4, false)[1]
  vim.api.nvim_buf_set_text(buf, 3, 0, 3, #line, { line == '# one' and '# other' or '# one' })
  local start = vim.uv.hrtime()
  local function done()
    vim.rpcnotify(channel, 'measured', (vim.uv.hrtime() - start) / 1e6)
  end
  if bare then
    require('vim.lsp._changetracking').flush(client, buf)
    client.rpc.request('textDocument/diagnostic', { textDocument = { uri = vim.uri_from_bufnr(buf) } }, done)
  else
    require('sextant.lsp.collect_diagnostics').collect({ files = { { path = vim.api.nvim_buf_get_name(buf) } }, ms = 60000 }, done)
  end
end

vim.lsp.config(job.server, { cmd = job.command, filetypes = { 'python' }, root_markers = { '.root' } })
vim.lsp.enable(job.server)
require('sextant').setup({ binary = job.binary })
vim.schedule(function()
  vim.cmd.edit(job.file)
  require('sextant.rpc.channel').send('measure', {})
end)
