; Finds the imports of Rust. `@import` is one statement.
[(use_declaration) (extern_crate_declaration)] @import
[(line_comment) (block_comment)] @comment
; What stands above the imports.
[(shebang) (inner_attribute_item)] @opening
((line_comment) @opening (#match? @opening "^//!"))
((block_comment) @opening (#match? @opening "^/[*]!"))
