; Finds the symbols that C and C++ share. A prototype is a mere declaration.
((function_definition declarator: (_) @declarator) @function (#set! path "::"))
(([(translation_unit (declaration declarator: (_) @declarator @variable))
  (declaration_list (declaration declarator: (_) @declarator @variable))
  (linkage_specification body: (declaration declarator: (_) @declarator @variable))
  (preproc_if (declaration declarator: (_) @declarator @variable))
  (preproc_ifdef (declaration declarator: (_) @declarator @variable))
  (preproc_else (declaration declarator: (_) @declarator @variable))
  (preproc_elif (declaration declarator: (_) @declarator @variable))]) (#set! path "::"))
((type_definition declarator: (_) @declarator) @type)
((struct_specifier name: (_) @name body: (_)) @type (#set! tail ";") (#set! path "::"))
((union_specifier name: (_) @name body: (_)) @type (#set! tail ";") (#set! path "::"))
((enum_specifier name: (_) @name body: (_)) @type (#set! tail ";") (#set! path "::"))
((enumerator name: (_) @name) @constant (#set! separator ","))
(preproc_def name: (_) @name value: (_)) @macro
(preproc_function_def name: (_) @name) @macro
(declaration type: [(primitive_type) (type_identifier) (sized_type_specifier) (struct_specifier !body)
  (union_specifier !body) (enum_specifier !body)] declarator: (_) @wrapped) @wrapper
(declaration type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @wrapped) @wrapper
(linkage_specification body: [(declaration) (function_definition)] @wrapped) @wrapper
(comment) @comment
