//! The kinds of diagnostics that a request may name in words: `unused imports`, `syntax errors`, `lint`.

use crate::step::DiagnosticLine;

/// A diagnostic, as far as a request can name it.
#[derive(Clone, Copy, Debug)]
pub struct Reported<'a> {
    /// `error`, `warning`, `info`, `hint`.
    pub severity: &'a str,
    pub code: &'a str,
    /// The codes of other sources for the same complaint.
    pub also: &'a [String],
    /// The complaint across checkers (`unused import`); empty if unknown.
    pub theme: &'a str,
    /// `lsp:basedpyright and ruff`.
    pub source: &'a str,
    pub message: &'a str,
    /// Full symbol path.
    pub symbol: &'a str,
}

impl<'a> From<&'a DiagnosticLine> for Reported<'a> {
    fn from(line: &'a DiagnosticLine) -> Self {
        let DiagnosticLine { severity, symbol, code, also, message, source, theme, .. } = line;
        Self { severity, code, also, theme, source, message, symbol }
    }
}

/// A kind of diagnostic, across checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    UnusedImport,
    UnusedVariable,
    Unused,
    UndefinedName,
    /// A name that an import would bring.
    MissingImport,
    UnresolvedImport,
    /// Any complaint about an import.
    Import,
    Syntax,
    /// The reports of type checkers.
    Type,
    /// The reports of linters.
    Lint,
}

/// Programs that check style and not types, and the other way round, by their own names.
const LINTERS: &str = "ruff flake8 pylint pycodestyle pyflakes eslint biome clippy";
const TYPE_CHECKERS: &str = "basedpyright pyright mypy ty pyrefly tsserver typescript-language-server rust-analyzer";

/// Providers that a request may name.
pub(super) const PROVIDERS: &str = "ruff flake8 pylint pycodestyle pyflakes eslint biome clippy basedpyright pyright mypy ty \
    pyrefly tsserver typescript-language-server rust-analyzer clangd gopls jedi";

impl Kind {
    /// In a sentence: `No unused import is reported`.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnusedImport => "unused import",
            Self::UnusedVariable => "unused variable",
            Self::Unused => "unused name",
            Self::UndefinedName => "undefined name",
            Self::MissingImport => "missing import",
            Self::UnresolvedImport => "unresolved import",
            Self::Import => "problem with an import",
            Self::Syntax => "syntax error",
            Self::Type => "type error",
            Self::Lint => "lint message",
        }
    }

    /// True if a word for a severity beside the kind is part of its name: people call all of these errors.
    pub(super) fn is_named_error(self) -> bool {
        self != Self::Type
    }

    /// True if a diagnostic is of this kind: by the theme of its code, or else by its words.
    pub fn holds(self, one: &Reported<'_>) -> bool {
        let message = one.message.to_lowercase();
        let unused = ["unused", "never used", "not used", "not accessed", "never read"];
        let unused = || one.theme.starts_with("unused") || unused.iter().any(|word| message.contains(word));
        let import = || one.theme.contains("import") || message.contains("import") || one.code.starts_with("I00");
        match self {
            Self::UnusedImport => one.theme == "unused import" || (one.theme.is_empty() && unused() && import()),
            Self::UnusedVariable => one.theme == "unused variable" || (one.theme.is_empty() && unused() && !import()),
            Self::Unused => unused(),
            Self::UndefinedName | Self::MissingImport => {
                let words = ["undefined", "not defined", "cannot find name", "unresolved reference"];
                let worded = one.theme.is_empty() && words.iter().any(|word| message.contains(word));
                one.theme == "undefined name" || worded || (self == Self::MissingImport && unresolved(one, &message))
            }
            Self::UnresolvedImport => unresolved(one, &message),
            Self::Import => import(),
            Self::Syntax => one.theme == "syntax" || one.code == "invalid-syntax" || one.code == "E999",
            Self::Type => one.theme != "syntax" && !only_of(one.source, LINTERS),
            Self::Lint => one.theme != "syntax" && !only_of(one.source, TYPE_CHECKERS),
        }
    }
}

fn unresolved(one: &Reported<'_>, message: &str) -> bool {
    let could_not = message.contains("resolve") || message.contains("not found") || message.contains("find module");
    one.theme == "import not found" || (one.theme.is_empty() && message.contains("import") && could_not)
}

/// The programs behind a source: `lsp:basedpyright and ruff` has two.
fn programs(source: &str) -> Vec<String> {
    let names = source.split_once(':').map_or(source, |(_, names)| names).to_lowercase();
    names.replace(", ", " and ").split(" and ").map(|name| name.trim().to_owned()).collect()
}

/// True if all of its programs are in a list.
fn only_of(source: &str, list: &str) -> bool {
    programs(source).iter().all(|name| list.split_whitespace().any(|known| known == name))
}

/// True if a provider of this name reports it: `pyright` means `basedpyright` too.
pub(super) fn says_so(source: &str, provider: &str) -> bool {
    let family = |name: &str| name == provider || (provider == "pyright" && name == "basedpyright");
    programs(source).iter().any(|name| family(name))
}
