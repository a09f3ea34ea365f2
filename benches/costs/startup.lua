-- Times of loading the plugin and of the first command, measured inside one Neovim.
local job = vim.json.decode(io.open(vim.env.SEXTANT_BENCH_JOB):read('a'))

local function forget()
  for name in pairs(package.loaded) do
    if name:match('^sextant') then
      package.loaded[name] = nil
    end
  end
  vim.g.loaded_sextant = nil
end

local function time(run)
  local start = vim.uv.hrtime()
  run()
  return (vim.uv.hrtime() - start) / 1e6
end

local out = { plugin = {}, setup = {}, empty = {}, handshake = {} }
local empty = vim.fn.tempname() .. '.lua'
vim.fn.writefile({ '-- nothing' }, empty)
for i = 1, job.repetitions do
  forget()
  out.empty[i] = time(function()
    vim.cmd.source(empty)
  end)
  out.plugin[i] = time(function()
    vim.cmd.source(job.repository .. '/plugin/sextant.lua')
  end)
  out.setup[i] = time(function()
    require('sextant').setup({ binary = job.sextant })
  end)
end
for i = 1, job.handshakes do
  out.handshake[i] = time(function()
    local rpc = require('sextant.rpc.channel')
    rpc.send('nothing', {})
    assert(vim.wait(10000, function()
      return rpc.info ~= nil
    end, 1), 'no handshake')
  end)
  require('sextant.rpc.channel').stop()
end
local file = assert(io.open(job.out, 'w'))
file:write(vim.json.encode(out))
file:close()
vim.cmd.qall({ bang = true })
