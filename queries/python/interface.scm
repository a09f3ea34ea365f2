; What a text of Python offers to other files. `@function` and `@class` have `@name` and `@body`; `@returns` is a declared
; result, `@result` a statement that gives one, `@exit` one that ends a function without. `@value` binds `@name` at the
; level of its module or class, `@attribute` binds one of an instance; `@type` is a declared type of either. `@import`
; binds `@name` or, with `@star`, whatever there is. What is in a `@literal` changes no type.
(function_definition name: (identifier) @name body: (block) @body) @function
(function_definition name: (identifier) @name return_type: (type) @returns body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(return_statement (_)) @result
(yield) @result
(raise_statement) @exit
(assignment left: (identifier) @name) @value
(assignment left: (identifier) @name type: (type) @type) @value
(assignment left: (pattern_list (identifier) @name)) @value
(augmented_assignment left: (identifier) @name) @value
(type_alias_statement left: (type (identifier) @name)) @value
(type_alias_statement left: (type (generic_type (identifier) @name))) @value
((assignment left: (attribute object: (identifier) @_own attribute: (identifier) @name)) @attribute
  (#any-of? @_own "self" "cls"))
((assignment left: (attribute object: (identifier) @_own attribute: (identifier) @name) type: (type) @type) @attribute
  (#any-of? @_own "self" "cls"))
(import_from_statement name: (dotted_name (identifier) @name .)) @import
(import_from_statement name: (aliased_import alias: (identifier) @name)) @import
(import_from_statement (wildcard_import) @star) @import
(import_statement name: (dotted_name . (identifier) @name)) @import
(import_statement name: (aliased_import alias: (identifier) @name)) @import
(string_content) @literal
(integer) @literal
(float) @literal
(comment) @comment
; Names that a function binds for itself: to mention one of them is no use of what others offer.
(parameters (identifier) @own)
(parameters (typed_parameter . (identifier) @own))
(parameters (default_parameter name: (identifier) @own))
(parameters (typed_default_parameter name: (identifier) @own))
(parameters (list_splat_pattern (identifier) @own))
(parameters (dictionary_splat_pattern (identifier) @own))
(typed_parameter (list_splat_pattern (identifier) @own))
(typed_parameter (dictionary_splat_pattern (identifier) @own))
(lambda_parameters (identifier) @own)
(keyword_argument name: (identifier) @own)
(for_statement left: (identifier) @own)
(for_statement left: (pattern_list (identifier) @own))
(for_in_clause left: (identifier) @own)
(for_in_clause left: (pattern_list (identifier) @own))
(as_pattern_target (identifier) @own)
