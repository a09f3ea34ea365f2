--- Notices when the text of a file under review may have changed, and when one is shown otherwise.
local M = {}
local api = vim.api

-- Milliseconds without a change after which the hunks are looked at again.
local REST_MS = 200
---@type uv.uv_timer_t?
local rest = nil
local group = nil

--- Runs after a rest. A later call begins the rest again.
---@param run fun()
function M.rest(run)
  rest = rest or assert(vim.uv.new_timer())
  rest:start(REST_MS, 0, vim.schedule_wrap(run))
end

---@param changed fun() the text of the current buffer has changed
---@param shown fun() the current buffer was read or shown
---@param rearranged fun() windows came, went, or changed their diff mode or their width
---@param moved fun() the cursor has moved
function M.start(changed, shown, rearranged, moved)
  group = api.nvim_create_augroup('sextant_review', {})
  api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, { group = group, callback = changed })
  api.nvim_create_autocmd({ 'BufReadPost', 'BufWinEnter' }, { group = group, callback = shown })
  api.nvim_create_autocmd({ 'CursorMoved', 'BufEnter' }, { group = group, callback = moved })
  -- The window that closes is still there, and so is its diff mode.
  local later = vim.schedule_wrap(rearranged)
  -- Signs of diagnostics take columns of the text.
  local events = { 'WinClosed', 'WinResized', 'VimResized', 'TabEnter', 'DiagnosticChanged' }
  api.nvim_create_autocmd(events, { group = group, callback = later })
  local options = { 'diff', 'number', 'relativenumber', 'signcolumn', 'foldcolumn' }
  api.nvim_create_autocmd('OptionSet', { group = group, pattern = options, callback = later })
end

function M.stop()
  if group then
    api.nvim_clear_autocmds({ group = group })
  end
end

return M
