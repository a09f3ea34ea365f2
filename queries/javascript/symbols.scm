; Finds the symbols that only JavaScript has.
((class_body (field_definition property: (_) @name) @field) (#set! tail ";"))
