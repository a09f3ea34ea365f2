; Finds the modifiers of Python; `src/text/symbols/modifiers.rs` explains the captures.
(function_definition "async" @async)
(await) @await
(for_statement "async" @await)
(with_statement "async" @await)
(for_in_clause "async" @await)
