--- Keeps the old file beside the new one while Neovim writes, so that a write that is cut off can be repaired.
local M = {}

-- 'backupskip' excludes temporary folders, where a cut write would be all that is left of the file.
local WANTED = { writebackup = true, backupskip = '', backupdir = '.', backupext = '~' }

--- Runs a write with a backup beside the file. A user who keeps backups has them in their own place.
function M.around(run)
  if vim.o.backup then
    return run()
  end
  local had, ignored = {}, vim.o.eventignore
  -- No plugin should react to this change of options.
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
