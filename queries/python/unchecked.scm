; Finds the code of Python that a check may leave out; `src/text/symbols/unchecked_code.rs` explains the captures.
((if_statement condition: (_) @_test consequence: (_) @conditional)
  (#match? @_test "\\b(sys\\.(platform|version_info)|os\\.name)\\b"))
((if_statement condition: (_) @_test alternative: (_) @conditional)
  (#match? @_test "\\b(sys\\.(platform|version_info)|os\\.name)\\b"))
((elif_clause condition: (_) @_test consequence: (_) @conditional)
  (#match? @_test "\\b(sys\\.(platform|version_info)|os\\.name)\\b"))
((if_statement alternative: (elif_clause condition: (_) @_test) alternative: (_) @conditional)
  (#match? @_test "\\b(sys\\.(platform|version_info)|os\\.name)\\b"))
((conditional_expression) @conditional (#match? @conditional "\\b(sys\\.(platform|version_info)|os\\.name)\\b"))
((boolean_operator left: (_) @_test right: (_) @conditional)
  (#match? @_test "\\b(sys\\.(platform|version_info)|os\\.name)\\b"))
; Checkers take `TYPE_CHECKING` for true.
((if_statement condition: (_) @_test alternative: (_) @conditional) (#match? @_test "^(\\w+\\.)?TYPE_CHECKING$"))
((if_statement condition: (not_operator argument: (_) @_test) consequence: (_) @conditional)
  (#match? @_test "^(\\w+\\.)?TYPE_CHECKING$"))
((if_statement condition: (_) @_test consequence: (_) @conditional) (#match? @_test "^(False|0)$"))
; Behind a statement that ends on other systems, nothing is checked there.
((_ (assert_statement . (_) @_test) (_) @conditional) (#match? @_test "\\b(sys\\.platform|os\\.name)\\b"))
((_ (if_statement condition: (_) @_test consequence: (block [(raise_statement) (return_statement)] .)) (_) @conditional)
  (#match? @_test "\\b(sys\\.platform|os\\.name)\\b"))
((_ (if_statement condition: (_) @_test
  consequence: (block (expression_statement (call function: (_) @_exit)) .)) (_) @conditional)
  (#match? @_test "\\b(sys\\.platform|os\\.name)\\b") (#match? @_exit "(^|\\.)(_?exit|abort)$"))
((decorated_definition (decorator (_) @_mark)) @excluded (#match? @_mark "(^|\\.)no_type_check$"))
(module . (comment) @excluded.around
  (#match? @excluded.around "^#\\s*(type:\\s*ignore\\s*$|mypy:\\s*ignore-errors)"))
