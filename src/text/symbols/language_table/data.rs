//! The rows of languages for data and prose.

use super::{BRACES, Language};

#[cfg(feature = "lang-data")]
pub(super) const JSON: Language = Language {
    name: "json",
    extensions: &["json", "webmanifest"],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    query: include_str!("../../../../queries/json/symbols.scm"),
    trailing_separator: false,
    blocks: &["document", "object", "array"],
    is_document: true,
    ..BRACES
};

/// With comments, which the grammar reads too, and commas at the end of a list, which it does not.
#[cfg(feature = "lang-data")]
pub(super) const JSONC: Language =
    Language { name: "jsonc", extensions: &["jsonc", "code-workspace"], reports_syntax: false, ..JSON };

#[cfg(feature = "lang-data")]
pub(super) const YAML: Language = Language {
    name: "yaml",
    extensions: &["yaml", "yml"],
    grammar: || tree_sitter_yaml::LANGUAGE.into(),
    query: include_str!("../../../../queries/yaml/symbols.scm"),
    line_comments: &["#"],
    block_comments: &[],
    openers: &[':'],
    closers: &[],
    blocks: &["stream", "document", "block_mapping", "block_sequence"],
    is_document: true,
    ..BRACES
};

#[cfg(feature = "lang-data")]
pub(super) const TOML: Language = Language {
    name: "toml",
    extensions: &["toml"],
    file_names: &["Cargo.lock", "poetry.lock", "uv.lock"],
    grammar: || tree_sitter_toml_ng::LANGUAGE.into(),
    query: include_str!("../../../../queries/toml/symbols.scm"),
    line_comments: &["#"],
    block_comments: &[],
    exact_strings: &["string"],
    blocks: &["document", "table", "table_array_element"],
    // Inline tables allow none.
    trailing_separator: false,
    is_document: true,
    ..BRACES
};

#[cfg(feature = "lang-data")]
pub(super) const MARKDOWN: Language = Language {
    name: "markdown",
    extensions: &["md", "markdown"],
    grammar: || tree_sitter_md::LANGUAGE.into(),
    query: include_str!("../../../../queries/markdown/symbols.scm"),
    line_comments: &[],
    block_comments: &[("<!--", "-->")],
    blocks: &["document", "section"],
    openers: &[],
    closers: &[],
    reports_syntax: false,
    is_document: true,
    ..BRACES
};
