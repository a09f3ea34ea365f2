; Finds the imports of C#. `@import` is one statement.
[(using_directive) (extern_alias_directive)] @import
(comment) @comment
