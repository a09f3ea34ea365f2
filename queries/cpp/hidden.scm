; Finds what only C++ shows: a body that others compile.
(function_definition type: (placeholder_type_specifier) body: (compound_statement) @shown)
((function_definition (type_qualifier) @_how body: (compound_statement) @shown) (#match? @_how "^conste"))
(template_declaration) @shown
(function_definition
  declarator: (function_declarator parameters: (parameter_list (_ type: (placeholder_type_specifier))))
  body: (_) @shown)
(function_definition
  declarator: (_ (function_declarator parameters: (parameter_list (_ type: (placeholder_type_specifier)))))
  body: (_) @shown)
(parameter_declaration declarator: (reference_declarator (identifier) @own))
(using_declaration "namespace") @nameless
(namespace_definition "inline") @nameless
