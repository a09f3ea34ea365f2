//! The table of languages: a row each.

use super::language::{ImportForm, Language, Sharing};

mod data;
#[cfg(feature = "lang-more")]
mod more;
mod script;
mod system;
mod web;

/// The rest of a row: a language with braces.
pub(super) const BRACES: Language = Language {
    name: "",
    extensions: &[],
    file_names: &[],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    query: "",
    imports: "",
    interface: "",
    hidden: "",
    modifiers: "",
    unchecked: "",
    import_words: &[],
    import_form: ImportForm::Line,
    sharing: Sharing::Nowhere,
    module_words: &[],
    global_marks: &[],
    implied_names: &[],
    library_types: "",
    implied_imports: &[],
    package_folder: None,
    package_file: None,
    forced_imports: &[],
    macro_modules: false,
    textual_imports: false,
    paste_mark: None,
    kin: "",
    embedded_in: &[],
    folder_files: &[],
    global_files: &[],
    stub_extension: None,
    list_name: None,
    structural_kinds: &[],
    asked_types: None,
    typed_comments: false,
    structural_members: &[],
    structural_word: None,
    escapes: &[],
    normal_form: None,
    line_ends: &[],
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    members_stand_alone: false,
    strings: &[],
    exact_strings: &[],
    directive: None,
    openers: &[':', '{'],
    closers: &["}", ")", "]"],
    blank_lines: 1,
    trailing_separator: true,
    filler: None,
    cheats: &[],
    blocks: &[],
    is_document: false,
    is_shell: false,
    reports_syntax: true,
};

pub static LANGUAGES: &[Language] = &[
    script::PYTHON,
    #[cfg(feature = "lang-system")]
    system::RUST,
    #[cfg(feature = "lang-system")]
    system::GO,
    #[cfg(feature = "lang-system")]
    system::C,
    #[cfg(feature = "lang-system")]
    system::CPP,
    #[cfg(feature = "lang-web")]
    web::TYPESCRIPT,
    #[cfg(feature = "lang-web")]
    web::TSX,
    #[cfg(feature = "lang-web")]
    web::JAVASCRIPT,
    #[cfg(feature = "lang-web")]
    web::JSX,
    #[cfg(feature = "lang-jvm")]
    system::JAVA,
    #[cfg(feature = "lang-script")]
    script::LUA,
    #[cfg(feature = "lang-script")]
    script::BASH,
    #[cfg(feature = "lang-data")]
    data::JSON,
    #[cfg(feature = "lang-data")]
    data::JSONC,
    #[cfg(feature = "lang-data")]
    data::YAML,
    #[cfg(feature = "lang-data")]
    data::TOML,
    #[cfg(feature = "lang-data")]
    data::MARKDOWN,
    #[cfg(feature = "lang-more")]
    more::RUBY,
    #[cfg(feature = "lang-more")]
    more::PHP,
    #[cfg(feature = "lang-more")]
    more::CSHARP,
    #[cfg(feature = "lang-more")]
    more::KOTLIN,
    #[cfg(feature = "lang-more")]
    more::ZIG,
];
