; Finds the symbols of shell scripts.
(function_definition name: (_) @name) @function
((comment) @comment (#not-match? @comment "^#!"))
