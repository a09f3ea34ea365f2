--- The operator `<Plug>(sextant-ask)`: asks about the text of a motion; `.` asks the same of another one.
local M = {}

-- The name of this module, which 'operatorfunc' takes.
local NAME = ...

---@type string?
local words = nil

local function ask(text)
  vim.cmd({ cmd = 'AgentAsk', range = { vim.fn.line("'["), vim.fn.line("']") }, args = { text } })
end

--- Called by Neovim with the range of the motion.
function M.run()
  if words then
    return ask(words)
  end
  local scope = { path = vim.api.nvim_buf_get_name(0), first = vim.fn.line("'["), last = vim.fn.line("']") }
  require('sextant.ui.ask_input').open(scope, function(text)
    words = text
    ask(text)
  end)
end

--- Begins the operator; used in an expression mapping.
---@return string
function M.expression()
  words = nil
  vim.o.operatorfunc = ("v:lua.require'%s'.run"):format(NAME)
  return 'g@'
end

return M
