; Finds the code of C and C++ that a check may leave out; `src/text/symbols/unchecked_code.rs` explains the captures.
[(preproc_if) (preproc_ifdef)] @conditional
; What is there once, and what C does not read, is compiled.
((preproc_ifdef name: (_) @_guard (preproc_def name: (_) @_defined)) @checked (#eq? @_guard @_defined))
((preproc_if condition: (unary_expression argument: (preproc_defined (identifier) @_guard))
  (preproc_def name: (_) @_defined)) @checked (#eq? @_guard @_defined))
((preproc_ifdef name: (_) @_name) @checked (#eq? @_name "__cplusplus"))
; A directive that divides a statement is not parsed.
((ERROR) @conditional (#match? @conditional "(?m)^[ \t]*#[ \t]*(if|el|endif)"))
