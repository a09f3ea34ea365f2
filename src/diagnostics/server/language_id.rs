//! The language of a file, as a language server is given it.

use sextant_text::symbols::language;

/// LSP's `languageId`: the table of symbols first, then languages that only a server knows.
pub fn language_id(path: &str) -> &'static str {
    if let Some(language) = language::of_path(path) {
        return language.name;
    }
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "rs" => "rust",
        "go" => "go",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "javascriptreact",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "typescriptreact",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" => "cpp",
        "java" => "java",
        "lua" => "lua",
        "rb" => "ruby",
        "kt" | "kts" => "kotlin",
        "php" => "php",
        "cs" => "csharp",
        "zig" => "zig",
        "sh" => "shellscript",
        "toml" => "toml",
        "json" => "json",
        "yaml" | "yml" => "yaml",
        "md" => "markdown",
        _ => "plaintext",
    }
}
