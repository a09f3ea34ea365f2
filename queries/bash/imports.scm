; Finds the imports of shell scripts. `@import` is one statement.
((command name: (command_name) @_name) @import (#match? @_name "^(source|[.])$"))
(comment) @comment
; What stands above the imports.
((comment) @opening (#match? @opening "^#!"))
