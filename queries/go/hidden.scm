; Finds what a text of Go hides from other files; `src/text/symbols/interface/visible_offers.rs` explains the captures.
(function_declaration body: (block) @hidden)
(method_declaration body: (block) @hidden)
(func_literal body: (block) @hidden)
(var_spec type: (_) value: (_) @hidden)
(parameter_declaration name: (identifier) @own)
(comment) @comment
