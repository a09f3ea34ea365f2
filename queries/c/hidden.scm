; Finds what a text of C or C++ hides from other files; `src/text/symbols/interface/visible_offers.rs` explains the
; captures.
(function_definition body: (compound_statement) @hidden)
(preproc_include) @star
; What the compiler reads changes the meaning of all that comes behind it.
(preproc_call) @nameless
; A macro beside the declarations makes some.
(translation_unit (expression_statement (call_expression)) @nameless)
(preproc_ifdef (expression_statement (call_expression)) @nameless)
(preproc_if (expression_statement (call_expression)) @nameless)
; A class with a macro in its head looks like a function without parameters.
(function_definition declarator: (identifier)) @names
(preproc_if condition: (_) @condition) @conditional
(preproc_elif condition: (_) @condition) @conditional
(preproc_ifdef name: (_) @condition) @conditional
(parameter_declaration declarator: (identifier) @own)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @own))
; The head of an enumeration decides how its members are named, and its other members which values they have.
(enumerator name: (identifier) @led)
(comment) @comment
