; Finds the imports of Ruby. `@import` is one statement.
((call !receiver method: (identifier) @_method) @import (#match? @_method "^(require|require_relative|load|autoload)$"))
(comment) @comment
