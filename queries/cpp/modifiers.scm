; Finds the modifiers that only C++ has.
"virtual" @modifier
(explicit_function_specifier) @modifier
; The body decides whether a member needs an object.
(field_declaration_list (function_definition (storage_class_specifier) @follows))
(field_declaration_list (template_declaration (function_definition (storage_class_specifier) @follows)))
; Inside of its class a member does not name the class.
(function_declarator declarator: (qualified_identifier scope: (_) @alone "::" @alone))
