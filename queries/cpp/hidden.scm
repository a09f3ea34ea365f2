; Finds what only C++ shows: a body that others compile.
(function_definition type: (placeholder_type_specifier) body: (compound_statement) @shown)
((function_definition (type_qualifier) @_how body: (compound_statement) @shown) (#match? @_how "^conste"))
(template_declaration (function_definition body: (compound_statement) @shown))
(template_declaration [
  (class_specifier body: (field_declaration_list (function_definition body: (compound_statement) @shown)))
  (struct_specifier body: (field_declaration_list (function_definition body: (compound_statement) @shown)))])
(parameter_declaration declarator: (reference_declarator (identifier) @own))
(using_declaration "namespace") @nameless
(namespace_definition "inline") @nameless
