//! The wording of a located diagnostic: the line of an answer or a question, and the entry of the quickfix list.

use serde::{Deserialize, Serialize};

use crate::editor::event::QuickfixEntry;
use sextant_base::one_line::{clean, headline};
use sextant_diagnostics::code_aliases;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::model::{Confidence, Severity};
use sextant_diagnostics::policy::{confidence_words, word};
use sextant_model::step::DiagnosticLine;

/// How a diagnostic came that an earlier error had hidden.
pub(crate) const UNCOVERED: &str = "seen again after an earlier error went away";

/// A diagnostic as data for a program, and with [`Line::text`] as text for a model and a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub severity: String,
    pub symbol: String,
    pub path: String,
    /// One-based.
    pub line: u32,
    pub code: Option<String>,
    pub message: String,
    pub source: String,
    /// All providers that report it, `source` first.
    pub sources: Vec<String>,
    pub confidence: Confidence,
    /// A known way to repair it. Not in the text form, where a line is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_action: Option<String>,
    /// Its earlier message, for one that is not new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The first line of the message, for the text form.
    #[serde(skip)]
    pub headline: String,
}

impl Line {
    pub fn of(found: &LocatedDiagnostic) -> Self {
        Self {
            severity: found.diagnostic.severity.to_string(),
            symbol: if found.symbol.names.is_empty() { found.symbol.file.clone() } else { found.symbol.names.clone() },
            path: found.symbol.file.clone(),
            line: found.line,
            code: found.diagnostic.code.clone(),
            message: clean(&found.diagnostic.message),
            source: found.diagnostic.source.clone(),
            sources: found.sources.clone(),
            confidence: found.diagnostic.confidence,
            suggested_action: found.diagnostic.suggested_action.as_deref().map(headline),
            was: None,
            headline: headline(&found.diagnostic.message),
        }
    }

    /// One line, with the whole first line of the message: `error Cart::total:42 reportReturnType Type "str" is …`.
    /// Half of a message misleads a model. [`headline`] limits its length.
    pub fn text(&self, of_path: &str) -> String {
        let place = match (self.path == of_path, self.symbol == self.path) {
            (true, true) => format!("line {}", self.line),
            (true, false) => format!("{}:{}", self.symbol, self.line),
            (false, true) => format!("{}:{}", self.path, self.line),
            (false, false) => format!("{}::{}:{}", self.path, self.symbol, self.line),
        };
        let code = self.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
        format!("{} {place}{code} {}{}", self.severity, self.headline, agreed(&self.sources, self.confidence))
    }
}

/// ` (basedpyright and ruff, confidence high)`; empty for a single source, whose report has no second one to confirm
/// it.
pub(crate) fn agreed(sources: &[String], confidence: Confidence) -> String {
    let names = confidence_words::names(sources);
    if sources.len() < 2 { String::new() } else { format!(" ({names}, confidence {})", word(confidence)) }
}

/// The line for a question to a model. `source` and `confidence` are those of all providers that report it.
pub(crate) fn question(
    found: &LocatedDiagnostic,
    source: String,
    confidence: Confidence,
    doubtful: bool,
) -> DiagnosticLine {
    let doubt = if doubtful { " (still there after its fixes: possibly a false positive)" } else { "" };
    DiagnosticLine {
        severity: found.diagnostic.severity.to_string(),
        symbol: found.symbol.to_string(),
        code: found.diagnostic.code.clone().unwrap_or_default(),
        message: format!("{}{doubt}", headline(&found.diagnostic.message)),
        source,
        confidence: word(confidence).to_owned(),
        suggested_action: found.diagnostic.suggested_action.as_deref().map(headline),
        theme: code_aliases::theme(&found.diagnostic).unwrap_or_default().to_owned(),
        also: Vec::new(),
        unanswered: Vec::new(),
    }
}

/// The entry of a diagnostic that was seen again after the error that hid it went away.
pub(crate) fn uncovered_entry(found: &LocatedDiagnostic) -> QuickfixEntry {
    let entry = entry(found);
    QuickfixEntry { text: format!("{} ({})", entry.text, UNCOVERED), ..entry }
}

/// The entry of the quickfix list.
pub(crate) fn entry(found: &LocatedDiagnostic) -> QuickfixEntry {
    let kind = match found.diagnostic.severity {
        Severity::Error => "E",
        Severity::Warning => "W",
        Severity::Info => "I",
        Severity::Hint => "N",
    };
    let symbol = if found.symbol.names.is_empty() { String::new() } else { format!("{}: ", found.symbol.names) };
    let code = found.diagnostic.code.as_deref().map(|code| format!(" [{code}]")).unwrap_or_default();
    QuickfixEntry {
        path: found.symbol.file.clone(),
        line: found.line,
        column: found.column,
        kind: kind.to_owned(),
        text: format!(
            "{symbol}{}{code}{}",
            headline(&found.diagnostic.message),
            agreed(&found.sources, found.diagnostic.confidence)
        ),
        sources: found.sources.clone(),
    }
}

#[cfg(test)]
#[path = "../../../tests/fixtures/matchbench/cases.rs"]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_file_only_where_it_is_another() {
        let line = Line {
            severity: "error".into(),
            symbol: "Cart::total".into(),
            path: "src/cart.py".into(),
            line: 42,
            code: Some("reportReturnType".into()),
            message: "Type \"str\" is not assignable to return type \"int\"".into(),
            source: "lsp:basedpyright".into(),
            sources: vec!["lsp:basedpyright".into()],
            confidence: Confidence::High,
            suggested_action: None,
            was: None,
            headline: "Type \"str\" is not assignable to return type \"int\"".into(),
        };
        let text = line.text("src/cart.py");
        assert_eq!(text, "error Cart::total:42 reportReturnType Type \"str\" is not assignable to return type \"int\"");
        assert!(line.text("other.py").starts_with("error src/cart.py::Cart::total:42 "));
        let both = Line { sources: vec!["lsp:basedpyright".into(), "tool:mypy".into()], ..line };
        let text = both.text("src/cart.py");
        assert!(text.ends_with("return type \"int\" (basedpyright and mypy, confidence high)"), "{text}");
    }

    #[test]
    fn a_line_has_the_whole_first_line_of_the_message_however_long_its_names_are() {
        let message = "`SessionStore::open_with_the_given_options` is deprecated: use `open` with the builder instead";
        let line = Line {
            severity: "warning".into(),
            symbol: "SessionStoreOfTheWholeWorkspace::open_with_the_given_options".into(),
            path: "src/store/workspace/session_store_of_the_workspace.rs".into(),
            line: 42,
            code: Some("deprecated_in_a_later_version".into()),
            message: message.into(),
            source: "tool:clippy".into(),
            sources: vec!["tool:clippy".into(), "lsp:rust-analyzer".into()],
            confidence: Confidence::High,
            suggested_action: None,
            was: None,
            headline: headline(&format!("{message}\nnote: the lint level is defined here")),
        };
        assert!(line.text("").contains(&format!(" {message} (")), "{}", line.text(""));
        let long = Line { headline: headline(&"x ".repeat(1000)), ..line };
        assert!(long.text("").chars().count() < 600, "{}", long.text(""));
    }

    /// Every new diagnostic of the sample's cases, as one line of an answer.
    fn sample_lines() -> Vec<String> {
        let mut lines = Vec::new();
        for case in super::cases::cases() {
            let case: serde_json::Value = serde_json::from_str(&case).unwrap();
            for index in case["truth"]["new"].as_array().unwrap() {
                let given = &case["after"][usize::try_from(index.as_u64().unwrap()).unwrap()];
                let file = given["file"].as_str().unwrap().to_owned();
                let text = case["files"][&file]["after"].as_str().unwrap_or_default().to_owned();
                let diagnostic = sextant_diagnostics::model::Diagnostic {
                    source: format!("lsp:{}", given["source"].as_str().unwrap_or("x")),
                    severity: sextant_diagnostics::model::Severity::from_lsp(given["severity"].as_u64()),
                    code: given["code"].as_str().map(str::to_owned),
                    message: given["message"].as_str().unwrap().to_owned(),
                    location: sextant_diagnostics::model::Location::Range {
                        file: file.clone(),
                        range: serde_json::from_value(given["range"].clone()).unwrap(),
                    },
                    confidence: sextant_diagnostics::model::Confidence::High,
                    suggested_action: None,
                    evidence: None,
                };
                let found = sextant_diagnostics::located::Namer::default().name(&diagnostic, |_| Some(text.as_str()));
                lines.push(Line::of(&found).text(&file));
            }
        }
        lines
    }

    #[test]
    fn a_line_costs_a_few_tokens_on_real_reports() {
        let mut costs: Vec<usize> =
            sample_lines().iter().map(|line| sextant_base::token_estimate::estimate(line)).collect();
        costs.sort_unstable();
        let (median, longest) = (costs[costs.len() / 2], costs[costs.len() - 1]);
        let cost = format!("median {median}, longest {longest}, of {}", costs.len());
        assert!(costs.len() > 300 && median <= 30 && longest <= 100, "{cost}");
    }
}
