--- Makes the title of a task's quickfix list: its kind, the request, what is not known yet, and the project.
local M = {}

-- The most cells for the names of what has not answered. Neovim cuts a long title at its beginning.
local NAMES = 30

-- The names of what has not answered, each once, without their files and reasons: the answer has these.
---@param unknown string
---@return string
local function open_part(unknown)
  local names, seen = {}, {}
  for _, name in ipairs(vim.split(unknown:gsub('%s*%b()', ''), ', ', { plain = true })) do
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  local text = table.concat(names, ', ')
  return vim.api.nvim_strwidth(text) <= NAMES and (', not known: %s'):format(text) or ', partly known'
end

---@param list { request: string, unknown?: string, root: string }
---@param kind 'new'|'remaining'|'fixed'
---@return string
function M.of(list, kind)
  local head = kind == 'new' and 'Sextant' or ('Sextant, %s'):format(kind)
  local open = list.unknown and open_part(list.unknown) or ''
  return ('%s: %s%s (%s)'):format(head, list.request, open, vim.fs.basename(list.root))
end

return M
