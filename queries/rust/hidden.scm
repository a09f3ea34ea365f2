; Finds what a text of Rust hides from other files; `src/text/symbols/interface/visible_offers.rs` explains the captures.
(function_item body: (block) @hidden)
; The body decides whether a future can be sent, what an opaque type is, and what a constant is worth.
((function_item (function_modifiers) @_how body: (block) @shown) (#match? @_how "async|const"))
((function_item return_type: (_) @_type body: (block) @shown) (#match? @_type "\\bimpl\\b"))
(static_item value: (_) @hidden)
(use_wildcard) @star
(scoped_identifier path: [(identifier) @inner (scoped_identifier name: (identifier) @inner)])
(scoped_use_list path: [(identifier) @inner (scoped_identifier name: (identifier) @inner)])
(use_wildcard [(identifier) @inner (scoped_identifier name: (identifier) @inner)])
(parameter pattern: (identifier) @own)
(closure_parameters (identifier) @own)
(let_declaration pattern: (identifier) @own)
[(line_comment) (block_comment)] @comment
