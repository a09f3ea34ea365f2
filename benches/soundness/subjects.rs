//! Lists the servers under test: the command of each, and the mistakes that it is expected to find.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::language::Language;

/// A server with the mistakes that it finds.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The client's name in Neovim, as the usual configurations call it.
    pub name: &'static str,
    pub program: &'static str,
    arguments: &'static [&'static str],
    pub language: Language,
    /// Finds undefined names.
    pub names: bool,
    /// Finds type errors, or what stands for them in the language's template.
    pub types: bool,
    /// Answers pulls alone: to no client does it publish.
    pub pulls: bool,
    /// Nothing proves which text a publish of its is of: its answers are right or wrong, and none claims to be fresh.
    pub unproven: bool,
    /// Of several documents that change within a moment it looks at the last alone.
    pub alone: bool,
    /// Publishes nothing where its list stays equal.
    pub silent: bool,
    /// No package has it: it runs only where `SERVERS` names it.
    pub by_name: bool,
    /// What the usual configurations send, for a project in this folder.
    pub settings: fn(&Path) -> Value,
}

const fn server(
    language: Language,
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
) -> Subject {
    Subject {
        name,
        program,
        arguments,
        language,
        names: true,
        types: true,
        pulls: false,
        unproven: false,
        alone: false,
        silent: false,
        by_name: false,
        settings: no_settings,
    }
}

pub const SUBJECTS: &[Subject] = &[
    server(Language::Python, "basedpyright", "basedpyright-langserver", &["--stdio"]),
    Subject { types: false, ..server(Language::Python, "ruff", "ruff", &["server"]) },
    server(Language::Python, "pyright", "pyright-langserver", &["--stdio"]),
    server(Language::Python, "ty", "ty", &["server"]),
    server(Language::Python, "pyrefly", "pyrefly", &["lsp"]),
    server(Language::Cpp, "clangd", "clangd", &["--log=error"]),
    server(Language::TypeScript, "ts_ls", "typescript-language-server", &["--stdio"]),
    Subject { types: false, ..server(Language::Python, "pylsp", "pylsp", &[]) },
    Subject {
        names: false,
        types: false,
        ..server(Language::Python, "jedi_language_server", "jedi-language-server", &[])
    },
    server(Language::TypeScript, "vtsls", "vtsls", &["--stdio"]),
    Subject { unproven: true, ..server(Language::JavaScript, "biome", "biome", &["lsp-proxy"]) },
    Subject {
        pulls: true,
        settings: eslint_settings,
        ..server(Language::JavaScript, "eslint", "vscode-eslint-language-server", &["--stdio"])
    },
    server(Language::Json, "jsonls", "vscode-json-language-server", &["--stdio"]),
    Subject {
        unproven: true,
        settings: yaml_settings,
        ..server(Language::Yaml, "yamlls", "yaml-language-server", &["--stdio"])
    },
    Subject { alone: true, ..server(Language::Shell, "bashls", "bash-language-server", &["start"]) },
    server(Language::Lua, "emmylua_ls", "emmylua_ls", &[]),
    Subject { by_name: true, ..server(Language::Lua, "lua_ls", "lua-language-server", &["--preview"]) },
    // The gopls of 2022, which a package has, knows no command to diagnose files. The answers of a later one are fresh.
    Subject { unproven: true, silent: true, ..server(Language::Go, "gopls", "gopls", &["serve"]) },
];

fn no_settings(_: &Path) -> Value {
    Value::Null
}

/// It validates nothing without these, and finds the library neither in the project nor beside itself.
fn eslint_settings(root: &Path) -> Value {
    let library = find("eslint").ok().and_then(|file| Some(file.canonicalize().ok()?.ancestors().nth(3)?.to_owned()));
    json!({
        "validate": "on",
        "run": "onType",
        "useESLintClass": false,
        "experimental": {},
        "codeActionOnSave": {"enable": false, "mode": "all"},
        "format": false,
        "quiet": false,
        "onIgnoredFiles": "off",
        "rulesCustomizations": [],
        "problems": {"shortenToSingleLine": false},
        "nodePath": library,
        "workingDirectory": {"mode": "auto"},
        "workspaceFolder": {"uri": format!("file://{}", root.display()), "name": "project"},
    })
}

/// The catalogue of schemas would come from the network.
fn yaml_settings(_: &Path) -> Value {
    json!({"yaml": {"schemaStore": {"enable": false}}})
}

/// The folders of programs: `SEXTANT_TOOLS` (several folders, separated as in PATH), then PATH.
fn folders() -> Vec<PathBuf> {
    let own = std::env::var_os("SEXTANT_TOOLS").unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&own).chain(std::env::split_paths(&path)).collect()
}

pub fn find(program: &str) -> Result<PathBuf, String> {
    let found = folders().into_iter().map(|folder| folder.join(program)).find(|file| file.is_file());
    found.ok_or_else(|| format!("{program} is needed: `make soundness` fetches it, or set SEXTANT_TOOLS to its folder"))
}

impl Subject {
    pub fn command(&self) -> Result<Vec<String>, String> {
        let program = find(self.program)?.display().to_string();
        Ok(std::iter::once(program).chain(self.arguments.iter().map(|part| (*part).to_owned())).collect())
    }
}
