//! Shows a located diagnostic in a comparison: JSON, a line for an editor's error format, a line for a reader.

use serde_json::{Value, json};

use crate::located::LocatedDiagnostic;
use sextant_base::one_line::{clean, headline};

/// As JSON for a program. Lines are counted from 1, columns in bytes from 1, `range` is LSP's.
pub fn json(found: &LocatedDiagnostic) -> Value {
    let diagnostic = &found.diagnostic;
    json!({
        "path": found.symbol.file,
        "symbol": symbol(found),
        "line": found.line,
        "column": found.column,
        "range": diagnostic.location.range(),
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "source": diagnostic.source,
        "suggested_action": diagnostic.suggested_action,
    })
}

/// `file:line:col: severity: symbol: message [code]`.
pub fn errorformat(found: &LocatedDiagnostic) -> String {
    let LocatedDiagnostic { line, column, diagnostic, .. } = found;
    let (file, message) = (clean(&found.symbol.file), headline(&diagnostic.message));
    format!("{file}:{line}:{column}: {}: {}: {message}{}", diagnostic.severity, symbol(found), code(found))
}

/// `Cart::total: new error: Type "str" is … [reportReturnType] basedpyright, line 42`.
pub fn compared(found: &LocatedDiagnostic, state: &str, source: &str, gone: bool) -> String {
    let (message, line) = (headline(&found.diagnostic.message), if gone { "was line" } else { "line" });
    format!("{}: {state}: {message}{} {source}, {line} {}", symbol(found), code(found), found.line)
}

/// The names inside the file; at module level, the file.
fn symbol(found: &LocatedDiagnostic) -> String {
    clean(if found.symbol.names.is_empty() { &found.symbol.file } else { &found.symbol.names })
}

fn code(found: &LocatedDiagnostic) -> String {
    found.diagnostic.code.as_deref().map(|code| format!(" [{}]", clean(code))).unwrap_or_default()
}
