; Finds the modifiers of C#; `src/text/symbols/modifiers.rs` explains the captures.
((modifier) @visibility (#match? @visibility "^(public|private|protected|internal|file)$"))
((modifier) @async (#eq? @async "async"))
(await_expression) @await
; The body decides whether a member needs an object.
((modifier) @follows
  (#match? @follows "^(static|abstract|sealed|virtual|override|readonly|const|partial|unsafe|extern|new|required)$"))
