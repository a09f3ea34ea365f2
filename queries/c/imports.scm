; Finds the imports of C and C++. `@import` is one statement.
(preproc_include) @import
(comment) @comment
