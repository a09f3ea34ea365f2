; Finds the modifiers of Rust; `src/text/symbols/modifiers.rs` explains the captures.
(visibility_modifier) @visibility
(function_modifiers (extern_modifier) @modifier)
(function_modifiers "async" @async)
(await_expression) @await
; The body decides whether it runs at compile time and whether it is safe.
(function_modifiers ["const" "unsafe"] @follows)
