; Finds what a text of Lua hides from other files; `src/text/symbols/interface/visible_offers.rs` explains the captures.
; Comments declare types.
(function_declaration body: (block) @body)
(function_definition body: (block) @body)
(return_statement (expression_list)) @result
(chunk (return_statement) @nameless)
((chunk (function_call) @effect) (#not-match? @effect "^setmetatable"))
(assignment_statement (variable_list)) @result
(variable_declaration (assignment_statement (variable_list (identifier) @own)))
(parameters (identifier) @own)
(dot_index_expression table: (identifier) @inner)
(method_index_expression table: (identifier) @inner)
