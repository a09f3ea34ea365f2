//! Decides what a compiler has not checked of a file because of an error elsewhere in its package.
//!
//! Measured with rustc 1.63 and 1.95: only a text that does not parse keeps it from checking types, and not each of
//! those does. Every other error hides some lints of the crate, and in its own function the borrows.

use crate::code_aliases::reads_whole_package;
use crate::delta::stages::{Family, Staged};
use crate::delta::syntax_errors::is_syntax;
use crate::model::{Diagnostic, Severity};
use crate::server_facts::way_out_of_fatal;

/// The checks of a file that an error keeps its compiler from; the most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HiddenChecks {
    AllButSyntax,
    /// Code that needs the names of a text that was not found, with the way out.
    UnknownNames(&'static str),
    BorrowsAndLints,
    SomeLints,
}

/// The error that hides the most of a file, of the reports of one provider, with what it hides. `is_old` is true for an
/// error that counts.
pub fn hidden_checks<'d>(
    reported: &[&'d Diagnostic],
    file: &str,
    is_old: &dyn Fn(&Diagnostic) -> bool,
) -> Option<(HiddenChecks, &'d Diagnostic)> {
    let errors = reported.iter().filter(|found| found.severity == Severity::Error && is_old(found));
    let hides = |error: &&&'d Diagnostic| Some((hidden_by(error, reported, file)?, **error));
    errors.filter_map(|error| hides(&error)).min_by_key(|(hidden, _)| *hidden)
}

fn hidden_by(error: &Diagnostic, reported: &[&Diagnostic], file: &str) -> Option<HiddenChecks> {
    let own = error.location.file()?;
    if let Some(way_out) = way_out_of_fatal(error) {
        return (own == file).then_some(HiddenChecks::UnknownNames(way_out));
    }
    let staged = Staged::of_error(error)?;
    if staged.family != Family::WholeProgram && staged.package != staged.family.package(file) {
        return None;
    }
    match staged.family {
        // Its server reads each file by itself.
        Family::Rust if !reads_whole_package(&error.source) => None,
        Family::Rust if staged.stage == 0 && stops(error) && !has_types(reported, &staged) => {
            Some(HiddenChecks::AllButSyntax)
        }
        Family::Rust if own == file && staged.stage < 3 => Some(HiddenChecks::BorrowsAndLints),
        Family::Rust => Some(HiddenChecks::SomeLints),
        Family::Go if staged.stage == 1 => Some(HiddenChecks::SomeLints),
        Family::WholeProgram | Family::Go | Family::Java if staged.stage == 0 => Some(HiddenChecks::AllButSyntax),
        Family::WholeProgram | Family::Go | Family::Java => None,
    }
}

/// True if an error may end a compiler's run before it has checked a type.
pub(crate) fn stops(error: &Diagnostic) -> bool {
    is_syntax(error) && Staged::of_error(error).is_some_and(|staged| staged.stage == 0)
}

/// True if the compiler has checked types in this package: the parser went on behind the broken text.
fn has_types(reported: &[&Diagnostic], of: &Staged<'_>) -> bool {
    let is_type = |found: &&&Diagnostic| {
        let staged = Staged::of(found).filter(|staged| staged.family == of.family && staged.package == of.package);
        staged.is_some_and(|staged| staged.stage > 1) && found.code.is_some()
    };
    reported.iter().any(|found| is_type(&found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Confidence, Location};

    fn error(source: &str, file: &str, code: &str, message: &str) -> Diagnostic {
        Diagnostic {
            source: source.into(),
            severity: Severity::Error,
            code: (!code.is_empty()).then(|| code.into()),
            message: message.into(),
            location: Location::File { file: file.into() },
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }

    fn hidden(reported: &[Diagnostic], file: &str) -> Option<HiddenChecks> {
        let reported: Vec<&Diagnostic> = reported.iter().collect();
        hidden_checks(&reported, file, &|_| true).map(|(hidden, _)| hidden)
    }

    const UNCLOSED: &str = "this file contains an unclosed delimiter";

    #[test]
    fn a_text_that_rustc_cannot_parse_hides_the_types_of_its_crate_until_one_was_reported() {
        let broken = error("tool:cargo", "src/b.rs", "", UNCLOSED);
        let typed = error("tool:cargo", "src/c.rs", "E0308", "mismatched types");
        let all = Some(HiddenChecks::AllButSyntax);
        assert_eq!(hidden(std::slice::from_ref(&broken), "src/a.rs"), all);
        assert_eq!(hidden(std::slice::from_ref(&broken), "src/b.rs"), all, "the rest of its own file too");
        assert_eq!(hidden(std::slice::from_ref(&broken), "other/src/a.rs"), None);
        assert_eq!(hidden(&[broken.clone(), typed], "src/a.rs"), Some(HiddenChecks::SomeLints));
        let unclosed = error("tool:cargo", "src/b.rs", "E0765", "unterminated double quote string");
        assert_eq!(hidden(&[unclosed], "src/a.rs"), all, "the lexer has codes");
        let native = error("lsp:rust-analyzer", "src/b.rs", "syntax-error", "Syntax Error: expected R_CURLY");
        assert_eq!(hidden(&[native], "src/a.rs"), None, "it reads each file");
        let at_start = [&broken];
        assert_eq!(hidden_checks(&at_start, "src/a.rs", &|_| false), None, "the edit's own error is reported");
    }

    #[test]
    fn an_error_behind_the_parser_hides_no_types_of_other_files() {
        for code in ["E0432", "E0425", "E0308"] {
            let found = [error("lsp:rust-analyzer/check", "src/b.rs", code, "m")];
            assert_eq!(hidden(&found, "src/a.rs"), Some(HiddenChecks::SomeLints), "{code}");
            assert_eq!(hidden(&found, "src/b.rs"), Some(HiddenChecks::BorrowsAndLints), "{code}");
        }
        let moved = [error("tool:cargo", "src/a.rs", "E0382", "use of moved value")];
        assert_eq!(hidden(&moved, "src/a.rs"), Some(HiddenChecks::SomeLints));
    }

    #[test]
    fn an_include_that_clangd_does_not_find_hides_what_needs_its_names_in_the_file() {
        let missing = |file| error("lsp:clangd", file, "pp_file_not_found", "'geo/shape.hpp' file not found");
        let unknown = hidden(&[missing("src/a.cpp")], "src/a.cpp");
        assert!(matches!(unknown, Some(HiddenChecks::UnknownNames(way)) if way.contains("compile_commands.json")));
        assert_eq!(hidden(&[missing("src/a.cpp")], "src/b.cpp"), None);
        let others = ["tool:gcc", "lsp:basedpyright"].map(|source| error(source, "a.cpp", "pp_file_not_found", "m"));
        assert_eq!(hidden(&others, "a.cpp"), None, "a code of another tool");
        let warned = Diagnostic { severity: Severity::Warning, ..missing("a.cpp") };
        assert_eq!(hidden(&[warned], "a.cpp"), None);
    }

    #[test]
    fn a_syntax_error_hides_all_files_of_tsc_and_mypy_and_none_of_a_server() {
        let all = Some(HiddenChecks::AllButSyntax);
        assert_eq!(hidden(&[error("tool:tsc", "b.ts", "1005", "')' expected.")], "src/a.ts"), all);
        assert_eq!(hidden(&[error("tool:mypy", "b.py", "syntax", "invalid syntax")], "a.py"), all);
        assert_eq!(hidden(&[error("tool:tsc", "b.ts", "2322", "not assignable")], "b.ts"), None);
        for (source, code) in [("lsp:vtsls", "1005"), ("lsp:basedpyright", ""), ("lsp:clangd", "expected_semi")] {
            assert_eq!(hidden(&[error(source, "b.x", code, "expected")], "b.x"), None, "{source}");
        }
    }
}
