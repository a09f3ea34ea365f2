; Finds the imports of shell scripts. `@import` is one statement.
((command name: (command_name) @_name) @import (#match? @_name "^(source|[.])$"))
(comment) @comment
