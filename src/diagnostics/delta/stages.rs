//! The stages of a compiler that stops at the first one that fails: what an error of one stage hides of a later one.
//!
//! rustc parses, resolves names, checks types, checks borrows, and lints only what has passed. `go build` and `go vet`,
//! javac, tsc and mypy do the same with fewer stages. The codes of rustc are those of its error index.

use crate::cargo_units::crate_folder;
use crate::delta::syntax_errors::{is_import, is_syntax};
use crate::model::{Diagnostic, Severity};
use crate::server_facts::UNENDED_CODES;
use crate::server_facts::is_of_rust;

/// The compilers that share stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Rust,
    Go,
    Java,
    /// mypy and tsc on a command line: with a syntax error in any file, they report nothing else of any file.
    WholeProgram,
}

/// A diagnostic as a compiler's stage sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Staged<'d> {
    pub(super) family: Family,
    /// From 0, in the compiler's order.
    pub(super) stage: u8,
    /// The folder of the crate or the package, without a slash at the end.
    pub(super) package: &'d str,
}

impl<'d> Staged<'d> {
    /// `None` for a source without stages, and for a diagnostic without a file.
    pub(super) fn of(d: &'d Diagnostic) -> Option<Self> {
        let family = family(&d.source)?;
        let stage = if is_syntax(d) { 0 } else { family.stage(d) };
        let package = family.package(d.location.file()?);
        Some(Self { family, stage, package })
    }

    /// As [`Self::of`], for errors alone: a warning stops no compiler.
    pub(super) fn of_error(d: &'d Diagnostic) -> Option<Self> {
        (d.severity == Severity::Error).then(|| Self::of(d))?
    }

    /// True if this error keeps the compiler from what the other diagnostic is about.
    ///
    /// In its own package it hides the later stages. A package that depends on it is not compiled at all; the
    /// dependencies are not known here, so every other package of an unchanged text counts.
    pub(super) fn hides(&self, other: &Self, other_is_unchanged: bool) -> bool {
        match self.family {
            family if family != other.family => false,
            Family::WholeProgram => self.stage < other.stage,
            _ if self.package == other.package => self.stage < other.stage,
            _ => other_is_unchanged,
        }
    }
}

/// The extent of what an error keeps its tool from reporting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenExtent {
    /// The known names of a module that was not found.
    Imported,
    File,
    AllFiles,
}

/// `None` for a diagnostic that hides no other one. An error of a compiler with stages may hide what is in any file.
pub fn hidden_extent(d: &Diagnostic) -> Option<HiddenExtent> {
    let in_file = || is_syntax(d).then_some(HiddenExtent::File);
    let imported = || is_import(d).then_some(HiddenExtent::Imported);
    Staged::of_error(d).map(|_| HiddenExtent::AllFiles).or_else(in_file).or_else(imported)
}

fn family(source: &str) -> Option<Family> {
    let name = source.split_once(':').map_or(source, |(_, name)| name).to_ascii_lowercase();
    match name.as_str() {
        _ if is_of_rust(source) => Some(Family::Rust),
        "go" | "gopls" | "govet" => Some(Family::Go),
        "javac" => Some(Family::Java),
        "mypy" | "tsc" => Some(Family::WholeProgram),
        _ => None,
    }
}

impl Family {
    fn stage(self, d: &Diagnostic) -> u8 {
        let code = d.code.as_deref().unwrap_or_default();
        match self {
            Self::Rust => rust_stage(d, code),
            // Types first; the analyzers of `go vet` run on what has compiled.
            Self::Go => 1 + u8::from(d.severity != Severity::Error),
            Self::Java => java_stage(d),
            Self::WholeProgram => 1,
        }
    }

    pub(super) fn package(self, path: &str) -> &str {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match self {
            Self::Rust => crate_folder(path),
            Self::Go | Self::Java => folder,
            Self::WholeProgram => "",
        }
    }
}

/// rustc's errors of names and imports.
const RUST_NAMES: &[&str] = &[
    "E0106", "E0128", "E0130", "E0252", "E0254", "E0255", "E0259", "E0260", "E0261", "E0262", "E0263", "E0364",
    "E0365", "E0401", "E0403", "E0404", "E0405", "E0407", "E0408", "E0411", "E0412", "E0415", "E0416", "E0422",
    "E0423", "E0424", "E0425", "E0426", "E0428", "E0429", "E0430", "E0431", "E0432", "E0433", "E0434", "E0435",
    "E0437", "E0438", "E0531", "E0532", "E0573", "E0574", "E0575", "E0576", "E0583", "E0603", "E0659", "E0742",
];

/// rustc's errors of the stage behind the types: patterns, moves, borrows and lifetimes.
const RUST_BORROWS: &[&str] = &[
    "E0004", "E0005", "E0133", "E0373", "E0381", "E0382", "E0384", "E0493", "E0499", "E0501", "E0502", "E0503",
    "E0505", "E0506", "E0507", "E0508", "E0509", "E0510", "E0515", "E0521", "E0594", "E0596", "E0597", "E0626",
    "E0700", "E0712", "E0713", "E0716",
];

/// The words of rustc's errors without a code that come with the borrows; the others without one come before all.
pub(super) const RUST_BORROW_WORDS: &[&str] =
    &["lifetime may not live long enough", "captured variable cannot escape", "is not general enough", "higher-ranked"];

fn rust_stage(d: &Diagnostic, code: &str) -> u8 {
    let is_coded = code.len() == 5 && code.starts_with('E') && code[1..].bytes().all(|byte| byte.is_ascii_digit());
    match code {
        // rust-analyzer's own names.
        "syntax-error" | "macro-error" => 0,
        _ if UNENDED_CODES.contains(&code) => 0,
        "unresolved-import" | "unresolved-extern-crate" | "unresolved-ident" => 1,
        _ if RUST_NAMES.contains(&code) => 1,
        _ if RUST_BORROWS.contains(&code) => 3,
        _ if is_coded => 2,
        "" if d.severity == Severity::Error => {
            3 * u8::from(RUST_BORROW_WORDS.iter().any(|words| d.message.contains(words)))
        }
        _ => 4,
    }
}

/// javac attributes a class, then follows its flow, then warns.
fn java_stage(d: &Diagnostic) -> u8 {
    const FLOW: &[&str] = &[
        "might not have been initialized",
        "might already have been assigned",
        "unreported exception",
        "missing return statement",
        "unreachable statement",
        "is never thrown in body",
    ];
    match d.severity {
        Severity::Error => 1 + u8::from(FLOW.iter().any(|words| d.message.contains(words))),
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Confidence, Location};
    use sextant_base::positions::Range;

    fn diagnostic(source: &str, file: &str, severity: Severity, code: &str, message: &str) -> Diagnostic {
        Diagnostic {
            source: source.into(),
            severity,
            code: (!code.is_empty()).then(|| code.into()),
            message: message.into(),
            location: Location::Range { file: file.into(), range: Range::default() },
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }

    fn stage(source: &str, severity: Severity, code: &str, message: &str) -> Option<u8> {
        Staged::of(&diagnostic(source, "src/a.rs", severity, code, message)).map(|staged| staged.stage)
    }

    #[test]
    fn every_stage_of_rustc_is_known_by_its_codes() {
        let rust = |code, message| stage("tool:cargo", Severity::Error, code, message);
        assert_eq!(rust("", "expected one of `!` or `::`, found `x`"), Some(0));
        assert_eq!(rust("", "cannot find macro `printn` in this scope"), Some(0));
        assert_eq!(rust("E0765", "unterminated double quote string"), Some(0));
        assert_eq!(rust("E0425", "cannot find value `x`"), Some(1));
        assert_eq!(rust("E0308", "mismatched types"), Some(2));
        assert_eq!(rust("E0382", "use of moved value"), Some(3));
        assert_eq!(rust("", "lifetime may not live long enough"), Some(3));
        assert_eq!(rust("clippy::all", "a denied lint"), Some(4));
        for source in ["lsp:rust-analyzer", "lsp:rust_analyzer/check"] {
            assert_eq!(stage(source, Severity::Warning, "unused_variables", "unused"), Some(4));
        }
        assert_eq!(stage("lsp:basedpyright", Severity::Error, "E0425", "no compiler with stages"), None);
    }

    #[test]
    fn an_error_hides_later_stages_of_its_package_and_unchanged_texts_of_others() {
        let hides = |cause: (&str, &str), other: (&str, &str), is_unchanged| {
            let cause = diagnostic("tool:cargo", cause.0, Severity::Error, cause.1, "");
            let other = diagnostic("tool:cargo", other.0, Severity::Warning, other.1, "");
            Staged::of_error(&cause).unwrap().hides(&Staged::of(&other).unwrap(), is_unchanged)
        };
        let (error, lint) = ("E0308", "unused_variables");
        assert!(hides(("crates/a/src/lib.rs", error), ("crates/a/src/b/mod.rs", lint), false));
        assert!(!hides(("crates/a/src/lib.rs", error), ("crates/a/src/lib.rs", "E0425"), true), "an earlier stage");
        assert!(hides(("crates/a/src/lib.rs", error), ("crates/b/src/lib.rs", "E0425"), true), "it may depend on it");
        assert!(!hides(("crates/a/src/lib.rs", error), ("crates/b/src/lib.rs", lint), false));
        let warning = diagnostic("tool:cargo", "src/a.rs", Severity::Warning, lint, "");
        assert_eq!(Staged::of_error(&warning), None);
    }

    #[test]
    fn a_syntax_error_of_mypy_and_tsc_hides_all_files_and_go_reports_types_before_its_analyzers() {
        let of = |source, file, severity, code, message| diagnostic(source, file, severity, code, message);
        let broken = of("tool:mypy", "a.py", Severity::Error, "syntax", "invalid syntax");
        let other = of("tool:mypy", "pkg/b.py", Severity::Error, "arg-type", "bad");
        assert!(Staged::of(&broken).unwrap().hides(&Staged::of(&other).unwrap(), true));
        assert!(!Staged::of(&other).unwrap().hides(&Staged::of(&other).unwrap(), true));
        let types = of("lsp:gopls", "cart/a.go", Severity::Error, "UndeclaredName", "undefined: x");
        let vet = of("lsp:gopls", "cart/b.go", Severity::Warning, "printf", "wrong type");
        assert!(Staged::of(&types).unwrap().hides(&Staged::of(&vet).unwrap(), false));
        let flow = of("tool:javac", "a/B.java", Severity::Error, "", "missing return statement");
        let symbol = of("tool:javac", "a/C.java", Severity::Error, "", "cannot find symbol");
        assert!(Staged::of(&symbol).unwrap().hides(&Staged::of(&flow).unwrap(), false));
    }
}
