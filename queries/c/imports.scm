; Finds the imports of C and C++. `@import` is one statement.
(preproc_include) @import
(comment) @comment
; What stands above the imports.
((preproc_call directive: (_) argument: (_) @_once) @opening (#match? @_once "^once"))
(preproc_ifdef name: (_) @_guard (preproc_def name: (_) @_defined) @opening (#eq? @_guard @_defined))
