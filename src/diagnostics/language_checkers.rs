//! The programs that can check each language: servers that start by themselves or by the user's word, and commands.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::command::command_config;
use crate::server::detect_servers;
use crate::server::language_id::language_id;

/// A server that is started only where the user names it, since it runs code of the project.
#[derive(Clone, Copy, Debug)]
pub struct NamedServer {
    pub program: &'static str,
    /// The shell command that installs it; empty if there is no single one.
    pub install: &'static str,
    /// The argument with which it prints its version, as a shim without its program cannot; `None` if it has none.
    pub version: Option<&'static str>,
}

/// The programs for a language, or for several that share them.
#[derive(Clone, Copy, Debug)]
pub struct LanguageCheckers {
    pub title: &'static str,
    /// LSP language ids.
    pub languages: &'static [&'static str],
    pub named: &'static [NamedServer],
    /// A program without which the servers report nothing.
    pub needs: Option<&'static str>,
    /// The files by which the servers know how a text is compiled, one of which is enough.
    pub build_files: &'static [&'static str],
}

const fn row(title: &'static str, languages: &'static [&'static str]) -> LanguageCheckers {
    LanguageCheckers { title, languages, named: &[], needs: None, build_files: &[] }
}

const RUST_ANALYZER: NamedServer =
    NamedServer { program: "rust-analyzer", install: "rustup component add rust-analyzer", version: Some("--version") };
const GOPLS: NamedServer =
    NamedServer { program: "gopls", install: "go install golang.org/x/tools/gopls@latest", version: Some("version") };
const JDTLS: NamedServer = NamedServer { program: "jdtls", install: "", version: None };

/// Every language that has a checker.
pub const CHECKERS: &[LanguageCheckers] = &[
    row("Python", &["python"]),
    row("TypeScript and JavaScript", &["typescript", "typescriptreact", "javascript", "javascriptreact"]),
    LanguageCheckers {
        build_files: &["compile_commands.json", "build/compile_commands.json", "compile_flags.txt", ".clangd"],
        ..row("C and C++", &["c", "cpp"])
    },
    LanguageCheckers { needs: Some("shellcheck"), ..row("shell", &["shellscript"]) },
    row("Lua", &["lua"]),
    LanguageCheckers { named: &[RUST_ANALYZER], ..row("Rust", &["rust"]) },
    LanguageCheckers { named: &[GOPLS], ..row("Go", &["go"]) },
    LanguageCheckers { named: &[JDTLS], ..row("Java", &["java"]) },
];

/// The checkers of a file; `None` for a text that nothing checks anyway.
pub fn of_path(path: &str) -> Option<&'static LanguageCheckers> {
    let language = language_id(path);
    CHECKERS.iter().find(|row| row.languages.contains(&language))
}

/// True if both files are code, of languages that share no program by themselves.
pub fn are_apart(one: &str, other: &str) -> bool {
    match (of_path(one), of_path(other)) {
        (Some(one), Some(other)) => one.title != other.title,
        _ => false,
    }
}

impl LanguageCheckers {
    /// The servers that start without being named.
    pub fn servers(&self) -> Vec<&'static str> {
        let of_language = |language: &&str| detect_servers::known_for(language);
        self.languages.first().iter().flat_map(|language| of_language(language)).collect()
    }

    /// The built-in command that checks it.
    pub fn command(&self) -> Option<String> {
        let is_of = |languages: &[String]| languages.iter().any(|name| self.languages.contains(&name.as_str()));
        command_config::builtin().ok()?.into_iter().find(|config| is_of(&config.languages)).map(|config| config.name)
    }
}

/// The table for an editor, whose own clients stand for the servers.
pub fn handshake() -> Value {
    let row = |row: &LanguageCheckers| {
        json!({
            "title": row.title,
            "languages": row.languages,
            "install": row.named.iter().map(|server| server.install).filter(|words| !words.is_empty()).collect::<Vec<_>>(),
            "versions": row.named.iter().filter_map(|server| Some((server.program, server.version?))).collect::<BTreeMap<_, _>>(),
            "command": row.command(),
            "build_files": row.build_files,
        })
    };
    CHECKERS.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_way_to_be_checked_and_one_row() {
        for row in CHECKERS {
            assert!(!row.servers().is_empty() || !row.named.is_empty(), "{}", row.title);
            let rows = CHECKERS.iter().filter(|other| other.languages.iter().any(|name| row.languages.contains(name)));
            assert_eq!(rows.count(), 1, "{}", row.title);
        }
        let of = |title: &str| CHECKERS.iter().find(|row| row.title == title).unwrap();
        assert!(are_apart("a.sh", "b.lua") && !are_apart("a.h", "b.cpp") && !are_apart("a.ts", "b.jsx"));
        assert!(!are_apart("a.py", "pyproject.toml") && !are_apart("a.ts", "package.json"), "settings reach code");
        assert!(of_path("src/a.rs").is_some() && of_path("README.md").is_none());
        assert_eq!(of("Rust").command().as_deref(), Some("cargo"));
        assert_eq!(of("Lua").servers(), ["lua_ls", "emmylua_ls"]);
        assert!(of("Rust").servers().is_empty(), "it runs build scripts");
    }
}
