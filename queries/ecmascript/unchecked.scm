; Finds the code of JavaScript and TypeScript that a check may leave out; `src/text/symbols/unchecked_code.rs` explains
; the captures.
((comment) @excluded.around (#match? @excluded.around "^(//|/\\*)\\s*@ts-nocheck\\b"))
