--- Applies edits to buffers: all preconditions first, then every hunk in one go, then the saves.
local backup = require('sextant.edit.backup')
local buffers = require('sextant.edit.buffers')
local marks = require('sextant.edit.marks')

local M = {}
local api = vim.api

-- Ends the open undo block, so that the next change is a step of its own even while the user is inserting.
local function close_undo_block(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

local function check(edit)
  local buf = buffers.find(edit.path)
  if edit.op == 'create' then
    if buf and (api.nvim_buf_line_count(buf) > 1 or vim.bo[buf].modified) or vim.uv.fs_stat(edit.path) then
      return nil, { kind = 'exists', path = edit.path }
    end
    return true
  end
  if not buf then
    return nil, { kind = 'stale', path = edit.path }
  end
  if buffers.sync_with_disk(buf) then
    return nil, { kind = 'conflict', path = edit.path }
  end
  if vim.b[buf].changedtick ~= edit.version then
    return nil, { kind = 'stale', path = edit.path }
  end
  local locked = buffers.locked(buf)
  if locked then
    return nil, { kind = 'locked', path = edit.path, message = locked }
  end
  return true
end

local function set_hunks(buf, edit)
  close_undo_block(buf)
  -- Neovim moves the lines between hunks; for joined hunks, the binary sends the new rows of the lines.
  local restore = #(edit.kept or {}) > 0 and marks.hold(buf, edit.kept)
  for i = #edit.hunks, 1, -1 do
    local h = edit.hunks[i]
    api.nvim_buf_set_text(buf, h[1], h[2], h[3], h[4], h[5])
  end
  if restore then
    restore()
  end
  if edit.empty then
    -- One empty line is a file of one byte; no line at all is an empty file.
    api.nvim_buf_set_lines(buf, 0, -1, false, {})
  end
  if vim.bo[buf].endofline ~= edit.newline then
    vim.bo[buf].endofline = edit.newline
  end
  close_undo_block(buf)
end

-- The path was resolved before it was sent: a link on it now has been put there since.
local function is_led_away(path)
  local stat, folder = vim.uv.fs_lstat(path), vim.fs.dirname(path)
  while not vim.uv.fs_lstat(folder) and folder ~= vim.fs.dirname(folder) do
    folder = vim.fs.dirname(folder)
  end
  return stat and stat.type == 'link' or vim.uv.fs_realpath(folder) ~= folder
end

-- Writes with the buffer's own autocmds. The conflict check went before: `:write` on a newer file would ask and wait.
local function write(buf, path)
  if is_led_away(path) then
    return false, 'not written: a folder or file on its path is a link now'
  end
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local fix = vim.bo[buf].fixendofline
  -- A last line without its end is the file's own; only an edit may add one.
  vim.bo[buf].fixendofline = false
  local ok, err = pcall(api.nvim_buf_call, buf, function()
    backup.around(function()
      vim.cmd('silent lockmarks write')
    end)
  end)
  vim.bo[buf].fixendofline = fix
  if not ok then
    return false, 'not written: ' .. tostring(err):gsub('^.-Vim%(%w+%):', '')
  end
  return true
end

---@class sextant.Touched a buffer with an edit that is not written yet
---@field buf integer
---@field unsaved boolean whether it had changes of the user's
---@field deleted boolean whether its file was deleted on disk
---@field tick? integer its changedtick with the edit

---@param edit table
---@param touched sextant.Touched
---@param save string
local function finish(edit, touched, save)
  local saved, note = false, nil
  local buf, tick = touched.buf, touched.tick
  local moved = api.nvim_buf_is_loaded(buf) and vim.b[buf].changedtick ~= tick
  if not api.nvim_buf_is_loaded(buf) then
    return { path = edit.path, reformatted = true, saved = false, note = 'not written: the buffer was closed' }
  elseif save ~= 'if_clean' then
    note = 'not written: saving is turned off'
  elseif touched.unsaved then
    note = 'not written: the buffer has unsaved changes of yours'
  elseif touched.deleted then
    note = 'not written: the file was deleted on disk, and :write brings it back'
  elseif moved then
    note = 'not written: the buffer changed meanwhile'
  else
    saved, note = write(buf, edit.path)
  end
  local facts = buffers.facts(edit.path, buf)
  facts.saved, facts.note = saved, note
  if moved then
    -- Text that the user has typed since is not the edit's; its own text is the one that the hunks made.
    facts.version, facts.reformatted = tick, false
  else
    -- A plain write moves the version by one; more means that an autocmd (a formatter) changed the text.
    facts.reformatted = vim.b[buf].changedtick - tick > (saved and 1 or 0)
  end
  return facts
end

local function open_new(path)
  local buf = buffers.add(path)
  vim.cmd('noswapfile call bufload(' .. buf .. ')')
  vim.bo[buf].buflisted = true
  return buf
end

-- The windows of a buffer that goes show the alternate file, or else an empty buffer: its end would close them.
local function leave_windows(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      local other = vim.fn.bufnr('#')
      local is_file = other > 0 and other ~= buf and vim.bo[other].buflisted and vim.bo[other].buftype == ''
      api.nvim_win_set_buf(win, is_file and other or api.nvim_create_buf(true, false))
    end)
  end
end

local function remove(edit)
  if is_led_away(edit.path) then
    error(edit.path .. ' is reached through a link now, and is not deleted')
  end
  local buf = buffers.find(edit.path)
  if buf then
    leave_windows(buf)
    api.nvim_buf_delete(buf, { force = true })
  end
  vim.uv.fs_unlink(edit.path)
  return { path = edit.path, deleted = true, saved = true }
end

-- An error on the way is the answer.
local function attempt(reply, run)
  local ok, err = pcall(run)
  if not ok then
    reply({ kind = 'other', message = tostring(err) })
  end
end

-- Sends the clients all files of an edit in one turn. Neovim sends the first hunk of a buffer at once and holds the
-- others back; what asks for one buffer in between (semantic tokens) sends that buffer alone. basedpyright keeps an
-- error that it finds then: an import of a name that the other file does not have yet.
---@param touched table<integer, sextant.Touched>
local function send_together(touched)
  local sent = {}
  for _, one in pairs(touched) do
    for _, client in ipairs(vim.lsp.get_clients({ bufnr = one.buf })) do
      if not sent[client.id] then
        sent[client.id] = true
        require('sextant.lsp.texts').flush(client)
      end
    end
  end
end

-- The check and the change happen in one turn, so that both see the same text.
local function change(edits, save, reply)
  for _, edit in ipairs(edits) do
    local ok, err = check(edit)
    if not ok then
      reply(err)
      return nil
    end
  end
  local results, touched = {}, {}
  for i, edit in ipairs(edits) do
    if edit.op == 'delete' then
      results[i] = remove(edit)
    else
      local buf = edit.op == 'create' and open_new(edit.path) or buffers.find(edit.path)
      local one = { buf = buf, unsaved = vim.bo[buf].modified, deleted = false }
      one.deleted = edit.op == 'change' and buffers.is_deleted(edit.path, buf)
      touched[i] = one
      set_hunks(buf, edit)
      require('sextant.ui.follow_edits').hunks(buf, edit.hunks)
      require('sextant.ui.flash').hunks(buf, edit.hunks)
      one.tick = vim.b[buf].changedtick
      buffers.is_being_written(buf, save == 'if_clean' and not one.unsaved and not one.deleted and one.tick or nil)
    end
  end
  send_together(touched)
  return results, touched
end

local function write_all(edits, results, touched, save)
  for i, edit in ipairs(edits) do
    if touched[i] then
      buffers.is_being_written(touched[i].buf, nil)
      results[i] = finish(edit, touched[i], save)
    end
    if edit.op ~= 'change' then
      require('sextant.lsp.servers').note_come_or_gone()
    end
  end
end

-- Collects the lines that came apart from their hunks, one message a turn: reading all at once would hold Neovim.
local function gather(params, reply, done)
  local text = table.remove(params.rest or {}, 1)
  if not text then
    return done()
  end
  vim.schedule(function()
    attempt(reply, function()
      for _, part in ipairs(vim.json.decode(text)) do
        vim.list_extend(params.edits[part.edit].hunks[part.hunk][5], part.lines)
      end
      gather(params, reply, done)
    end)
  end)
end

--- Applies edits to several files: all of them or none. The message was read in turns before, and the files are written
--- in the turn after. No key waits for more than one of the turns.
function M.apply(params, reply)
  gather(params, reply, function()
    vim.schedule(function()
      attempt(reply, function()
        local results, touched = change(params.edits, params.save, reply)
        if not results then
          return
        end
        vim.schedule(function()
          attempt(reply, function()
            write_all(params.edits, results, touched, params.save)
            reply(nil, results)
          end)
        end)
      end)
    end)
  end)
end

return M
