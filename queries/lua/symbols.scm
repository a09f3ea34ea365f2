; Finds the symbols of Lua. The table before a dot or a colon owns the function.
(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name)) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name)) @method
(assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) .)) @function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)
  (expression_list . value: (function_definition) .)) @function
(assignment_statement (variable_list . name: (bracket_index_expression table: (_) @owner field: (string) @name) .)
  (expression_list . value: (function_definition) .)) @function

; Tables with functions.
(assignment_statement (variable_list . name: (identifier) @name .) (expression_list . value: (table_constructor
  [(field value: (function_definition)) (field value: (table_constructor (field value: (function_definition))))]) .))
  @variable
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)
  (expression_list . value: (table_constructor
  [(field value: (function_definition)) (field value: (table_constructor (field value: (function_definition))))]) .))
  @variable
((return_statement (expression_list . (table_constructor (field value: (function_definition))) .)) @variable
  (#set! name "return"))
((table_constructor (field name: (_) @name value: (function_definition)) @method)
  (#set! separator ",") (#set! member ""))
((table_constructor (field name: (_) @name value: (table_constructor (field value: (function_definition)))) @variable)
  (#set! separator ",") (#set! member ""))
((function_call name: (identifier) @_test arguments: (arguments . (string) @name . (function_definition))) @test
  (#match? @_test "^(describe|it|pending|context|insulate|expose)$"))
(variable_declaration (assignment_statement) @wrapped) @wrapper
(comment) @comment
