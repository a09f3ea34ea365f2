; Finds the symbols that only TypeScript has.
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @type
((enum_body (property_identifier) @name @constant) (#set! separator ","))
((enum_assignment name: (_) @name) @constant (#set! separator ","))
((internal_module name: (_) @name) @module (#set! path "."))
(module name: (_) @name) @module
((ambient_declaration (statement_block) @module) (#set! name "global"))
((class_body (public_field_definition name: (_) @name) @field) (#set! tail ";"))
((function_signature name: (_) @name) @function (#set! declares "") (#set! tail ";"))
((class_body (method_signature name: (_) @name) @method) (#set! declares "") (#set! tail ";"))
((abstract_method_signature name: (_) @name) @method (#set! tail ";"))
((interface_body (method_signature name: (_) @name) @method) (#set! tail ";"))
((interface_body (property_signature name: (_) @name) @field) (#set! tail ";"))
([(internal_module body: (statement_block
    [(lexical_declaration (variable_declarator name: (identifier) @name) @variable)
     (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable))]))
  (module body: (statement_block
    [(lexical_declaration (variable_declarator name: (identifier) @name) @variable)
     (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable))]))])
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(ambient_declaration [(function_signature) (class_declaration) (abstract_class_declaration) (interface_declaration)
  (enum_declaration) (type_alias_declaration) (internal_module) (module) (lexical_declaration) (variable_declaration)
  (statement_block)] @wrapped) @wrapper
(expression_statement (internal_module) @wrapped) @wrapper
