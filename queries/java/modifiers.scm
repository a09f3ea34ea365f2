; Finds the modifiers of Java; `src/text/symbols/modifiers.rs` explains the captures.
(modifiers ["public" "protected" "private"] @visibility)
; Without it nothing is reported, and threads no longer wait for each other.
(modifiers "synchronized" @modifier)
; The body decides whether a member needs an object.
(modifiers ["static" "final" "abstract"] @follows)
