--- Opens a document again, with the text that its server has: clangd then reads the headers before it publishes, and
--- bash-language-server looks at the text again.
local publishes = require('sextant.lsp.publishes')
local texts = require('sextant.lsp.texts')

local M = {}

---@param client vim.lsp.Client
---@param buf integer
function M.reopen(client, buf)
  local uri = vim.uri_from_bufnr(buf)
  local document = {
    uri = uri,
    languageId = client.get_language_id(buf, vim.bo[buf].filetype),
    version = texts.version_of(buf),
    text = texts.text_of(buf),
  }
  publishes.reopens = true
  client.rpc.notify('textDocument/didClose', { textDocument = { uri = uri } })
  client.rpc.notify('textDocument/didOpen', { textDocument = document })
  publishes.reopens = false
end

return M
