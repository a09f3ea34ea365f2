-- Opens files, uses Sextant once, and calls `ready` when that is over.
return function(files, ready)
  local first
  first = vim.api.nvim_create_autocmd('User', {
    pattern = { 'SextantFinished', 'SextantFailed' },
    callback = function()
      if not first then
        return
      end
      first = nil
      -- After the command: the session is there, and the server has seen the file.
      vim.schedule(function()
        ready()
        io.stdout:write('ready\n')
        io.stdout:flush()
      end)
    end,
  })
  vim.api.nvim_create_autocmd('VimEnter', {
    callback = function()
      vim.schedule(function()
        vim.tbl_map(vim.cmd.edit, files)
        vim.cmd.AgentAsk('what is here?')
      end)
    end,
  })
end
