; Finds the symbols of Ruby. A method of `class << self` and `def self.f` have the path of the class.
((module name: (_) @name) @module (#set! path "::"))
((class name: (_) @name) @class (#set! path "::"))
(program (method name: (_) @name) @function)
(method name: (_) @name) @method
(singleton_method object: (self) name: (_) @name) @method
(singleton_method object: (_) @owner name: (_) @name) @method
(assignment left: (constant) @name) @constant
((call method: (identifier) @_test
  arguments: (argument_list . [(string) (constant) (scope_resolution)] @name) block: (_)) @test
  (#match? @_test "^(describe|context|it|specify|test|feature|scenario|shared_examples|shared_context)$"))
; `private def f`.
(call arguments: (argument_list . [(method) (singleton_method)] @wrapped .)) @wrapper
((comment) @comment (#not-match? @comment "^#!|^# *(frozen_string_literal|encoding|-[*]-)"))
; The lines of a text that a definition ends with.
(heredoc_body) @suffix
