; Finds the symbols of shell scripts.
((function_definition name: (_) @name) @function (#set! tail ";"))
((comment) @comment (#not-match? @comment "^#!"))
