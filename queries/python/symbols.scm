; Finds the symbols of Python.
;
; `@wrapper` belongs to the definition that it encloses (decorators); `@comment` joins the definition below it if it
; stands alone on the line above.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(decorated_definition definition: (_) @wrapped) @wrapper
(decorator) @decorator
(comment) @comment
