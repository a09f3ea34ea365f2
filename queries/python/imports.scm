; Finds the imports of Python.
;
; `@import` is one statement. `@guard` is a block that may hold nothing but imports, and `@guarded` its content.
(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import
((if_statement condition: (_) @_condition consequence: (block) @guarded !alternative) @guard
  (#match? @_condition "(^|\\.)TYPE_CHECKING$"))
(comment) @comment
; What stands above the imports.
((comment) @opening (#match? @opening "^#(!|.*coding[:=])"))
(module (expression_statement (string)) @opening)
