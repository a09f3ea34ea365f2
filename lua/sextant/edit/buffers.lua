--- Files as buffers: finding, opening hidden, reading in pieces, marks.
local neovim = require('sextant.neovim')
local publishes = require('sextant.lsp.publishes')
local servers = require('sextant.lsp.servers')

local M = {}

local api = vim.api
-- Lines that are fetched in one go; more would be felt while typing.
local CHUNK = 2000

--- The loaded buffer of an absolute path, if there is one.
---@return integer?
function M.find(path)
  -- Neovim has one buffer for a file under all its names: a link's too.
  local first = vim.fn.bufexists(path) == 1 and vim.fn.bufadd(path) or 0
  if first > 0 and api.nvim_buf_is_loaded(first) and vim.bo[first].buftype == '' then
    return first
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = api.nvim_buf_get_name(buf)
      if
        name == path
        or (name ~= '' and vim.fs.basename(name) == vim.fs.basename(path) and vim.uv.fs_realpath(name) == path)
      then
        return buf
      end
    end
  end
end

-- The buffers that only Sextant has opened, and whether Neovim knew the file without its text before.
---@type table<integer, { known: boolean }>
local opened = {}

--- The buffer of a file, under the name that `:edit` in the current folder gives it.
---@param path string absolute
---@return integer buf
function M.add(path)
  return vim.fn.bufadd(vim.fn.fnamemodify(path, ':.'))
end

--- Opens a file hidden: no window, no swap prompt, not listed, with its autocmds (file type, servers).
---@return integer buf
function M.open(path)
  local buf = M.find(path)
  if buf then
    return buf
  end
  local known = vim.fn.bufexists(path) == 1
  buf = M.add(path)
  vim.cmd('noswapfile call bufload(' .. buf .. ')')
  opened[buf] = { known = known }
  return buf
end

-- A list of the user's may point to a buffer: then it stays known, without its text, as lists make them.
local function is_listed_somewhere(buf)
  for _, item in ipairs(vim.fn.getqflist()) do
    if item.bufnr == buf then
      return true
    end
  end
  return false
end

-- True if the user has a buffer open, beyond a read by Sextant; they may have come to it meanwhile.
local function is_the_users(buf)
  local how = opened[buf]
  return not how or #vim.fn.win_findbuf(buf) > 0 or (vim.bo[buf].buflisted and not how.known)
end

local function close(buf)
  local how = opened[buf]
  if not how or not api.nvim_buf_is_loaded(buf) then
    return
  end
  if is_the_users(buf) then
    opened[buf] = nil
    return
  end
  if vim.bo[buf].modified then
    -- Unwritten text must not be out of sight.
    vim.bo[buf].buflisted = true
    return
  end
  opened[buf] = nil
  api.nvim_buf_delete(buf, { unload = how.known or is_listed_somewhere(buf) })
end

--- Closes files that were opened hidden, so that the buffers are the user's again.
function M.close(params, reply)
  for _, path in ipairs(params.paths) do
    local buf = M.find(path)
    if buf then
      pcall(close, buf)
    end
  end
  reply(nil, true)
end

-- Neovim reports a conflict once; it lasts until the user has decided.
---@type table<integer, true>
local conflicts = {}

local function until_decided(buf)
  conflicts[buf] = true
  local options = {
    once = true,
    callback = function()
      conflicts[buf] = nil
    end,
  }
  api.nvim_create_autocmd({ 'BufWritePost', 'BufReadPost', 'BufUnload' }, neovim.in_buffer(buf, options))
end

--- True if the file on disk was changed beside the buffer. An unmodified buffer is read again, as 'autoread' does.
---@return boolean conflict
function M.sync_with_disk(buf)
  if vim.bo[buf].buftype ~= '' then
    return false
  end
  local options = {
    callback = function()
      -- Without 'autoread' Neovim would ask; a deleted file keeps its buffer. Both are reported, never decided, here.
      local reason = vim.v.fcs_reason
      if reason == 'conflict' or reason == 'changed' then
        until_decided(buf)
      end
      vim.v.fcs_choice = ''
    end,
  }
  local id = api.nvim_create_autocmd('FileChangedShell', neovim.in_buffer(buf, options))
  pcall(function()
    vim.cmd('silent! checktime ' .. buf)
  end)
  pcall(api.nvim_del_autocmd, id)
  return conflicts[buf] == true
end

--- The reason why the buffer must not be edited, or nil.
function M.locked(buf)
  if not vim.bo[buf].modifiable then
    return "the buffer is 'nomodifiable'"
  end
  if vim.bo[buf].readonly then
    return "the buffer is 'readonly'"
  end
  if vim.bo[buf].buftype ~= '' then
    return ("the buffer is of type '%s'"):format(vim.bo[buf].buftype)
  end
  if conflicts[buf] then
    return 'it was changed on disk while its buffer has unsaved changes; decide with :edit! or :write!'
  end
end

local function is_empty(buf, lines)
  if #lines ~= 1 or lines[1] ~= '' then
    return false
  end
  return api.nvim_buf_call(buf, function()
    return vim.fn.line2byte(1) == -1
  end)
end

--- The state of a buffer for the binary, without its text.
function M.facts(path, buf)
  return {
    path = path,
    version = vim.b[buf].changedtick,
    exists = vim.uv.fs_stat(path) ~= nil,
    unsaved = vim.bo[buf].modified,
    locked = M.locked(buf),
    newline = vim.bo[buf].endofline,
  }
end

local function read_pieces(buf, done)
  local tick = vim.b[buf].changedtick
  local parts, from = {}, 0
  local function more()
    if not api.nvim_buf_is_loaded(buf) then
      return done(nil)
    end
    if vim.b[buf].changedtick ~= tick then
      tick, parts, from = vim.b[buf].changedtick, {}, 0
    end
    local lines = api.nvim_buf_get_lines(buf, from, from + CHUNK, false)
    from = from + #lines
    parts[#parts + 1] = table.concat(lines, '\n')
    if from < api.nvim_buf_line_count(buf) and #lines > 0 then
      vim.schedule(more)
    else
      done(parts, is_empty(buf, lines))
    end
  end
  more()
end

-- The buffer whose text was sent last, by path.
---@type table<string, integer>
local sent = {}

--- Reads a file; with `known` the text is left out when the buffer is still at that version.
function M.read(params, reply)
  local path = params.path
  local buf = M.find(path)
  if not buf then
    local stat = vim.uv.fs_stat(path)
    if not stat then
      return reply({ kind = 'not_found' })
    end
    local ok, err = pcall(M.open, path)
    buf = M.find(path)
    if not buf then
      return reply({ kind = 'other', message = ok and 'the buffer could not be loaded' or tostring(err) })
    end
  else
    M.sync_with_disk(buf)
  end
  -- The ticks of another buffer of the same file begin again.
  if params.known and params.known == vim.b[buf].changedtick and sent[path] == buf then
    return reply(nil, M.facts(path, buf))
  end
  read_pieces(buf, function(parts, empty)
    if not parts then
      return reply({ kind = 'not_found' })
    end
    local facts = M.facts(path, buf)
    facts.parts, facts.empty = parts, empty
    sent[path] = buf
    reply(nil, facts)
  end)
end

--- True if the file of a buffer was deleted on disk. A buffer that never had a file is empty, or has unsaved changes.
---@param path string
---@param buf integer
---@return boolean
function M.is_deleted(path, buf)
  local has_no_text = api.nvim_buf_line_count(buf) == 1 and api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ''
  return not (vim.uv.fs_stat(path) or vim.bo[buf].modified or has_no_text)
end

-- Buffers without changes of the user's that have an unwritten edit, and their changedtick with it.
---@type table<integer, integer>
local being_written = {}

--- Notes that the unwritten text of a buffer, at this changedtick, is an edit; without a tick, drops the note.
---@param tick integer?
function M.is_being_written(buf, tick)
  being_written[buf] = tick
end

--- The files of these that the user has open, or that have unwritten changes.
function M.held(params, reply)
  local held = {}
  for _, path in ipairs(params.paths) do
    local buf = M.find(path)
    local unsaved = buf and vim.bo[buf].modified and being_written[buf] ~= vim.b[buf].changedtick
    if buf and (unsaved or is_the_users(buf)) then
      held[#held + 1] = { path = path, unsaved = unsaved }
    end
  end
  reply(nil, held)
end

--- Checks whether another program wrote these files, and reads those without changes again.
function M.sync(params, reply)
  for _, path in ipairs(params.paths) do
    local buf = M.find(path)
    if buf then
      M.sync_with_disk(buf)
    end
  end
  reply(nil, true)
end

--- Reads files again that were cut off on disk and are whole now. A plain reload would keep the line ends guessed from
--- the cut text.
function M.reread(params, reply)
  for _, path in ipairs(params.paths) do
    local buf = M.find(path)
    if buf and not vim.bo[buf].modified then
      pcall(api.nvim_buf_call, buf, function()
        vim.cmd('silent lockmarks edit')
      end)
    end
  end
  reply(nil, true)
end

local function clients_of(buf)
  return vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })
end

-- Calls with every loaded file inside the root, as buffer and path.
local function each_loaded(root, visit)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = api.nvim_buf_get_name(buf)
      if vim.startswith(name, root .. '/') then
        visit(buf, name)
      end
    end
  end
end

--- Every loaded file inside the root with an attached language server, now or earlier: if the server is gone, its
--- earlier reports are missing. With `all`, every loaded file.
function M.loaded(params, reply)
  local paths = {}
  each_loaded(params.root, function(buf, name)
    if params.all or publishes.was_attached(buf) or #clients_of(buf) > 0 then
      paths[#paths + 1] = name
    end
  end)
  reply(nil, paths)
end

--- The loaded files inside the root, and the clients attached to them (as pairs of path and name). The answer also has
--- the clients that run, and those that the user has stopped.
function M.attached(params, reply)
  local files, pairs_of = {}, {}
  each_loaded(params.root, function(buf, name)
    files[#files + 1] = name
    for _, client in ipairs(clients_of(buf)) do
      pairs_of[#pairs_of + 1] = { name, client.name }
    end
  end)
  reply(nil, { files = files, pairs = pairs_of, running = servers.running(), stopped = servers.stopped() })
end

local function named_marks(buf)
  local found = {}
  for _, mark in ipairs(vim.fn.getmarklist(buf)) do
    local name = mark.mark:sub(2)
    if name:match('^%l$') then
      found[name] = { mark.pos[2], mark.pos[3] - 1 }
    end
  end
  return found
end

--- The marks a to z of a file.
function M.marks(params, reply)
  local buf = M.find(params.path)
  reply(nil, buf and named_marks(buf) or vim.empty_dict())
end

--- Puts back the marks that an edit moved or deleted, if they are still where the edit left them.
function M.restore_marks(params, reply)
  local buf = M.find(params.path)
  if buf then
    local now = named_marks(buf)
    for name, pos in pairs(params.before or {}) do
      if vim.deep_equal(now[name], (params.after or {})[name]) or now[name] == nil then
        pcall(api.nvim_buf_set_mark, buf, name, pos[1], pos[2], {})
      end
    end
  end
  reply(nil, true)
end

return M
