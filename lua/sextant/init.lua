--- Setup: keeps the user's options until the first command needs them.
local M = {}

--- The version that the binary must have too.
M.version = '0.1.0'

---@type sextant.Options what the user gave to setup()
M.given = {}

--- Keeps the options. They are checked when the first command runs; nothing is started here.
---@param opts? sextant.Options see |sextant-options|
function M.setup(opts)
  M.given = opts or {}
end

return M
