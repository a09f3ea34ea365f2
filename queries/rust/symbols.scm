; Finds the symbols of Rust. An `impl` block has a name of its own, and its members the path of its type.
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @type
(enum_item name: (_) @name) @type
(union_item name: (_) @name) @type
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(trait_item name: (_) @name) @interface
(mod_item name: (_) @name) @module
((const_item name: (_) @name) @constant (#not-eq? @name "_"))
(static_item name: (_) @name) @variable
((enum_variant name: (_) @name) @constant (#set! separator ","))
((macro_definition name: (_) @name) @macro (#set! suffix "!"))
((impl_item !trait type: (_) @name @members) @impl (#set! prefix "impl ") (#set! types ""))
((impl_item trait: (_) @name type: (_) @name @members) @impl
  (#set! prefix "impl ") (#set! join " for ") (#set! types ""))
(attribute_item) @prefix
; A comment with `!` is about what it stands in.
((line_comment) @comment (#not-match? @comment "^//!"))
((block_comment) @comment (#not-match? @comment "^/[*]!"))
