--- Checks the model for :checkhealth: its key, and whether its address takes connections.
local M = {}

-- The address and the variable of the key of the providers that have one of their own.
local PROVIDERS = {
  openai = { url = 'https://api.openai.com', key = 'OPENAI_API_KEY' },
  anthropic = { url = 'https://api.anthropic.com', key = 'ANTHROPIC_API_KEY' },
  gemini = { url = 'https://generativelanguage.googleapis.com', key = 'GEMINI_API_KEY' },
  ollama = { url = 'http://127.0.0.1:11434' },
}
local TIMEOUT_MS = 3000

---@param url string
---@return string? host, integer? port
local function address(url)
  local scheme, host, port = url:match('^(%a+)://([^/:]+):?(%d*)')
  if not scheme then
    return nil
  end
  return host, tonumber(port) or (scheme == 'https' and 443 or 80)
end

-- True if the address takes a connection; the second result is the reason why not.
---@param host string
---@param port integer
---@return boolean reached, string? why
local function connects(host, port)
  local done, why, tcp = false, nil, nil
  local asked = vim.uv.getaddrinfo(host, nil, { socktype = 'stream' }, function(err, found)
    if err or not found or #found == 0 then
      done, why = true, err or 'no such host'
      return
    end
    tcp = assert(vim.uv.new_tcp())
    tcp:connect(found[1].addr, port, function(problem)
      done, why = true, problem
    end)
  end)
  if not asked then
    return false, 'the host cannot be looked up'
  end
  vim.wait(TIMEOUT_MS, function()
    return done
  end, 10)
  if tcp and not tcp:is_closing() then
    tcp:close()
  end
  return done and not why, why or 'no answer in time'
end

--- Checks that the model has its key.
---@param health table `vim.health`
---@param model table the option
---@return boolean usable
function M.key(health, model)
  local known = PROVIDERS[model.provider] or {}
  local variable = model.api_key_env or not model.base_url and known.key or nil
  if variable and not model.api_key and (vim.env[variable] or '') == '' then
    health.error(('model: no key, $%s is not set'):format(variable), {
      ('set %s in the environment that starts Neovim'):format(variable),
      'or name another variable in `model.api_key_env` of setup()',
    })
    return false
  elseif variable or model.api_key then
    health.ok('model: key from ' .. (model.api_key and '`model.api_key`' or '$' .. variable))
  end
  return true
end

--- Checks that the model's address takes connections.
---@param health table `vim.health`
---@param model table the option
function M.address(health, model)
  if model.provider == 'offline' then
    return health.ok('model: offline, which needs no address and no key')
  end
  local url = model.base_url or (PROVIDERS[model.provider] or {}).url
  local host, port = address(url or '')
  if not host then
    return health.error(('model: %s is no address'):format(tostring(url)), {
      "set `model.base_url` in setup(), as 'http://127.0.0.1:8080/v1'",
    })
  end
  local reached, why = connects(host, port)
  if reached then
    health.ok(('model: %s:%d takes connections'):format(host, port))
  else
    health.error(('model: %s:%d cannot be reached (%s)'):format(host, port, why), {
      model.base_url and 'start the server, or correct `model.base_url` in setup()' or 'check the network',
      "`model = { provider = 'offline' }` needs none",
    })
  end
end

return M
