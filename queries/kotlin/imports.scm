; Finds the imports of Kotlin. `@import` is one statement.
(import) @import
[(line_comment) (block_comment)] @comment
; What stands above the imports.
(package_header) @opening
(file_annotation) @opening
