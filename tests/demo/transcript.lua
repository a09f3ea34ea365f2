-- Drives the demo without a terminal and prints what happens: the product's own words, the real diagnostics.
local file = assert(vim.env.SEXTANT_DEMO_FILE, 'SEXTANT_DEMO_FILE is not set; make demo sets it')
local request = 'make this file type-clean'
-- Milliseconds for any one thing to happen; a cold server on a busy machine is slow.
local PATIENCE = 180000

local function say(text)
  io.stdout:write(text, '\n')
  io.stdout:flush()
end

local function heading(text)
  say('\n== ' .. text .. ' ' .. ('='):rep(math.max(3, 100 - vim.api.nvim_strwidth(text))))
end

local function give_up(text)
  say('\ndemo: ' .. text)
  vim.cmd('cquit 1')
end

-- Every file of the project with its bytes; what the checkers keep for themselves is not the project.
local function snapshot()
  local found = {}
  for name, kind in vim.fs.dir('.', { depth = 20 }) do
    local own = name:match('%.ruff_cache') or name:match('__pycache__') or name:match('^target/')
    if kind == 'file' and not own then
      local handle = assert(io.open(name, 'rb'))
      found[name] = handle:read('*a')
      handle:close()
    end
  end
  return found
end

local function print_diff(before, after)
  local names = vim.tbl_keys(vim.tbl_extend('keep', before, after))
  table.sort(names)
  for _, name in ipairs(names) do
    local old, new = before[name] or '', after[name] or ''
    if old ~= new then
      say(('--- a/%s\n+++ b/%s'):format(name, name))
      say(vim.trim((vim.text.diff or vim.diff)(old, new, { result_type = 'unified', ctxlen = 1 }) --[[@as string]]))
    end
  end
end

-- Errors and warnings of the servers, as Neovim has them.
local function diagnostics(buf)
  local found = vim.diagnostic.get(buf, { severity = { min = vim.diagnostic.severity.WARN } })
  table.sort(found, function(a, b)
    return a.lnum < b.lnum or (a.lnum == b.lnum and a.col < b.col)
  end)
  return found
end

local function print_diagnostics(buf)
  for _, item in ipairs(diagnostics(buf)) do
    local kind = item.severity == vim.diagnostic.severity.ERROR and 'error' or 'warning'
    local message = vim.split(item.message, '\n', { plain = true })[1]
    say(('%4d  %-7s %-13s %-27s %s'):format(item.lnum + 1, kind, item.source or '', item.code or '', message))
  end
end

-- The last event of each name, and how the running task ended.
local heard = {}
local answer_line = 0

-- What the answer window got since the last call: each tool with its target, and what came of it.
local function print_answer(quiet)
  local buf = vim.fn.bufnr('sextant://answer')
  if buf < 1 then
    return
  end
  local last = vim.api.nvim_buf_line_count(buf) - 1
  for _, text in ipairs(quiet and {} or vim.api.nvim_buf_get_lines(buf, answer_line, last, false)) do
    if text:match('^%d+%. ') or text:match('^   ') then
      say(text)
    end
  end
  answer_line = math.max(answer_line, last)
end

for _, name in ipairs({ 'SextantPlan', 'SextantEdited', 'SextantFinished', 'SextantFailed' }) do
  vim.api.nvim_create_autocmd('User', {
    pattern = name,
    callback = function(args)
      heard[name] = args.data
      print_answer(name == 'SextantFinished')
    end,
  })
end

-- The steps of a plan with their marks, and what came of each.
local function print_steps(markdown)
  for _, text in ipairs(vim.split(markdown, '\n', { plain = true })) do
    local outcome = text:match('^  %- outcome: (.*)')
    if text:match('^%- %[') then
      say(text)
    elseif outcome then
      say('      ' .. outcome)
    end
  end
end

local function wait(what, condition)
  if not vim.wait(PATIENCE, condition, 20) then
    error(('%s: nothing after %d s'):format(what, PATIENCE / 1000), 0)
  end
end

-- Waits for the end of a task; a failure ends the demo.
local function finished(what)
  wait(what, function()
    return heard.SextantFinished or heard.SextantFailed
  end)
  if heard.SextantFailed then
    error(('%s failed: %s'):format(what, heard.SextantFailed.failure.message), 0)
  end
  local summary, plan = heard.SextantFinished.summary, heard.SextantPlan
  heard = {}
  return summary, plan
end

local wanted = vim.split(vim.env.SEXTANT_DEMO_SOURCES or 'basedpyright ruff', ' ')

local function all_servers_spoke(buf)
  local sources = {}
  for _, item in ipairs(diagnostics(buf)) do
    sources[(item.source or ''):lower()] = true
  end
  return vim.iter(wanted):all(function(source)
    return sources[source]
  end)
end

local function run()
  local before = snapshot()
  vim.cmd.edit(file)
  local buf = vim.api.nvim_get_current_buf()

  heading(':edit ' .. file)
  wait('the diagnostics of ' .. table.concat(wanted, ' and '), function()
    return all_servers_spoke(buf)
  end)

  vim.cmd('AgentPlan ' .. request)
  wait('the plan', function()
    return heard.SextantPlan or heard.SextantFailed
  end)
  if heard.SextantFailed then
    error('no plan: ' .. heard.SextantFailed.failure.message, 0)
  elseif heard.SextantPlan.steps == 0 then
    -- The document says why there is nothing to approve.
    error('no plan: ' .. heard.SextantPlan.markdown, 0)
  end
  print_diagnostics(buf)
  local count_before = #diagnostics(buf)
  heading(':AgentPlan ' .. request)
  say(vim.trim(heard.SextantPlan.markdown))
  if not vim.deep_equal(snapshot(), before) then
    error('a plan must not change anything, and this one did', 0)
  end

  heading('<CR>: approve the plan and run it')
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false)
  local summary, plan = finished('the plan')
  print_steps(plan.markdown)
  local after = snapshot()

  heading('what changed on disk')
  print_diff(before, after)

  heading('what it did to the diagnostics')
  say(summary)
  local new, fixed = summary:match('(%d+) new diagnostics?, (%d+) fixed')
  if not new then
    error('the summary does not say what was fixed', 0)
  elseif tonumber(new) > 0 then
    error(('%s new diagnostics are left'):format(new), 0)
  elseif tonumber(fixed) < 3 then
    error(('only %s diagnostics were fixed'):format(fixed), 0)
  end
  -- What two servers say of one place is fixed once, and gone twice from Neovim's own list.
  local function fewer()
    return #diagnostics(buf) <= count_before - tonumber(fixed)
  end
  wait(("Neovim's own list to be %s shorter"):format(fixed), fewer)
  say(("Neovim's own list: %d before, %d now."):format(count_before, #diagnostics(buf)))

  heading(':AgentUndo')
  vim.cmd('AgentUndo')
  say((finished('the undo')))
  if vim.bo[buf].modified then
    error('the buffer is not written', 0)
  end
end

vim.schedule(function()
  local ok, err = pcall(run)
  if not ok then
    return give_up(tostring(err))
  end
  vim.cmd('qall!')
end)
