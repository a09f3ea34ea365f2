; Finds the symbols of C#. Attributes stand inside of the node of a definition.
((namespace_declaration name: (_) @name) @module (#set! path "."))
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @type
(delegate_declaration name: (_) @name) @type
(interface_declaration name: (_) @name) @interface
(method_declaration name: (_) @name) @method
(local_function_statement name: (_) @name) @function
(constructor_declaration name: (_) @name) @constructor
((destructor_declaration name: (_) @name) @method (#set! prefix "~"))
((operator_declaration operator: _ @name) @method (#set! prefix "operator "))
((conversion_operator_declaration type: (_) @name) @method (#set! prefix "operator "))
((indexer_declaration) @method (#set! name "this"))
(property_declaration name: (_) @name) @field
(event_declaration name: (_) @name) @field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
((field_declaration (modifier) @_const (variable_declaration (variable_declarator name: (_) @name))) @constant
  (#eq? @_const "const"))
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
((enum_member_declaration name: (_) @name) @constant (#set! separator ","))
(global_statement (local_function_statement) @wrapped) @wrapper
(attribute_list) @decorator
(comment) @comment
