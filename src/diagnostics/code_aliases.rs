//! The subject of a diagnostic across checkers: the same complaint under another code and in other words.

use std::collections::{BTreeSet, HashMap};

use crate::delta::same_message::{self, likeness, template};
use crate::delta::syntax_errors::is_syntax;
use crate::model::Diagnostic;
use crate::server_facts::{Fact, knows, same_engine};

const UNDEFINED_NAME: &str = "undefined name";

/// One complaint and the codes of the checkers that have it: ruff and flake8, the pyright family, mypy, ty, pyrefly,
/// pylint, TypeScript, rustc; for undefined names also rust-analyzer, gopls, clangd and lua-language-server.
const THEMES: &[(&str, &[&str])] = &[
    (
        UNDEFINED_NAME,
        &[
            "F821",
            "reportUndefinedVariable",
            "name-defined",
            "unresolved-reference",
            "unknown-name",
            "undefined-variable",
            "E0602",
            "2304",
            "2552",
            "E0425",
            "unresolved-ident",
            "UndeclaredName",
            "undeclared_var_use",
            "undefined-global",
        ],
    ),
    ("unused import", &["F401", "reportUnusedImport", "unused-import", "W0611", "unused_imports"]),
    ("unused variable", &["F841", "reportUnusedVariable", "unused-variable", "W0612", "unused_variables"]),
    (
        "import not found",
        &[
            "reportMissingImports",
            "import-not-found",
            "unresolved-import",
            "missing-import",
            "import-error",
            "E0401",
            "2307",
            "E0432",
        ],
    ),
    ("argument type", &["reportArgumentType", "arg-type", "invalid-argument-type", "bad-argument-type", "2345"]),
    ("return type", &["reportReturnType", "return-value", "invalid-return-type", "bad-return"]),
    ("assignment type", &["reportAssignmentType", "assignment", "invalid-assignment", "bad-assignment", "2322"]),
    (
        "unknown attribute",
        &[
            "reportAttributeAccessIssue",
            "attr-defined",
            "unresolved-attribute",
            "missing-attribute",
            "no-member",
            "E1101",
            "2339",
            "E0599",
        ],
    ),
    ("access through None", &["reportOptionalMemberAccess", "union-attr", "possibly-missing-attribute"]),
    (
        "call arguments",
        &[
            "reportCallIssue",
            "call-arg",
            "missing-argument",
            "too-many-positional-arguments",
            "bad-argument-count",
            "E1120",
            "2554",
            "E0061",
        ],
    ),
    ("redefinition", &["F811", "reportRedeclaration", "no-redef", "function-redefined", "E0102"]),
    (
        "possibly unbound",
        &[
            "reportPossiblyUnbound",
            "reportPossiblyUnboundVariable",
            "possibly-undefined",
            "possibly-unresolved-reference",
            "unbound-name",
        ],
    ),
];

/// The share of words that two masked messages must have in common if the codes decide nothing.
const ALIKE: f32 = 0.6;

/// The known complaint of a diagnostic; `None` if its code is in no row.
pub fn theme(diagnostic: &Diagnostic) -> Option<&'static str> {
    if is_syntax(diagnostic) {
        return Some("syntax");
    }
    let code = diagnostic.code.as_deref()?;
    THEMES.iter().find(|(_, codes)| codes.contains(&code)).map(|(theme, _)| *theme)
}

/// True if a diagnostic is about a name that nothing declares.
pub(crate) fn is_undefined_name(diagnostic: &Diagnostic) -> bool {
    theme(diagnostic) == Some(UNDEFINED_NAME)
}

/// The theme, or else the code, or else the masked message: the key of diagnostic groups.
pub fn label(diagnostic: &Diagnostic) -> String {
    match (theme(diagnostic), &diagnostic.code) {
        (Some(theme), _) => theme.to_owned(),
        (None, Some(code)) => code.clone(),
        (None, None) => template(diagnostic.message.lines().next().unwrap_or_default().trim()),
    }
}

/// True if two diagnostics complain of the same thing, at any place.
pub fn same_complaint(a: &Diagnostic, b: &Diagnostic) -> bool {
    match (theme(a), theme(b)) {
        (Some(a), Some(b)) => a == b,
        _ if a.code.is_some() && a.code == b.code => true,
        _ => likeness(&template(&a.message), &template(&b.message)) >= ALIKE,
    }
}

/// The complaint of one diagnostic, read once, so that it can be compared with many others.
#[derive(Clone, Debug)]
pub struct Gist<'a> {
    theme: Option<&'static str>,
    code: Option<&'a str>,
    /// The words of the masked message as numbers, sorted.
    words: Vec<u32>,
}

/// Reads gists; those of one reader can be compared.
#[derive(Debug, Default)]
pub struct Gists {
    words: HashMap<String, u32>,
}

impl Gists {
    pub fn read<'a>(&mut self, diagnostic: &'a Diagnostic) -> Gist<'a> {
        let mut id = |word: String| {
            let next = self.words.len() as u32;
            *self.words.entry(word).or_insert(next)
        };
        let mut words: Vec<u32> = same_message::bag(&template(&diagnostic.message)).into_iter().map(&mut id).collect();
        words.sort_unstable();
        Gist { theme: theme(diagnostic), code: diagnostic.code.as_deref(), words }
    }
}

impl Gist<'_> {
    /// As [`theme`].
    pub fn is_syntax(&self) -> bool {
        self.theme == Some("syntax")
    }

    /// As [`same_complaint`].
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.theme, other.theme) {
            (Some(a), Some(b)) => a == b,
            _ if self.code.is_some() && self.code == other.code => true,
            _ => same_message::share(&self.words, &other.words) >= ALIKE,
        }
    }
}

/// The names that a message quotes.
pub fn quoted(message: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for mark in ['"', '`', '\''] {
        names.extend(message.split(mark).skip(1).step_by(2).filter(|name| !name.is_empty() && !name.contains(' ')));
    }
    names
}

/// The tool behind a source, without the channel that reaches it.
pub fn tool(source: &str) -> &str {
    source.split_once(':').map_or(source, |(_, name)| name)
}

/// True if a source judges a file by that file alone. An unknown tool may look at others.
pub fn looks_at_one_file(source: &str) -> bool {
    knows(tool(source), Fact::OneFile)
}

/// True if a source reads a whole package in one run, whichever files it is asked about.
pub fn reads_whole_package(source: &str) -> bool {
    knows(tool(source), Fact::WholePackage)
}

/// True if two sources judge independently.
pub fn independent(a: &str, b: &str) -> bool {
    !same_engine(tool(a), tool(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Confidence, Location, Severity};

    fn diag(code: &str, message: &str) -> Diagnostic {
        Diagnostic {
            source: "lsp:x".into(),
            severity: Severity::Warning,
            code: (!code.is_empty()).then(|| code.into()),
            message: message.into(),
            location: Location::Project,
            confidence: Confidence::Medium,
            suggested_action: None,
            evidence: None,
        }
    }

    #[test]
    fn complaints_are_known_across_checkers() {
        for (a, b, same) in [
            (diag("F821", "Undefined name `x`"), diag("reportUndefinedVariable", "\"x\" is not defined"), true),
            (diag("F401", "`os` imported but unused"), diag("F841", "`os` imported but unused"), false),
            (diag("", "Line too long (90 > 88)"), diag("E501", "Line too long (120 > 100)"), true),
            (diag("", "Line too long (90 > 88)"), diag("", "Missing docstring"), false),
            (diag("X1", "one thing"), diag("X1", "quite another"), true),
        ] {
            assert_eq!(same_complaint(&a, &b), same, "{a:?} {b:?}");
            assert_eq!(same_complaint(&b, &a), same, "both ways");
        }
        let syntax = Diagnostic { severity: Severity::Error, ..diag("invalid-syntax", "Expected `:`") };
        assert_eq!((theme(&syntax), label(&diag("", "\"a\" is 3 long"))), (Some("syntax"), "\" is # long".to_owned()));
    }

    #[test]
    fn no_code_is_in_two_rows() {
        let mut codes: Vec<&str> = THEMES.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }

    #[test]
    fn one_engine_is_one_opinion() {
        for (a, b, independently) in [
            ("lsp:basedpyright", "lsp:ruff", true),
            ("lsp:basedpyright", "tool:pyright", false),
            ("lsp:Ruff", "tool:ruff", false),
            ("lsp:rust-analyzer", "tool:cargo", false),
            ("lsp:rust_analyzer", "lsp:rust_analyzer/check", false),
            ("lsp:basedpyright", "tool:mypy", true),
            ("analyzer:syntax", "lsp:ruff", true),
        ] {
            assert_eq!(independent(a, b), independently, "{a} {b}");
        }
    }

    #[test]
    fn quoted_names_are_found() {
        assert_eq!(quoted("\"a\" is not `b`"), BTreeSet::from(["a", "b"]));
        assert_eq!(quoted("no names"), BTreeSet::new());
    }
}
