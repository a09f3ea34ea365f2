-- Measures the cost of a request in this Neovim: the time without a turn of its loop, and the last change of the answer.
local channel, url, binary = ...

require('sextant').setup({
  binary = binary,
  model = { provider = 'openai_compatible', model = 'm', base_url = url, max_attempts = 1 },
})
for _, name in ipairs({ 'SextantFinished', 'SextantFailed' }) do
  vim.api.nvim_create_autocmd('User', {
    pattern = name,
    callback = function()
      vim.rpcnotify(channel, 'ended')
    end,
  })
end
-- The process and its greeting belong to the first command alone.
require('sextant.rpc.channel').send('nothing', {})
assert(vim.wait(60000, function()
  return require('sextant.rpc.channel').info ~= nil
end, 1), 'no handshake')

local seen = { longest = 0, busiest = 0, rest = 0, pieces = 0 }
local stream = require('sextant.ui.answer').stream
require('sextant.ui.answer').stream = function(text)
  seen.pieces = seen.pieces + 1
  stream(text)
end

local function buffer()
  return vim.fn.bufnr('sextant://answer')
end

function _G.bench_lines()
  return vim.api.nvim_buf_line_count(buffer())
end

-- Takes the longest time between two turns of a timer, and the most processor time that Neovim used in one of them.
function _G.bench_watch()
  local last, used = vim.uv.hrtime(), os.clock()
  assert(vim.uv.new_timer()):start(1, 1, function()
    local now, cpu = vim.uv.hrtime(), os.clock()
    seen.longest = math.max(seen.longest, (now - last) / 1e6)
    seen.busiest = math.max(seen.busiest, (cpu - used) * 1000)
    last, used = now, cpu
  end)
end

-- Stops the task once so many lines are shown.
function _G.bench_stop(lines)
  local poll = assert(vim.uv.new_timer())
  poll:start(1, 1, vim.schedule_wrap(function()
    if poll:is_closing() or buffer() < 1 or _G.bench_lines() < lines then
      return
    end
    poll:close()
    local stopped = vim.uv.hrtime()
    vim.api.nvim_buf_attach(buffer(), false, {
      on_lines = function()
        seen.rest = (vim.uv.hrtime() - stopped) / 1e6
      end,
    })
    vim.cmd('AgentStop')
  end))
end

function _G.bench_seen()
  local text = vim.json.encode(seen)
  seen.longest, seen.busiest = 0, 0
  return text
end
