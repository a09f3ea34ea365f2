--- Colours Markdown with short queries of Sextant's own: Neovim's take 14 to 22 ms to compile, in one turn.
local M = {}

-- The usual groups (`:help treesitter-highlight-groups`), as colour schemes set them.
local BLOCKS = [[
(atx_heading) @markup.heading
(setext_heading) @markup.heading
(fenced_code_block) @markup.raw.block
(indented_code_block) @markup.raw.block
[
  (list_marker_minus) (list_marker_plus) (list_marker_star) (list_marker_dot) (list_marker_parenthesis)
] @markup.list
(task_list_marker_unchecked) @markup.list.unchecked
(task_list_marker_checked) @markup.list.checked
[(block_quote_marker) (thematic_break)] @punctuation.special
]]
local INLINE = [[
(code_span) @markup.raw
(emphasis) @markup.italic
(strong_emphasis) @markup.strong
(link_text) @markup.link.label
(link_destination) @markup.link.url
]]

---@type (fun())[]
local steps = {
  function()
    vim.treesitter.language.add('markdown')
    vim.treesitter.language.add('markdown_inline')
  end,
  function()
    vim.treesitter.query.parse('markdown', BLOCKS)
  end,
  function()
    vim.treesitter.query.parse('markdown_inline', INLINE)
  end,
  function()
    vim.treesitter.query.get('markdown', 'injections')
    vim.treesitter.query.get('markdown_inline', 'injections')
  end,
}
local prepared = 0

--- Does the next part of what colouring needs, for one turn of the loop.
---@return boolean whether there was one
function M.prepare()
  if prepared == #steps then
    return false
  end
  prepared = prepared + 1
  pcall(steps[prepared])
  return true
end

--- Colours a buffer; without the parsers its text stays plain.
---@param buf integer
function M.start(buf)
  pcall(function()
    local parser = assert(vim.treesitter.get_parser(buf, 'markdown'))
    vim.treesitter.highlighter.new(parser, { queries = { markdown = BLOCKS, markdown_inline = INLINE } })
  end)
end

return M
