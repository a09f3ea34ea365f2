-- Defines the user commands. Nothing is required here: the first command, or the first language server, loads the rest.
if vim.g.loaded_sextant then
  return
end
vim.g.loaded_sextant = true

-- The servers' publishes are noted from the first one on, so that an edit has something to be compared with.
vim.api.nvim_create_autocmd('LspAttach', {
  once = true,
  callback = function(args)
    require('sextant.lsp.client_starts').watch(args.data.client_id)
    require('sextant.lsp.publishes').watch()
  end,
})

local function command(name, verb, opts)
  vim.api.nvim_create_user_command(name, function(args)
    require('sextant.command').run(verb, args)
  end, opts)
end

command('AgentAsk', 'ask', {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Ask Sextant about the symbol at the cursor or in the range, and let it edit there',
  complete = function(lead)
    return require('sextant.ui.mentions').complete(lead)
  end,
})
command('AgentPlan', 'plan', {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Let Sextant plan a change, then approve and run it; without text, show the last plan',
  complete = function(lead)
    return require('sextant.ui.mentions').complete(lead)
  end,
})
command('AgentApply', 'apply', {
  nargs = '?',
  desc = 'Apply the code block under the cursor, or the last one of the conversation, to a symbol',
  complete = function(lead)
    return require('sextant.ui.mentions').targets(lead)
  end,
})
command('AgentReview', 'review', {
  nargs = '*',
  range = true,
  desc = 'Review what the agent changed, in the code: accept or reject each change',
  complete = function(lead, line)
    return require('sextant.ui.review_command').complete(lead, line)
  end,
})
command('AgentDiff', 'diff', {
  nargs = '?',
  desc = 'Show what the last task changed, or a step or symbol of it, as one diff of all files',
  complete = function(lead)
    return require('sextant.command').complete_diff(lead)
  end,
})
command('AgentTrace', 'trace', {
  nargs = '?',
  desc = 'Show which diagnostics led to which step of the last task (or the nth last), and what was set aside',
  complete = function(lead)
    return require('sextant.command').complete_trace(lead)
  end,
})
command('AgentStats', 'stats', { nargs = 0, desc = 'Show how the runs in this workspace went, by mode' })
command('AgentMemory', 'memory', { nargs = 0, desc = 'Show what Sextant remembers of this workspace' })
command('AgentStop', 'stop', {
  nargs = '?',
  desc = 'Stop the running task; what it finished is kept. With `next`, take the last waiting request back',
  complete = function(lead)
    return vim.startswith('next', lead) and { 'next' } or {}
  end,
})
command('AgentUndo', 'undo', {
  nargs = '?',
  bang = true,
  desc = 'Take back what the last task changed, or a step or symbol of it; again for the task before',
  complete = function(lead, line)
    return require('sextant.command').complete_undo(lead, line)
  end,
})
command('AgentRedo', 'redo', { nargs = 0, desc = 'Bring back what was undone last' })
command('AgentHistory', 'history', { nargs = 0, desc = 'List what the last tasks changed, and what of it is undone' })
command('AgentResume', 'resume', {
  nargs = '?',
  bang = true,
  desc = 'Go on with the last task that waits, or one by its number or title; with !, list them',
  complete = function(lead, line)
    return require('sextant.command').complete_resume(lead, line)
  end,
})
command('AgentAnswer', 'answer', {
  nargs = '+',
  desc = 'Answer the question that the work waits with, by the number of an option or in words',
  complete = function(lead)
    return require('sextant.command').complete_answer(lead)
  end,
})
command('AgentList', 'list', {
  nargs = '*',
  desc = 'List what a task introduced (new), what of it is still there (remaining), or what it fixed',
  complete = function(lead)
    return vim.tbl_filter(function(word)
      return vim.startswith(word, lead)
    end, { 'new', 'remaining', 'fixed' })
  end,
})
command('AgentLog', 'log', {
  nargs = '*',
  desc = 'List the conversations of this workspace, or those that hold words, and open one again',
})
command('AgentShow', 'show', { nargs = 0, desc = 'Open the answer window again' })
command('Agent', 'agent', {
  nargs = '+',
  range = true,
  bang = true,
  desc = 'Run a command of Sextant by its short name: `:Agent ask …` is `:AgentAsk …`',
  complete = function(lead, line)
    return require('sextant.command').complete_agent(lead, line)
  end,
})

vim.keymap.set({ 'n', 'x' }, '<Plug>(sextant-ask)', function()
  return require('sextant.ui.operator').expression()
end, { expr = true, desc = 'Ask Sextant about the text of a motion' })
command('AgentMode', 'mode', {
  nargs = '?',
  desc = 'Show or set how plans are carried out: planner or supervised',
  complete = function(lead)
    return require('sextant.command').complete_mode(lead)
  end,
})
