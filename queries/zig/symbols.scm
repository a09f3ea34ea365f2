; Finds the symbols of Zig. A container has the name of the constant that it is the value of.
(variable_declaration . (identifier) @name
  [(struct_declaration) (enum_declaration) (union_declaration) (opaque_declaration) (error_set_declaration)]) @type
((source_file (variable_declaration . (identifier) @name (_) @_value .) @variable) (#not-match? @_value "^@import"))
((struct_declaration (variable_declaration . (identifier) @name) @constant))
((enum_declaration (variable_declaration . (identifier) @name) @constant))
((union_declaration (variable_declaration . (identifier) @name) @constant))
(struct_declaration (function_declaration name: (_) @name) @method)
(enum_declaration (function_declaration name: (_) @name) @method)
(union_declaration (function_declaration name: (_) @name) @method)
(opaque_declaration (function_declaration name: (_) @name) @method)
(function_declaration name: (_) @name) @function
((container_field name: (identifier) @name) @field (#set! separator ","))
(test_declaration [(string) (identifier)] @name) @test
((comment) @comment (#not-match? @comment "^//!"))
