; Finds the imports of PHP. `@import` is one statement.
(namespace_use_declaration) @import
(expression_statement
  [(require_expression) (require_once_expression) (include_expression) (include_once_expression)]) @import
(comment) @comment
; What stands above the imports.
(php_tag) @opening
(declare_statement) @opening
(namespace_definition !body) @opening
