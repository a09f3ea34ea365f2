; Finds the symbols that only C++ has. A member that is defined outside of its class has the path of the class.
((function_definition declarator: (function_declarator declarator: (identifier) @_macro
  parameters: (parameter_list . (parameter_declaration type: (_) @name) . (parameter_declaration type: (_) @name) .)))
  @test (#match? @_macro "^(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)$") (#set! join "."))
((class_specifier name: (_) @name body: (_)) @class (#set! tail ";") (#set! path "::"))
((namespace_definition name: (_) @name) @module (#set! path "::"))
((field_declaration declarator: (_) @declarator) @field (#set! functions ""))
((field_declaration_list (declaration declarator: (_) @declarator) @field) (#set! functions "") (#set! path "::"))
((template_declaration (declaration declarator: (_) @declarator) @variable) (#set! path "::"))
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(declaration type: [(qualified_identifier) (template_type) (placeholder_type_specifier) (decltype)
  (class_specifier !body) (dependent_type)] declarator: (_) @wrapped) @wrapper
(declaration type: (class_specifier body: (_)) @wrapped) @wrapper
(template_declaration [(function_definition) (class_specifier) (struct_specifier) (union_specifier) (declaration)
  (alias_declaration) (concept_definition) (field_declaration) (template_declaration)] @wrapped) @wrapper
(attribute_declaration) @decorator
