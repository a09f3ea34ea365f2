; Finds the modifiers of Zig; `src/text/symbols/modifiers.rs` explains the captures.
(function_declaration "pub" @visibility)
(variable_declaration "pub" @visibility)
; Other programs find the function by its name, or the caller takes over its code.
(function_declaration ["export" "extern" "inline"] @modifier)
