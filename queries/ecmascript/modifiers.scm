; Finds the modifiers of JavaScript and TypeScript; `src/text/symbols/modifiers.rs` explains the captures.
(export_statement "export" @visibility)
(export_statement "default" @modifier)
(function_declaration "async" @async)
(generator_function_declaration "async" @async)
(method_definition "async" @async)
(arrow_function "async" @async)
(function_expression "async" @async)
(variable_declarator value: [(arrow_function) (function_expression)] @place)
(await_expression) @await
(for_in_statement "await" @await)
; The body decides whether a member needs an object.
(method_definition "static" @follows)
; A member has none of these words.
(function_declaration "function" @alone)
(generator_function_declaration "function" @alone)
(export_statement ["export" "default"] @alone)
