//! The rows of languages for browsers and Node.js.

use super::{BRACES, Language};

#[cfg(feature = "lang-web")]
pub(super) const JAVASCRIPT: Language = Language {
    name: "javascript",
    extensions: &["js", "mjs", "cjs"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    query: concat!(
        include_str!("../../../../queries/ecmascript/symbols.scm"),
        include_str!("../../../../queries/javascript/symbols.scm")
    ),
    imports: include_str!("../../../../queries/ecmascript/imports.scm"),
    exact_strings: &["template_string", "string"],
    blocks: &[
        "program",
        "statement_block",
        "class_body",
        "object",
        "class_static_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "named_imports",
    ],
    ..BRACES
};

#[cfg(feature = "lang-web")]
pub(super) const JSX: Language = Language { name: "javascriptreact", extensions: &["jsx"], ..JAVASCRIPT };

#[cfg(feature = "lang-web")]
pub(super) const TYPESCRIPT: Language = Language {
    name: "typescript",
    extensions: &["ts", "mts", "cts"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    query: concat!(
        include_str!("../../../../queries/ecmascript/symbols.scm"),
        include_str!("../../../../queries/typescript/symbols.scm")
    ),
    blocks: &[
        "program",
        "statement_block",
        "class_body",
        "interface_body",
        "enum_body",
        "object_type",
        "object",
        "class_static_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "named_imports",
    ],
    ..JAVASCRIPT
};

/// The grammar of its own: `<T>x` is a cast in TypeScript, and an element here.
#[cfg(feature = "lang-web")]
pub(super) const TSX: Language = Language {
    name: "typescriptreact",
    extensions: &["tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    ..TYPESCRIPT
};
