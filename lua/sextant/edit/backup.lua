--- Where the old file is while Neovim writes the new one: beside it, so that a write that is cut off can be repaired.
local M = {}

-- 'backupskip' leaves out temporary folders, where a cut write would be all that is left of the file.
local WANTED = { writebackup = true, backupskip = '', backupdir = '.', backupext = '~' }

--- Runs a write with a backup beside the file. A user who keeps backups has them where they are wanted.
function M.around(run)
  if vim.o.backup then
    return run()
  end
  local had, ignored = {}, vim.o.eventignore
  -- Not a change of options that anyone should react to.
  vim.cmd('noautocmd set eventignore=OptionSet')
  for name, value in pairs(WANTED) do
    had[name] = vim.o[name]
    vim.o[name] = value
  end
  vim.o.eventignore = ignored
  local ok, err = pcall(run)
  vim.cmd('noautocmd set eventignore=OptionSet')
  for name, value in pairs(had) do
    vim.o[name] = value
  end
  vim.o.eventignore = ignored
  if not ok then
    error(err, 0)
  end
end

return M
