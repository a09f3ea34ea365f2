//! The rows of languages for scripts.

use super::{BRACES, ImportForm, Language, Sharing};
use crate::symbols::spelled_text::{Escape, NormalForm};

pub(super) const PYTHON: Language = Language {
    name: "python",
    extensions: &["py", "pyi"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    query: include_str!("../../../../queries/python/symbols.scm"),
    imports: include_str!("../../../../queries/python/imports.scm"),
    interface: include_str!("../../../../queries/python/interface.scm"),
    modifiers: include_str!("../../../../queries/python/modifiers.scm"),
    unchecked: include_str!("../../../../queries/python/unchecked.scm"),
    import_words: &["import", "from"],
    import_form: ImportForm::Statement,
    kin: "python",
    folder_files: &["__init__"],
    global_files: &["__builtins__"],
    stub_extension: Some("pyi"),
    list_name: Some("__all__"),
    structural_members: &["close", "fileno", "flush", "items", "keys", "read", "readline", "write"],
    structural_word: Some("Protocol"),
    escapes: &[Escape::Hex, Escape::Unicode, Escape::LongUnicode, Escape::Octal],
    normal_form: Some(NormalForm::Compatible),
    line_comments: &["#"],
    block_comments: &[],
    members_stand_alone: true,
    strings: &["string"],
    closers: &[],
    blank_lines: 2,
    filler: Some(("block", "pass")),
    blocks: &["module", "block"],
    ..BRACES
};

#[cfg(feature = "lang-script")]
pub(super) const LUA: Language = Language {
    name: "lua",
    extensions: &["lua"],
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    query: include_str!("../../../../queries/lua/symbols.scm"),
    imports: include_str!("../../../../queries/lua/imports.scm"),
    hidden: include_str!("../../../../queries/lua/hidden.scm"),
    modifiers: include_str!("../../../../queries/lua/modifiers.scm"),
    import_words: &["require", "dofile", "loadfile"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Everywhere,
    kin: "lua",
    folder_files: &["init"],
    escapes: &[Escape::Hex, Escape::Braces, Escape::Decimal],
    typed_comments: true,
    line_comments: &["--"],
    block_comments: &[("--[[", "]]"), ("--[=[", "]=]")],
    exact_strings: &["string"],
    openers: &['{'],
    closers: &["end", "}", ")"],
    cheats: &[
        ("dead_code", r"\bif\s+false\s+then\b"),
        ("test_skipped", r"\bpending\s*\("),
        ("check_removed", r"\b(?:assert|error)\s*\("),
        ("error_swallowed", r"(?m)^\s*pcall\s*\("),
        ("any_cast", r"--\[\[\s*@as\s+any\b|---\s*@cast\s+\w+\s+any\b"),
    ],
    blocks: &["chunk", "block", "table_constructor"],
    ..BRACES
};

#[cfg(feature = "lang-script")]
pub(super) const BASH: Language = Language {
    name: "shellscript",
    extensions: &["sh", "bash", "bats"],
    file_names: &[".bashrc", ".bash_profile", ".bash_aliases", ".profile", "PKGBUILD"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    query: include_str!("../../../../queries/bash/symbols.scm"),
    imports: include_str!("../../../../queries/bash/imports.scm"),
    line_comments: &["#"],
    block_comments: &[],
    exact_strings: &["string", "raw_string", "ansi_c_string", "heredoc_redirect"],
    openers: &['{', '('],
    blocks: &[
        "program",
        "compound_statement",
        "subshell",
        "do_group",
        "if_statement",
        "elif_clause",
        "else_clause",
        "case_item",
    ],
    cheats: &[
        ("dead_code", r"\bif\s+false\b"),
        ("test_skipped", r"(?m)^\s*skip\b"),
        ("check_removed", r"\b(?:exit|return)\s+[1-9]|\bset\s+-\w*[eu]"),
        ("error_swallowed", r"\|\|\s*(?:true\b|:)|2>\s*/dev/null|\bset\s+\+\w*[eu]"),
    ],
    filler: Some(("compound_statement", ":")),
    is_shell: true,
    reports_syntax: false,
    ..BRACES
};
