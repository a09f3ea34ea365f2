//! Lists the servers under test: the command of each, and the mistakes that it is expected to find.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    Python,
    TypeScript,
    Cpp,
}

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
    /// Finds type errors.
    pub types: bool,
}

const fn python(name: &'static str, program: &'static str, arguments: &'static [&'static str]) -> Subject {
    Subject { name, program, arguments, language: Language::Python, names: true, types: false }
}

pub const SUBJECTS: &[Subject] = &[
    Subject { types: true, ..python("basedpyright", "basedpyright-langserver", &["--stdio"]) },
    python("ruff", "ruff", &["server"]),
    Subject { types: true, ..python("pyright", "pyright-langserver", &["--stdio"]) },
    Subject { types: true, ..python("ty", "ty", &["server"]) },
    Subject { types: true, ..python("pyrefly", "pyrefly", &["lsp"]) },
    Subject { types: true, language: Language::Cpp, ..python("clangd", "clangd", &["--log=error"]) },
    Subject {
        types: true,
        language: Language::TypeScript,
        ..python("ts_ls", "typescript-language-server", &["--stdio"])
    },
    python("pylsp", "pylsp", &[]),
    Subject { names: false, ..python("jedi_language_server", "jedi-language-server", &[]) },
];

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

impl Language {
    /// The file that is edited.
    pub fn file(self) -> &'static str {
        match self {
            Self::Python => "subject.py",
            Self::TypeScript => "subject.ts",
            Self::Cpp => "subject.cpp",
        }
    }

    pub fn extension(self) -> &'static str {
        self.file().rsplit('.').next().unwrap_or_default()
    }

    /// Neovim's file type and LSP's language id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::Cpp => "cpp",
        }
    }

    /// Writes everything of the project but the file that is edited.
    pub fn prepare(self, root: &Path) -> std::io::Result<()> {
        std::fs::write(root.join(".root"), "")?;
        match self {
            Self::Python => {
                std::fs::write(root.join("pyproject.toml"), "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n")
            }
            Self::TypeScript => {
                let options = r#"{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022", "module": "commonjs"}}"#;
                std::fs::write(root.join("tsconfig.json"), options)?;
                std::fs::write(root.join("bag.ts"), "export class Bag {\n  size = 0;\n}\n")
            }
            Self::Cpp => std::fs::write(root.join("bag.h"), "#pragma once\nstruct Bag {\n  int size = 0;\n};\n"),
        }
    }
}
