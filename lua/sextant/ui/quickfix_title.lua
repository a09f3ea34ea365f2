--- Makes the title of a task's quickfix list: its kind, the request, what is not known yet, and the project.
local M = {}

---@param list { request: string, unknown?: string, root: string }
---@param kind 'new'|'remaining'|'fixed'
---@return string
function M.of(list, kind)
  local head = kind == 'new' and 'Sextant' or ('Sextant, %s'):format(kind)
  local open = list.unknown and (', not known: %s'):format(list.unknown) or ''
  return ('%s: %s%s (%s)'):format(head, list.request, open, vim.fs.basename(list.root))
end

return M
