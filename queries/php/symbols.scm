; Finds the symbols of PHP. Attributes stand inside of the node of a definition. Properties have names without `$`.
((namespace_definition name: (_) @name body: (_)) @module (#set! path "\\"))
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @type
((method_declaration name: (_) @name) @constructor (#eq? @name "__construct"))
(method_declaration name: (_) @name) @method
(function_definition name: (_) @name) @function
(enum_case name: (_) @name) @constant
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (property_element name: (variable_name (name) @name))) @field
(program (expression_statement (assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function) (arrow_function)])) @function)
(attribute_list) @decorator
(comment) @comment
