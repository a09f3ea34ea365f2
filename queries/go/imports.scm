; Finds the imports of Go. `@import` is one statement.
(import_declaration) @import
(comment) @comment
; What stands above the imports.
(package_clause) @opening
