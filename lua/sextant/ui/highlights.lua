--- Defines the highlight groups, each a default link: a colour scheme or the user's own definition goes before it.
local M = {}

---@type table<string, string>
M.links = {
  SextantAdded = 'DiffAdd',
  SextantAddedWord = 'DiffText',
  SextantRemoved = 'DiffDelete',
  SextantRemovedWord = 'DiffText',
  SextantHunk = 'Title',
  SextantHint = 'Comment',
  SextantConflict = 'WarningMsg',
  SextantError = 'DiagnosticVirtualTextError',
  SextantWarning = 'DiagnosticVirtualTextWarn',
  SextantIntroduced = 'DiagnosticSignWarn',
  SextantFlash = 'IncSearch',
  SextantPhase = 'Comment',
  SextantThinking = 'Comment',
  SextantQuestion = 'Question',
  SextantRunning = 'CursorLine',
}
local defined = false

--- Defines the groups, once and after every change of the colour scheme.
function M.define()
  if defined then
    return
  end
  defined = true
  local function define()
    for group, target in pairs(M.links) do
      vim.api.nvim_set_hl(0, group, { default = true, link = target })
    end
  end
  define()
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = vim.api.nvim_create_augroup('sextant_highlights', {}),
    callback = define,
  })
end

return M
