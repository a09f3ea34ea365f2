; Finds the imports of Lua. `@import` is one statement.
((variable_declaration (assignment_statement (expression_list . value: (function_call
  name: (identifier) @_function) .))) @import (#eq? @_function "require"))
(comment) @comment
; What stands above the imports.
(hash_bang_line) @opening
