; Finds what only TypeScript hides: a declared type decides, whatever is behind it.
(function_declaration return_type: (_) body: (statement_block) @hidden)
(generator_function_declaration return_type: (_) body: (statement_block) @hidden)
(function_expression return_type: (_) body: (statement_block) @hidden)
(arrow_function return_type: (_) body: (_) @hidden)
(method_definition return_type: (_) body: (statement_block) @hidden)
(variable_declarator type: (_) value: (_) @hidden)
(public_field_definition type: (_) value: (_) @hidden)
; A field without a type has the one that the constructor gives it.
((class_body (public_field_definition !type !value)
  (method_definition name: (property_identifier) @_name body: (statement_block) @shown)) (#eq? @_name "constructor"))
((class_body (method_definition name: (property_identifier) @_name body: (statement_block) @shown)
  (public_field_definition !type !value)) (#eq? @_name "constructor"))
(export_statement "=") @nameless
(_ parameters: (formal_parameters
  [(required_parameter pattern: (identifier) @own) (optional_parameter pattern: (identifier) @own)])) @scope
(arrow_function parameter: (identifier) @own) @scope
(comment) @comment
