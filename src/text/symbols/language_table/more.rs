//! The rows of languages that are compiled in on request: their grammars are as large as all others together.

use super::{BRACES, ImportForm, Language, Sharing};
use crate::symbols::spelled_text::Escape;

pub(super) const RUBY: Language = Language {
    name: "ruby",
    extensions: &["rb", "rake", "gemspec", "ru"],
    file_names: &["Rakefile", "Gemfile", "Guardfile", "Podfile"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    query: include_str!("../../../../queries/ruby/symbols.scm"),
    imports: include_str!("../../../../queries/ruby/imports.scm"),
    import_words: &["require", "require_relative", "load", "autoload"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Everywhere,
    kin: "ruby",
    escapes: &[Escape::Unicode, Escape::Braces, Escape::Hex, Escape::Octal],
    line_comments: &["#"],
    block_comments: &[("=begin", "=end")],
    exact_strings: &["string", "heredoc_body"],
    openers: &['{', '|'],
    closers: &["end", "}", ")", "]"],
    cheats: &[
        ("dead_code", r"\bif\s+false\b"),
        ("test_skipped", r"(?m)^\s*(?:skip|pending|xit|xdescribe|xcontext)\b"),
        ("error_swallowed", r"\brescue\s+nil\b|\brescue\b[^\n]*\n\s*(?:nil\s*\n\s*)?end\b"),
    ],
    blocks: &["program", "body_statement", "block_body", "then", "else", "ensure", "do", "begin"],
    // The grammar calls a key like `defined?:` broken.
    reports_syntax: false,
    ..BRACES
};

pub(super) const PHP: Language = Language {
    name: "php",
    extensions: &["php", "phtml"],
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    query: include_str!("../../../../queries/php/symbols.scm"),
    imports: include_str!("../../../../queries/php/imports.scm"),
    modifiers: include_str!("../../../../queries/php/modifiers.scm"),
    import_words: &["use", "require", "require_once", "include", "include_once"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Everywhere,
    kin: "php",
    escapes: &[Escape::Braces, Escape::Hex, Escape::Octal],
    exact_strings: &["string", "encapsed_string", "heredoc", "nowdoc"],
    cheats: &[
        ("dead_code", r"\bif\s*\(\s*false\s*\)"),
        ("test_skipped", r"\bmarkTest(?:Skipped|Incomplete)\b"),
        ("error_swallowed", r"\bcatch\s*\([^)]*\)\s*\{\s*\}|(?m:^|[=(,]\s*)@\w+\s*\("),
    ],
    blocks: &[
        "program",
        "compound_statement",
        "declaration_list",
        "enum_declaration_list",
        "colon_block",
        "switch_block",
        "case_statement",
        "default_statement",
    ],
    ..BRACES
};

pub(super) const CSHARP: Language = Language {
    name: "csharp",
    extensions: &["cs", "csx"],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    query: include_str!("../../../../queries/csharp/symbols.scm"),
    imports: include_str!("../../../../queries/csharp/imports.scm"),
    modifiers: include_str!("../../../../queries/csharp/modifiers.scm"),
    unchecked: include_str!("../../../../queries/csharp/unchecked.scm"),
    import_words: &["using"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Everywhere,
    kin: "csharp",
    escapes: &[Escape::Unicode, Escape::LongUnicode],
    exact_strings: &["verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"],
    directive: Some('#'),
    cheats: &[
        ("dead_code", r"\bif\s*\(\s*false\s*\)|(?m)^\s*#\s*if\s+false\b"),
        ("test_skipped", r"\bSkip\s*=|\[\s*Ignore\b"),
        ("error_swallowed", r"\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}"),
        ("type_asserted", r"\w!\s*[.;,)]|\bdynamic\b"),
    ],
    blocks: &[
        "compilation_unit",
        "declaration_list",
        "enum_member_declaration_list",
        "block",
        "switch_section",
        "preproc_if",
        "preproc_else",
        "preproc_elif",
    ],
    // Code around `#if` does not parse.
    reports_syntax: false,
    ..BRACES
};

pub(super) const KOTLIN: Language = Language {
    name: "kotlin",
    extensions: &["kt", "kts"],
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    query: include_str!("../../../../queries/kotlin/symbols.scm"),
    imports: include_str!("../../../../queries/kotlin/imports.scm"),
    modifiers: include_str!("../../../../queries/kotlin/modifiers.scm"),
    import_words: &["import"],
    import_form: ImportForm::Whole,
    sharing: Sharing::Folder,
    kin: "java",
    folder_files: &["*"],
    escapes: &[Escape::Unicode],
    exact_strings: &["multiline_string_literal"],
    cheats: &[
        ("dead_code", r"\bif\s*\(\s*false\s*\)"),
        ("test_skipped", r"@(?:Ignore|Disabled)\b"),
        ("error_swallowed", r"\bcatch\s*\([^)]*\)\s*\{\s*\}|\brunCatching\b"),
        ("type_asserted", r"!!"),
    ],
    blocks: &["source_file", "block", "class_body", "enum_class_body", "lambda_literal"],
    // The grammar calls legal code broken: a member with an empty body before the `}` on its line.
    reports_syntax: false,
    ..BRACES
};

pub(super) const ZIG: Language = Language {
    name: "zig",
    extensions: &["zig", "zon"],
    grammar: || tree_sitter_zig::LANGUAGE.into(),
    query: include_str!("../../../../queries/zig/symbols.scm"),
    imports: include_str!("../../../../queries/zig/imports.scm"),
    modifiers: include_str!("../../../../queries/zig/modifiers.scm"),
    import_words: &["import"],
    import_form: ImportForm::Whole,
    kin: "zig",
    block_comments: &[],
    escapes: &[Escape::Hex, Escape::Braces],
    exact_strings: &["string", "multiline_string"],
    cheats: &[
        ("dead_code", r"\bif\s*\(\s*false\s*\)"),
        ("test_skipped", r"\berror\.SkipZigTest\b"),
        ("error_swallowed", r"\bcatch\s*(?:unreachable|\{\s*\})|\b_\s*=\s*\w+\s*catch\b"),
    ],
    blocks: &[
        "source_file",
        "block",
        "struct_declaration",
        "enum_declaration",
        "union_declaration",
        "switch_expression",
    ],
    // The grammar misses a field in an empty container.
    reports_syntax: false,
    ..BRACES
};
