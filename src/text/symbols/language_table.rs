//! The table of languages: a row each.

use super::language::Language;

/// The rest of a row: a language with braces.
pub(crate) const BRACES: Language = Language {
    name: "",
    extensions: &[],
    file_names: &[],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    query: "",
    imports: "",
    interface: "",
    import_words: &[],
    folder_files: &[],
    structural_members: &[],
    structural_word: None,
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    members_stand_alone: false,
    strings: &[],
    exact_strings: &[],
    openers: &[':', '{'],
    closers: &['}', ')', ']'],
    blank_lines: 1,
    trailing_separator: true,
    filler: None,
    blocks: &[],
    reports_syntax: true,
};

pub static LANGUAGES: &[Language] = &[Language {
    name: "python",
    extensions: &["py", "pyi"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    query: include_str!("../../../queries/python/symbols.scm"),
    imports: include_str!("../../../queries/python/imports.scm"),
    interface: include_str!("../../../queries/python/interface.scm"),
    import_words: &["import", "from"],
    folder_files: &["__init__"],
    structural_members: &["close", "fileno", "flush", "items", "keys", "read", "readline", "write"],
    structural_word: Some("Protocol"),
    line_comments: &["#"],
    block_comments: &[],
    members_stand_alone: true,
    strings: &["string"],
    closers: &[],
    blank_lines: 2,
    filler: Some(("block", "pass")),
    blocks: &["module", "block"],
    ..BRACES
}];
