; Finds the modifiers of C and C++; `src/text/symbols/modifiers.rs` explains the captures.
; `static` and `inline` decide who links with a definition, and no body shows that.
(storage_class_specifier) @modifier
