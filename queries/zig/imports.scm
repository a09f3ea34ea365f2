; Finds the imports of Zig. `@import` is one statement.
((source_file (variable_declaration . (identifier) (_) @_value .) @import) (#match? @_value "^@import"))
(comment) @comment
