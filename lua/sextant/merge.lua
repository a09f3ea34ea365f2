--- Many hunks as few: every one costs Neovim a pass over the whole buffer for each attached language server.
local M = {}
local api = vim.api

-- Hunks times lines that Neovim takes in about 5 ms; a buffer of 1,000 lines may have 80 hunks, one of 10,000 lines 8.
local BUDGET = 80000

--- The same edit in as few hunks as the buffer's length asks for: those that stand closest become one.
---@param hunks table[] top down: start row, start byte, end row, end byte, lines
function M.merged(buf, hunks)
  local most = math.max(8, math.floor(BUDGET / api.nvim_buf_line_count(buf)))
  if #hunks <= most then
    return hunks
  end
  local gaps = {}
  for i = 2, #hunks do
    gaps[#gaps + 1] = { hunks[i][1] - hunks[i - 1][3], i }
  end
  table.sort(gaps, function(a, b)
    return a[1] > b[1] or (a[1] == b[1] and a[2] < b[2])
  end)
  local starts = {}
  for i = 1, most - 1 do
    starts[gaps[i][2]] = true
  end
  local out, group = {}, { hunks[1] }
  local function close()
    local first, last = group[1], group[#group]
    local lines = { '' }
    for i, hunk in ipairs(group) do
      local before = i > 1 and api.nvim_buf_get_text(buf, group[i - 1][3], group[i - 1][4], hunk[1], hunk[2], {})
        or { '' }
      for _, more in ipairs({ before, hunk[5] }) do
        lines[#lines] = lines[#lines] .. more[1]
        for n = 2, #more do
          lines[#lines + 1] = more[n]
        end
      end
    end
    out[#out + 1] = { first[1], first[2], last[3], last[4], lines }
  end
  for i = 2, #hunks do
    if starts[i] then
      close()
      group = {}
    end
    group[#group + 1] = hunks[i]
  end
  close()
  return out
end

-- Where a row is after the edit; nil where a hunk replaces it.
local function moved(hunks, row)
  local shift = 0
  for _, hunk in ipairs(hunks) do
    local last = hunk[4] == 0 and hunk[3] - 1 or hunk[3]
    if row < hunk[1] then
      break
    elseif row <= last and (hunk[1] ~= hunk[3] or #hunk[5] > 1) then
      return nil
    end
    shift = shift + #hunk[5] - 1 - (hunk[3] - hunk[1])
  end
  return row + shift
end

--- Notes the marks and cursors that stand between hunks; the returned function puts them where they belong.
---@return fun()
function M.hold(buf, hunks)
  local marks, views = {}, {}
  for _, mark in ipairs(vim.fn.getmarklist(buf)) do
    local row = mark.mark:match("^'%l$") and moved(hunks, mark.pos[2] - 1)
    if row then
      marks[#marks + 1] = { mark.mark:sub(2), row + 1, mark.pos[3] - 1 }
    end
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    local row, top = moved(hunks, view.lnum - 1), moved(hunks, view.topline - 1)
    if row then
      view.lnum, view.topline = row + 1, top and top + 1 or math.max(1, row + 1 - (view.lnum - view.topline))
      views[#views + 1] = { win, view }
    end
  end
  return function()
    for _, mark in ipairs(marks) do
      pcall(api.nvim_buf_set_mark, buf, mark[1], mark[2], math.max(0, mark[3]), {})
    end
    for _, item in ipairs(views) do
      api.nvim_win_call(item[1], function()
        vim.fn.winrestview(item[2])
      end)
    end
  end
end

return M
