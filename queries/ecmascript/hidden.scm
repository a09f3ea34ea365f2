; Finds what a text of JavaScript or TypeScript hides from other files; `src/text/symbols/interface/visible_offers.rs`
; explains the captures.
(function_declaration body: (statement_block) @body)
(function_expression body: (statement_block) @body)
(arrow_function body: (statement_block) @body)
(method_definition body: (statement_block) @body)
[(return_statement (_)) (yield_expression) (throw_statement)] @result
(export_statement "*") @star
(export_statement "default") @nameless
((export_statement (export_clause) @_names) @nameless
  (#match? @_names "\\bdefault\\s*[,}]|\\bas\\s+[\"']"))
((program (expression_statement (assignment_expression left: (member_expression) @_left)) @nameless)
  (#match? @_left "^module[.]exports$"))
((program (expression_statement [(call_expression) (await_expression) (new_expression)]) @effect)
  (#not-match? @effect "exports"))
(_ [(lexical_declaration (variable_declarator name: (identifier) @own))
  (variable_declaration (variable_declarator name: (identifier) @own))]) @scope
(member_expression object: (identifier) @inner)
