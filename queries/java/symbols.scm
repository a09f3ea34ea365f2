; Finds the symbols of Java. Annotations stand inside of the node of a definition.
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @type
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @constructor
(compact_constructor_declaration name: (_) @name) @constructor
(annotation_type_element_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @constant
((enum_constant name: (_) @name) @constant (#set! separator ","))
(modifiers [(marker_annotation) (annotation)] @decorator)
[(line_comment) (block_comment)] @comment
