; Finds the imports of Java. `@import` is one statement.
(import_declaration) @import
[(line_comment) (block_comment)] @comment
; What stands above the imports.
(package_declaration) @opening
