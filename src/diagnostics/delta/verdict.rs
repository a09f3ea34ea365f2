//! Decides on the diagnostics without a partner: new or revealed, fixed or masked.

use crate::model::{Diagnostic, Severity};

/// Whether a diagnostic reports that its file does not parse.
pub(crate) fn is_syntax(d: &Diagnostic) -> bool {
    let code = d.code.as_deref().unwrap_or_default();
    let message = d.message.to_ascii_lowercase();
    d.severity == Severity::Error
        // Pyright's syntax errors have no rule; a checker without any codes names them in its message.
        && (code.is_empty() && d.source.to_ascii_lowercase().contains("pyright")
            || matches!(code, "invalid-syntax" | "syntax-error" | "syntax" | "E999" | "E0001")
            || is_typescript_syntax(d, code)
            || message.contains("syntax error")
            || message.contains("syntaxerror")
            || message.contains("invalid syntax"))
}

/// TypeScript numbers its parser's messages 1000 to 1999.
fn is_typescript_syntax(d: &Diagnostic, code: &str) -> bool {
    let source = d.source.to_ascii_lowercase();
    let typescript = source.contains("ts") || source.contains("typescript");
    typescript && code.parse::<u32>().is_ok_and(|number| (1000..2000).contains(&number))
}

/// Whether a diagnostic reports an import that could not be followed, which leaves its users unknown.
pub(super) fn is_import(d: &Diagnostic) -> bool {
    let code = d.code.as_deref().unwrap_or_default();
    let message = d.message.to_ascii_lowercase();
    matches!(
        code,
        "reportMissingImports"
            | "reportMissingModuleSource"
            | "import-not-found"
            | "import-untyped"
            | "import-error"
            | "unresolved-import"
            | "missing-import"
            | "2307"
            | "E0401"
            | "E0432"
            | "E0433"
    ) || message.contains("could not be resolved")
        || message.contains("cannot find module")
        || message.contains("unresolved import")
}

/// The change in the parse of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// It has new syntax errors: a missing diagnostic may only be hidden.
    pub broke: bool,
    /// Its syntax errors, or an import that could not be followed, went away: a new diagnostic may only be uncovered.
    pub mended: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Confidence, Location};

    fn diag(source: &str, code: &str, message: &str) -> Diagnostic {
        Diagnostic {
            source: source.into(),
            severity: Severity::Error,
            code: (!code.is_empty()).then(|| code.into()),
            message: message.into(),
            location: Location::Project,
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }

    #[test]
    fn syntax_and_import_errors_are_known() {
        for (source, code, message, syntax, import) in [
            ("lsp:basedpyright", "", "Expected \":\"", true, false),
            ("lsp:Ruff", "invalid-syntax", "Expected a statement", true, false),
            ("lsp:ts", "1005", "')' expected.", true, false),
            ("lsp:ts", "2307", "Cannot find module 'x'", false, true),
            ("tool:pytest", "", "1 failed", false, false),
            ("tool:mypy", "import-not-found", "Cannot find implementation", false, true),
            ("lsp:basedpyright", "reportCallIssue", "Expected 1 argument", false, false),
        ] {
            let d = diag(source, code, message);
            assert_eq!((is_syntax(&d), is_import(&d)), (syntax, import), "{source} {code} {message}");
        }
    }
}
