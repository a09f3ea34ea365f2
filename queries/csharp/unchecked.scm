; Finds the code of C# that a check may leave out; `src/text/symbols/unchecked_code.rs` explains the captures.
(preproc_if) @conditional
