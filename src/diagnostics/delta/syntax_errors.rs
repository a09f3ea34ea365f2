//! Recognizes diagnostics that hide others: syntax errors, and imports that could not be followed.

use crate::delta::stages::RUST_BORROW_WORDS;
use crate::model::{Diagnostic, Severity};
use crate::server_facts::{UNENDED_CODES, is_of_rust, way_out_of_fatal};

/// True if a diagnostic reports that its file does not parse.
pub(crate) fn is_syntax(d: &Diagnostic) -> bool {
    let code = d.code.as_deref().unwrap_or_default();
    let message = d.message.to_ascii_lowercase();
    d.severity == Severity::Error
        // Pyright's syntax errors have no rule; a checker without any codes names them in its message.
        && (code.is_empty() && d.source.to_ascii_lowercase().contains("pyright")
            || matches!(code, "invalid-syntax" | "syntax-error" | "syntax" | "E999" | "E0001")
            || is_parser_code(&d.source.to_ascii_lowercase(), code, &message)
            || message.contains("syntax error")
            || message.contains("syntaxerror")
            || message.contains("invalid syntax"))
}

/// True if a tool marks a message of its parser in its own way.
fn is_parser_code(source: &str, code: &str, message: &str) -> bool {
    let is_of = |names: &[&str]| names.iter().any(|name| source.contains(name));
    let number = |from: u32, to: u32| {
        code.trim_start_matches("SC").parse::<u32>().is_ok_and(|number| (from..to).contains(&number))
    };
    // The other messages of rustc without a code report on the build, or name what is missing.
    let of_build = ["cannot find", "aborting due to", "could not compile", "linking with", "failed to"];
    // TypeScript and shellcheck number their parsers' messages 1000 to 1999.
    is_of(&["ts", "typescript", "bash", "shellcheck"]) && number(1000, 2000)
        || is_of_rust(source)
            && code.is_empty()
            && !of_build.iter().any(|start| message.starts_with(start))
            && !RUST_BORROW_WORDS.iter().any(|words| message.contains(words))
        || is_of_rust(source) && UNENDED_CODES.contains(&code)
        || is_of(&["clang"]) && code.starts_with("expected")
        || is_of(&["gopls"]) && code.is_empty() && message.contains("expected") && message.contains("found")
        || is_of(&["jdtls"]) && code.parse::<u32>().is_ok_and(|number| number & 0x4000_0000 != 0)
        || is_of(&["biome"]) && code == "parse"
        || is_of(&["eslint"]) && code.is_empty() && message.starts_with("parsing error")
        || is_of(&["yaml"]) && code == "0"
}

/// True if a diagnostic reports an import that could not be followed, which leaves its users unknown.
pub(super) fn is_import(d: &Diagnostic) -> bool {
    let code = d.code.as_deref().unwrap_or_default();
    let message = d.message.to_ascii_lowercase();
    let source = d.source.to_ascii_lowercase();
    // The same number means something else in another checker.
    let is_numbered = match code {
        "E0401" => source.contains("pylint") || source.contains("pylsp"),
        "E0432" | "E0433" => is_of_rust(&source),
        _ => false,
    };
    is_numbered
        || way_out_of_fatal(d).is_some()
        || matches!(
            code,
            "reportMissingImports"
                | "reportMissingModuleSource"
                | "import-not-found"
                | "import-untyped"
                | "import-error"
                | "unresolved-import"
                | "missing-import"
                | "2307"
        )
        || message.contains("could not be resolved")
        || message.contains("cannot find module")
        || message.contains("unresolved import")
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
            ("tool:cargo", "", "expected one of `)` or `,`, found `{`", true, false),
            ("tool:cargo", "", "aborting due to 2 previous errors", false, false),
            ("tool:cargo", "", "cannot find macro `x` in this scope", false, false),
            ("tool:cargo", "E0432", "unresolved import `a`", false, true),
            ("lsp:rust_analyzer/check", "E0432", "unresolved import `a`", false, true),
            ("lsp:rust_analyzer/check", "", "this file contains an unclosed delimiter", true, false),
            ("tool:cargo", "E0401", "can't use generic parameters from outer item", false, false),
            ("tool:pylint", "E0401", "Unable to import 'x'", false, true),
            ("lsp:clangd", "expected_semi_after_expr", "Expected ';' after expression", true, false),
            ("lsp:clangd", "undeclared_var_use", "Use of undeclared identifier 'x'", false, false),
            ("lsp:clangd", "pp_file_not_found", "'a.hpp' file not found", false, true),
            ("lsp:gopls", "", "expected ')', found '{'", true, false),
            ("lsp:jdtls", "1610612976", "Syntax error, insert \")\"", true, false),
            ("lsp:biome", "parse", "expected `)` but instead found `{`", true, false),
            ("lsp:eslint", "", "Parsing error: Unexpected token {", true, false),
            ("lsp:bashls", "SC1009", "The mentioned parser error was in this function.", true, false),
            ("lsp:bashls", "SC2086", "Double quote to prevent globbing", false, false),
            ("tool:mypy", "import-not-found", "Cannot find implementation", false, true),
            ("lsp:basedpyright", "reportCallIssue", "Expected 1 argument", false, false),
        ] {
            let d = diag(source, code, message);
            assert_eq!((is_syntax(&d), is_import(&d)), (syntax, import), "{source} {code} {message}");
        }
    }
}
