; Finds the symbols of Go. A method has the path of its receiver's type.
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @method
((type_spec name: (_) @name type: (interface_type)) @interface (#not-eq? @name "_") (#set! tail ";"))
((type_spec name: (_) @name) @type (#not-eq? @name "_") (#set! tail ";"))
((type_alias name: (_) @name) @type (#set! tail ";"))
((field_declaration . name: (_) @name) @field (#set! tail ";"))
((method_elem name: (_) @name) @method (#set! tail ";"))
((const_spec . name: (_) @name) @constant (#not-eq? @name "_") (#set! tail ";"))
((var_spec . name: (_) @name) @variable (#not-eq? @name "_") (#set! tail ";"))
(type_declaration [(type_spec) (type_alias)] @wrapped) @wrapper
(const_declaration (const_spec) @wrapped) @wrapper
(var_declaration (var_spec) @wrapped) @wrapper
(comment) @comment
