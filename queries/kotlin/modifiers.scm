; Finds the modifiers of Kotlin; `src/text/symbols/modifiers.rs` explains the captures.
(modifiers (visibility_modifier) @visibility)
; Callers of a `suspend` function wait for it, and an `operator` is called by its sign.
(modifiers (function_modifier) @modifier)
(modifiers [(member_modifier) (inheritance_modifier) (class_modifier) (property_modifier)] @follows)
