; Finds the interface of a text of Python for other files.
;
; `@function` and `@class` have `@name` and `@body`; `@returns` is a declared result, `@result` a statement that gives
; one. `@end` is a statement of a body behind which nothing runs, `@tail` a last statement that may hold an `@exit`.
; `@shaped` names a class whose fields decide how it is made (a data class, a named tuple, an enumeration),
; `@structural` one that others fulfil by their members alone. `@value` binds `@name` at the level of its module or
; class, `@constant` does so with a type that is its very value, and `@attribute` binds one of the instance that is the
; `@receiver`; `@type` is a declared type. `@global` makes the bindings of a function those of its module. `@import`
; binds `@name` or, with `@star`, every name. A `@branch` applies where its `@test` holds. The content of a `@literal`
; changes no type inside of an `@effect`, nor if it is bound by itself.
(function_definition name: (identifier) @name body: (block) @body) @function
(function_definition name: (identifier) @name return_type: (type) @returns body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(class_definition name: (identifier) @shaped superclasses: (argument_list (_)))
(decorated_definition definition: (class_definition name: (identifier) @shaped))
(class_definition name: (identifier) @structural superclasses: (argument_list) @_bases
  (#match? @_bases "\\bProtocol\\b"))

(return_statement (_)) @result
(yield) @result
(function_definition body: (block (raise_statement) @end))
(function_definition body: (block (expression_statement (call function: (_) @_called)) @end)
  (#match? @_called "(^|\\.)(exit|_exit|quit|abort|fail|skip|error)$"))
(function_definition body: (block
  [(if_statement) (try_statement) (with_statement) (while_statement) (match_statement)] @tail .))
(raise_statement) @exit
((call function: (_) @_called) @exit (#match? @_called "(^|\\.)(exit|_exit|quit|abort|fail|skip|error)$"))
((while_statement condition: (true)) @exit)

(assignment left: (identifier) @name) @value
(assignment left: (identifier) @name type: (type) @type) @value
((assignment left: (identifier) @name type: (type) @_type right: (_)) @constant
  (#match? @_type "\\b(Final|TypeAlias)\\b|^(.*\\.)?ClassVar$"))
((expression_statement (call function: (attribute object: (identifier) @name))) @value (#eq? @name "__all__"))
(assignment left: [
  (pattern_list [(identifier) @name (list_splat_pattern (identifier) @name)])
  (tuple_pattern [(identifier) @name (list_splat_pattern (identifier) @name)])
  (list_pattern [(identifier) @name (list_splat_pattern (identifier) @name)])]) @value
(augmented_assignment left: (identifier) @name) @value
(for_statement left: [(identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]
  right: (_) @value)
(with_item value: (as_pattern (_) @value alias: (as_pattern_target (identifier) @name)))
(named_expression name: (identifier) @name) @value
(type_alias_statement left: (type (identifier) @name)) @value
(type_alias_statement left: (type (generic_type (identifier) @name))) @value
(global_statement (identifier) @global)

(assignment left: (attribute object: (identifier) @receiver attribute: (identifier) @name)) @attribute
(assignment left: (attribute object: (identifier) @receiver attribute: (identifier) @name) type: (type) @type) @attribute
(assignment left: [
  (pattern_list (attribute object: (identifier) @receiver attribute: (identifier) @name))
  (tuple_pattern (attribute object: (identifier) @receiver attribute: (identifier) @name))]) @attribute
(for_statement left: [
  (attribute object: (identifier) @receiver attribute: (identifier) @name)
  (pattern_list (attribute object: (identifier) @receiver attribute: (identifier) @name))]
  right: (_) @attribute)
(with_item value: (as_pattern (_) @attribute
  alias: (as_pattern_target (attribute object: (identifier) @receiver attribute: (identifier) @name))))

(import_from_statement name: (dotted_name (identifier) @name .)) @import
(import_from_statement name: (aliased_import alias: (identifier) @name)) @import
(import_from_statement (wildcard_import) @star) @import
(import_statement name: (dotted_name . (identifier) @name)) @import
(import_statement name: (aliased_import alias: (identifier) @name)) @import

(if_statement condition: (_) @test) @branch
(elif_clause condition: (_) @test) @branch
(else_clause) @branch

(string_content) @literal
(integer) @literal
(float) @literal
(expression_statement [(call) (string) (await)]) @effect
(raise_statement) @effect
((comment) @comment (#not-match? @comment "^#\\s*type:"))
((comment) @comment (#match? @comment "^#\\s*type:\\s*ignore"))

; Names that a function binds for itself: to mention one of them is not to use the interface of other files.
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
