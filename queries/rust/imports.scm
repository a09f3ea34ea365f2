; Finds the imports of Rust. `@import` is one statement.
[(use_declaration) (extern_crate_declaration)] @import
[(line_comment) (block_comment)] @comment
