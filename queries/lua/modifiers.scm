; Finds the modifiers of Lua; `src/text/symbols/modifiers.rs` explains the captures.
(function_declaration "local" @visibility)
(variable_declaration "local" @visibility)
