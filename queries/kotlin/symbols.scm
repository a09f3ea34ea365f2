; Finds the symbols of Kotlin. An extension has the path of its receiver's type; annotations stand inside of the node.
(class_declaration "interface" name: (_) @name) @interface
((class_declaration (modifiers (class_modifier) @_enum) name: (_) @name) @type (#eq? @_enum "enum"))
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name) @class
(companion_object name: (_) @name) @class
((companion_object !name) @class (#set! name "Companion"))
(function_declaration (user_type (identifier) @owner) . name: (_) @name) @method
(class_body (function_declaration name: (_) @name) @method)
(enum_class_body (function_declaration name: (_) @name) @method)
(function_declaration name: (_) @name) @function
((secondary_constructor) @constructor (#set! name "constructor"))
((property_declaration (modifiers (property_modifier) @_const) (variable_declaration . (identifier) @name)) @constant
  (#eq? @_const "const"))
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(source_file (property_declaration (user_type (identifier) @owner) . (variable_declaration . (identifier) @name))
  @variable)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @variable)
((enum_entry . (identifier) @name) @constant (#set! separator ","))
(type_alias type: (_) @name) @type
(modifiers (annotation) @decorator)
[(line_comment) (block_comment)] @comment
