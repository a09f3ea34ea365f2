; Finds the code of C++ that is checked where others use it; `src/text/symbols/unchecked_code.rs` explains the captures.
; A check of a file leaves out the errors that stand in its headers.
([
  (template_declaration parameters: (template_parameter_list (_)) [
    (function_definition body: (_) @instantiated)
    (class_specifier body: (_) @instantiated)
    (struct_specifier body: (_) @instantiated)
    (union_specifier body: (_) @instantiated)
    (template_declaration (function_definition body: (_) @instantiated))])
  (function_definition
    declarator: (function_declarator parameters: (parameter_list (_ type: (placeholder_type_specifier))))
    body: (_) @instantiated)
  (function_definition
    declarator: (_ (function_declarator parameters: (parameter_list (_ type: (placeholder_type_specifier)))))
    body: (_) @instantiated)
  (lambda_expression
    declarator: (abstract_function_declarator parameters: (parameter_list (_ type: (placeholder_type_specifier))))
    body: (_) @instantiated)
] (#set! parts "h hh hpp hxx h++ ipp inl cuh inc def tcc tpp"))
