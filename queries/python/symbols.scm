; Symbols of Python. `@wrapper` is what belongs to the definition it encloses (decorators);
; `@comment` joins the definition below it where it stands alone on the line above.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(decorated_definition) @wrapper
(comment) @comment
