; Finds the symbols that JavaScript and TypeScript share.
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
((class_body (method_definition name: (property_identifier) @name) @constructor) (#eq? @name "constructor"))
(class_body (method_definition name: (_) @name) @method)

; Values with a name.
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
((program [
  (lexical_declaration (variable_declarator name: (identifier) @name value: (_) @_value) @variable)
  (variable_declaration (variable_declarator name: (identifier) @name value: (_) @_value) @variable)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (_) @_value) @variable))
  (export_statement (variable_declaration (variable_declarator name: (identifier) @name value: (_) @_value) @variable))])
  (#not-match? @_value "^(await )?(require|import)\\s*[(]"))
((object (method_definition name: (_) @name) @method) (#set! separator ",") (#set! member ""))
((object (pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function) (class)]) @method)
  (#set! separator ",") (#set! member ""))
((object (pair key: (_) @name value: (object)) @variable) (#set! separator ",") (#set! member ""))

((export_statement value: [(arrow_function) (function_expression) (generator_function)] @function) (#set! name "default"))
((export_statement value: (class) @class) (#set! name "default"))
((export_statement value: [(object) (call_expression)] @variable) (#set! name "default"))
((expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name) right: (_)) @variable)
  (#eq? @_module "module") (#eq? @name "exports"))
((expression_statement (assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @_object property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function)
  (#match? @_object "^(module[.])?exports$"))
((expression_statement (assignment_expression
  left: (member_expression object: (member_expression object: (_) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @method) (#eq? @_prototype "prototype"))
(expression_statement (assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @owner property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function)

; Tests, by their titles.
((expression_statement (call_expression
  function: [(identifier) @_test
    (member_expression object: (identifier) @_test)
    (member_expression object: (member_expression object: (identifier) @_test))
    (call_expression function: (member_expression object: (identifier) @_test))
    (call_expression function: (member_expression object: (member_expression object: (identifier) @_test)))]
  arguments: (arguments . [(string) (template_string)] @name . [(arrow_function) (function_expression)])) @test)
  (#match? @_test "^(describe|it|test|suite|context|bench)$"))

(lexical_declaration (variable_declarator) @wrapped) @wrapper
(variable_declaration (variable_declarator) @wrapped) @wrapper
(export_statement declaration: (_) @wrapped) @wrapper
(export_statement value: (_) @wrapped) @wrapper
(expression_statement [(assignment_expression) (call_expression)] @wrapped) @wrapper
(decorator) @prefix
((comment) @comment (#not-match? @comment "^#!"))
