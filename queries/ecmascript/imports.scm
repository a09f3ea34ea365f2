; Finds the imports of JavaScript and TypeScript. `@import` is one statement.
(import_statement) @import
((lexical_declaration (variable_declarator value: (call_expression function: (identifier) @_function))) @import
  (#eq? @_function "require"))
((variable_declaration (variable_declarator value: (call_expression function: (identifier) @_function))) @import
  (#eq? @_function "require"))
(comment) @comment
; What stands above the imports.
(hash_bang_line) @opening
(program (expression_statement (string)) @opening)
