; Finds the modifiers of PHP; `src/text/symbols/modifiers.rs` explains the captures.
(visibility_modifier) @visibility
; The body decides whether a member needs an object.
[(static_modifier) (final_modifier) (abstract_modifier) (readonly_modifier)] @follows
