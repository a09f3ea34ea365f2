-- Runs luacheck in Neovim: the first argument is the folder that Debian's packages were unpacked into.
local folder = table.remove(arg, 1)
package.path = ('%s/share/lua/5.1/?.lua;%s/share/lua/5.1/?/init.lua;%s'):format(folder, folder, package.path)
for _, place in ipairs(vim.fn.glob(folder .. '/lib/*/lua/5.1', true, true)) do
  package.cpath = ('%s/?.so;%s'):format(place, package.cpath)
end
require('luacheck.main')
