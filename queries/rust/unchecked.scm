; Finds the code of Rust that a check may leave out; `src/text/symbols/unchecked_code.rs` explains the captures.
((attribute_item (attribute (identifier) @_cfg arguments: (_) @_condition)) @conditional.behind
  (#eq? @_cfg "cfg")
  (#not-match? @_condition "^\\(\\s*(test|debug_assertions|unix)\\s*\\)")
  (#not-match? @_condition "^\\(\\s*(not\\(\\s*test\\s*\\)|any\\(\\s*test\\s*,)"))
((inner_attribute_item (attribute (identifier) @_cfg arguments: (_) @_condition)) @conditional.around
  (#eq? @_cfg "cfg")
  (#not-match? @_condition "^\\(\\s*(test|debug_assertions|unix)\\s*\\)")
  (#not-match? @_condition "^\\(\\s*(not\\(\\s*test\\s*\\)|any\\(\\s*test\\s*,)"))
((macro_invocation macro: (_) @_macro) @conditional (#match? @_macro "(^|::)cfg_if$"))
(mod_item name: (identifier) @module !body)
(macro_rule right: (_) @expanded)
((line_comment doc: (_) @example) (#set! compiled "rust no_run should_panic edition test_harness"))
((block_comment doc: (_) @example) (#set! compiled "rust no_run should_panic edition test_harness"))
((attribute (identifier) @_doc value: (macro_invocation macro: (_) @_macro
  (token_tree (string_literal (string_content) @examples_of))))
  (#eq? @_doc "doc") (#eq? @_macro "include_str") (#set! compiled "rust no_run should_panic edition test_harness"))
