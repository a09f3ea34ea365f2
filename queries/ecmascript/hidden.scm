; Finds what a text of JavaScript or TypeScript hides from other files; `src/text/symbols/interface/visible_offers.rs`
; explains the captures.
(function_declaration body: (statement_block) @body)
(function_expression body: (statement_block) @body)
(arrow_function body: (statement_block) @body)
(method_definition body: (statement_block) @body)
[(return_statement (_)) (yield_expression) (throw_statement)] @result
; A function that is an expression has the type `never` if its end is not reached. Each call may be one that never
; returns.
[(arrow_function body: (_) @value) (function_expression body: (_) @value) (object (method_definition body: (_) @value))]
(statement_block [(expression_statement (call_expression)) (if_statement alternative: (_)) (switch_statement)
  (try_statement) (statement_block) (labeled_statement)]) @endless
((statement_block [(while_statement condition: (_) @_until) (do_statement condition: (_) @_until)]) @endless
  (#eq? @_until "(true)"))
((statement_block (for_statement condition: (_) @_until)) @endless (#match? @_until "^(true|;)$"))
(export_statement "*") @star
(export_statement "default") @nameless
((export_statement (export_clause) @_names) @nameless
  (#match? @_names "\\bdefault\\s*[,}]|\\bas\\s+[\"']"))
((program (expression_statement (assignment_expression left: (member_expression) @_left)) @nameless)
  (#match? @_left "^module[.]exports$"))
((program (expression_statement [(call_expression) (await_expression) (new_expression)]) @effect)
  (#not-match? @effect "exports|^Object\\b"))
(_ [(lexical_declaration (variable_declarator name: (identifier) @own))
  (variable_declaration (variable_declarator name: (identifier) @own))]) @scope
(member_expression object: (identifier) @inner)
