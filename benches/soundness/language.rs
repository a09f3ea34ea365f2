//! Lists the languages of the servers, and lays down the project around the file that is edited.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::templates::Template;
use crate::{code_templates as code, data_templates as data};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    Python,
    TypeScript,
    JavaScript,
    Cpp,
    Go,
    Lua,
    Shell,
    Json,
    Yaml,
}

impl Language {
    pub fn template(self) -> &'static Template {
        match self {
            Self::Python => &code::PYTHON,
            Self::TypeScript => &code::TYPESCRIPT,
            Self::JavaScript => &code::JAVASCRIPT,
            Self::Cpp => &code::CPP,
            Self::Go => &code::GO,
            Self::Lua => &code::LUA,
            Self::Shell => &code::SHELL,
            Self::Json => &data::JSON,
            Self::Yaml => &data::YAML,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::TypeScript => "ts",
            Self::JavaScript => "js",
            Self::Cpp => "cpp",
            Self::Go => "go",
            Self::Lua => "lua",
            Self::Shell => "sh",
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }

    /// The file that is edited.
    pub fn file(self) -> String {
        format!("subject.{}", self.extension())
    }

    /// Another file with such a text. The files of a folder are one package in Go, which has each name once.
    pub fn other_file(self, stem: &str) -> String {
        if self == Self::Go { format!("{stem}/{}", self.file()) } else { format!("{stem}.{}", self.extension()) }
    }

    /// LSP's language id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::JavaScript => "javascript",
            Self::Cpp => "cpp",
            Self::Go => "go",
            Self::Lua => "lua",
            Self::Shell => "shellscript",
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }

    /// Neovim's file type.
    pub fn filetype(self) -> &'static str {
        if self == Self::Shell { "sh" } else { self.id() }
    }

    /// Writes everything of the project but the file that is edited.
    pub fn prepare(self, root: &Path) -> std::io::Result<()> {
        write(root.join(".root"), "")?;
        self.template().beside.iter().try_for_each(|(path, text)| write(root.join(path), text))
    }
}

/// Writes a file and makes its folder.
pub fn write(path: PathBuf, text: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, text)
}
