//! The rows of languages that are compiled.

use super::{BRACES, ImportForm, Language, Sharing};
use crate::symbols::spelled_text::{Escape, NormalForm};
use crate::symbols::symbol_kind::SymbolKind;

#[cfg(feature = "lang-system")]
pub(super) const RUST: Language = Language {
    name: "rust",
    extensions: &["rs"],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    query: include_str!("../../../../queries/rust/symbols.scm"),
    imports: include_str!("../../../../queries/rust/imports.scm"),
    hidden: include_str!("../../../../queries/rust/hidden.scm"),
    modifiers: include_str!("../../../../queries/rust/modifiers.scm"),
    unchecked: include_str!("../../../../queries/rust/unchecked.scm"),
    import_words: &["use", "mod", "extern"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Everywhere,
    kin: "rust",
    folder_files: &["mod", "lib", "main"],
    structural_kinds: &[SymbolKind::Interface],
    escapes: &[Escape::Hex, Escape::Braces],
    normal_form: Some(NormalForm::Canonical),
    exact_strings: &["string_literal", "raw_string_literal"],
    cheats: &[
        ("dead_code", r"\bif\s+false\s*\{|#!?\[\s*cfg\s*\(\s*any\s*\(\s*\)"),
        ("error_swallowed", r"\blet\s+_\s*=|\.ok\(\)\s*;"),
        ("type_asserted", r"\btransmute\b"),
        ("unwrapped", r"\.unwrap\(\)"),
    ],
    blocks: &["source_file", "block", "declaration_list", "field_declaration_list", "enum_variant_list", "match_block"],
    ..BRACES
};

#[cfg(feature = "lang-system")]
pub(super) const GO: Language = Language {
    name: "go",
    extensions: &["go"],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    query: include_str!("../../../../queries/go/symbols.scm"),
    imports: include_str!("../../../../queries/go/imports.scm"),
    hidden: include_str!("../../../../queries/go/hidden.scm"),
    unchecked: include_str!("../../../../queries/go/unchecked.scm"),
    import_words: &["import"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Folder,
    kin: "go",
    folder_files: &["*"],
    structural_kinds: &[SymbolKind::Type, SymbolKind::Interface],
    escapes: &[Escape::Hex, Escape::Unicode, Escape::LongUnicode, Escape::Octal],
    exact_strings: &["raw_string_literal"],
    cheats: &[("dead_code", r"\bif\s+false\s*\{"), ("error_swallowed", r"\b_\s*=\s*err\b|,\s*_\s*:?=[^=]")],
    blocks: &[
        "source_file",
        "block",
        "statement_list",
        "field_declaration_list",
        "interface_type",
        "import_spec_list",
        "var_spec_list",
        "literal_value",
    ],
    ..BRACES
};

#[cfg(feature = "lang-system")]
pub(super) const C: Language = Language {
    name: "c",
    extensions: &["c"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    query: include_str!("../../../../queries/c/symbols.scm"),
    imports: include_str!("../../../../queries/c/imports.scm"),
    hidden: include_str!("../../../../queries/c/hidden.scm"),
    modifiers: include_str!("../../../../queries/c/modifiers.scm"),
    unchecked: include_str!("../../../../queries/c/unchecked.scm"),
    import_words: &["include", "import"],
    import_form: ImportForm::Whole,
    forced_imports: &[("compile_flags.txt", "-include"), ("compile_commands.json", "-include")],
    macro_modules: true,
    textual_imports: true,
    paste_mark: Some("##"),
    kin: "c",
    embedded_in: &["inc", "def", "tcc", "tpp"],
    escapes: &[Escape::Unicode, Escape::LongUnicode, Escape::Braces, Escape::Splice],
    exact_strings: &["string_literal"],
    directive: Some('#'),
    cheats: &[
        ("dead_code", r"(?m)^\s*#\s*if\s+0\b|\bif\s*\(\s*(?:false|0)\s*\)"),
        ("type_asserted", r"\b(?:reinterpret|const)_cast\s*<"),
    ],
    blocks: &[
        "translation_unit",
        "compound_statement",
        "declaration_list",
        "field_declaration_list",
        "case_statement",
        "enumerator_list",
        "initializer_list",
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
    ],
    reports_syntax: false,
    ..BRACES
};

#[cfg(feature = "lang-system")]
pub(super) const CPP: Language = Language {
    name: "cpp",
    extensions: &["cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "h++", "ipp", "inl", "cu", "cuh"],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    query: concat!(
        include_str!("../../../../queries/cpp/symbols.scm"),
        include_str!("../../../../queries/c/symbols.scm")
    ),
    hidden: concat!(
        include_str!("../../../../queries/cpp/hidden.scm"),
        include_str!("../../../../queries/c/hidden.scm")
    ),
    modifiers: concat!(
        include_str!("../../../../queries/cpp/modifiers.scm"),
        include_str!("../../../../queries/c/modifiers.scm")
    ),
    unchecked: concat!(
        include_str!("../../../../queries/cpp/unchecked.scm"),
        include_str!("../../../../queries/c/unchecked.scm")
    ),
    structural_kinds: &[SymbolKind::Class, SymbolKind::Type],
    exact_strings: &["string_literal", "raw_string_literal"],
    ..C
};

#[cfg(feature = "lang-jvm")]
pub(super) const JAVA: Language = Language {
    name: "java",
    extensions: &["java"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    query: include_str!("../../../../queries/java/symbols.scm"),
    imports: include_str!("../../../../queries/java/imports.scm"),
    modifiers: include_str!("../../../../queries/java/modifiers.scm"),
    escapes: &[Escape::Unicode],
    strings: &["string_literal"],
    blocks: &[
        "program",
        "block",
        "class_body",
        "interface_body",
        "enum_body",
        "enum_body_declarations",
        "annotation_type_body",
        "constructor_body",
        "switch_block",
        "switch_block_statement_group",
    ],
    ..BRACES
};
