; Finds the interface of a text of Python for other files.
;
; `@function` and `@class` have `@name` and `@body`; `@first` is the first parameter, `@returns` a declared result,
; `@result` a statement that gives one, and `@kind` decides the kind of a function with a declared result too. `@end` is
; a statement of a body behind which nothing runs, `@tail` a last statement that may hold an `@exit`. `@abstract` names
; a method that a class has to fill in, `@unfilled` is a statement of a function that is not filled in. A `@step` is a
; statement of the body of a function, `@plain` if it decides nothing but what it binds; `@assigned` is what an
; assignment binds. What is bound inside of a `@comprehension` follows from all of it.
; `@shaped` names a class whose fields decide how it is made (a data class, a named tuple, an enumeration),
; `@structural` one that others fulfil by their members alone; so is one with a `@base` that is an `@alias`. `@generic`
; names a class whose members decide how its type arguments may differ. `@value` binds `@name` at the level of its
; module or class, `@constant` does so with a type that is its very value, and `@attribute` binds one of the instance
; that is the `@receiver`; `@type` is a declared type. A `@value` with a `@pattern` binds each `@target` in it, at any
; depth. `@beside` is a stretch elsewhere that decides what is bound. `@global` makes the bindings of a function those
; of its module. `@import` binds `@name` or, with `@star`, every name. A `@branch` applies where its `@test` holds. The
; content of a `@literal` changes no type inside of an `@effect`, nor if it is bound by itself and not in an `@exact`
; value. In a `@made` value it may choose between types.
(function_definition name: (identifier) @name body: (block) @body) @function
(function_definition name: (identifier) @name return_type: (type) @returns body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(class_definition name: (identifier) @shaped superclasses: (argument_list (_)))
(decorated_definition definition: (class_definition name: (identifier) @shaped))
(class_definition name: (identifier) @structural superclasses: (argument_list) @_bases
  (#match? @_bases "\\bProtocol\\b"))

(aliased_import name: (dotted_name (identifier) @_name .) alias: (identifier) @alias (#eq? @_name "Protocol"))
(class_definition name: (identifier) @name superclasses: (argument_list
  [(identifier) (attribute) (subscript) (call)] @base))
(class_definition name: (identifier) @generic type_parameters: (_))

(return_statement (_)) @result
(yield) @result
(yield) @kind
(function_definition body: (block (_) @step))
(function_definition body: (block [(expression_statement) (return_statement) (raise_statement)] @plain))
(assignment left: (_) @assigned)
(augmented_assignment left: (_) @assigned)
(named_expression name: (_) @assigned)
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
((raise_statement . (_) @_raised) @unfilled (#match? @_raised "^NotImplementedError"))
(function_definition body: (block (expression_statement (ellipsis)) @unfilled))
(decorated_definition (decorator) @_mark definition: (function_definition name: (identifier) @abstract)
  (#match? @_mark "abstract"))
(function_definition name: (identifier) @name parameters: (parameters
  [(identifier) (typed_parameter) (default_parameter) (typed_default_parameter) (list_splat_pattern)] @first))
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
((assignment left: (identifier) @name type: (_) right: (_)) @constant (#match? @name "^__.+__$"))
((expression_statement (call function: (attribute object: (identifier) @name))) @value (#eq? @name "__all__"))
(augmented_assignment left: (identifier) @name) @value
(for_statement left: (identifier) @name right: (_) @value)
(with_item value: (as_pattern (_) @value alias: (as_pattern_target (identifier) @name)))
(named_expression name: (identifier) @name) @value
(except_clause (as_pattern alias: (as_pattern_target (identifier) @name)) @value)
(type_alias_statement left: (type (identifier) @name)) @value
(type_alias_statement left: (type (generic_type (identifier) @name))) @value
(global_statement (identifier) @global)

(assignment left: (attribute object: (identifier) @receiver attribute: (identifier) @name)) @attribute
(assignment
  left: (attribute object: (identifier) @receiver attribute: (identifier) @name) type: (type) @type) @attribute
(augmented_assignment
  left: (attribute object: (identifier) @receiver attribute: (identifier) @name)) @attribute
(for_statement left: (attribute object: (identifier) @receiver attribute: (identifier) @name) right: (_) @attribute)
(with_item value: (as_pattern (_) @attribute
  alias: (as_pattern_target (attribute object: (identifier) @receiver attribute: (identifier) @name))))

(assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @pattern) @value
(for_statement left: [(pattern_list) (tuple_pattern) (list_pattern)] @pattern right: (_) @value)
(with_item value: (as_pattern (_) @value alias: (as_pattern_target [(tuple) (list)] @pattern)))
(match_statement body: (block (case_clause (case_pattern) @pattern))) @value
[
  (pattern_list (identifier) @target)
  (tuple_pattern (identifier) @target)
  (list_pattern (identifier) @target)
  (list_splat_pattern (identifier) @target)
  (pattern_list (attribute object: (identifier) @receiver attribute: (identifier) @target))
  (tuple_pattern (attribute object: (identifier) @receiver attribute: (identifier) @target))
  (list_pattern (attribute object: (identifier) @receiver attribute: (identifier) @target))
  (list_splat_pattern (attribute object: (identifier) @receiver attribute: (identifier) @target))
  (case_pattern (dotted_name . (identifier) @target .))
  (keyword_pattern (dotted_name . (identifier) @target .))
  (splat_pattern (identifier) @target)
  (as_pattern (case_pattern) (identifier) @target)
]
(as_pattern_target [
  (tuple [(identifier) @target (list_splat (identifier) @target) (tuple (identifier) @target)])
  (list [(identifier) @target (list_splat (identifier) @target)])
  (tuple (attribute object: (identifier) @receiver attribute: (identifier) @target))])

(import_from_statement module_name: (_) @beside name: (dotted_name (identifier) @name .) @import)
(import_from_statement module_name: (_) @beside name: (aliased_import alias: (identifier) @name) @import)
(import_from_statement (wildcard_import) @star) @import
(import_statement name: (dotted_name . (identifier) @name) @import)
(import_statement name: (aliased_import alias: (identifier) @name) @import)

(if_statement condition: (_) @test) @branch
(elif_clause condition: (_) @test) @branch
(else_clause) @branch

(string_content) @literal
(integer) @literal
(float) @literal
[(tuple) (expression_list)] @exact
[(call) (subscript) (boolean_operator) (conditional_expression)] @made
(expression_statement [(call) (string) (await)]) @effect
(raise_statement) @effect
((comment) @comment (#not-match? @comment "^#\\s*type:"))
((comment) @comment (#match? @comment "^#\\s*type:\\s*ignore"))

; Names that a function binds for itself, or for a `@scope`: to mention one of them is not to use the interface of other
; files. A `@label` is a word that names no value.
(parameters (identifier) @own)
(parameters (typed_parameter . (identifier) @own))
(parameters (default_parameter name: (identifier) @own))
(parameters (typed_default_parameter name: (identifier) @own))
(parameters (list_splat_pattern (identifier) @own))
(parameters (dictionary_splat_pattern (identifier) @own))
(typed_parameter (list_splat_pattern (identifier) @own))
(typed_parameter (dictionary_splat_pattern (identifier) @own))
(for_statement left: (identifier) @own)
(as_pattern_target (identifier) @own)
(lambda parameters: (lambda_parameters [(identifier) @own (default_parameter name: (identifier) @own)])
  body: (_) @scope)
(_ body: (_) @scope (for_in_clause left: [
  (identifier) @own
  (pattern_list [(identifier) @own (tuple_pattern (identifier) @own)])
  (tuple_pattern (identifier) @own)]))
(keyword_argument name: (identifier) @label)
