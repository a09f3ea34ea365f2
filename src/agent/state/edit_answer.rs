//! The answer of every tool that edits: as data and as the text that says the same.

use serde::Serialize;

use crate::agent::state::comparison::{Status, Verdict};
use crate::agent::state::config::Checks;
use crate::agent::state::edit_request::EditOutcome;
use crate::agent::state::located::LocatedDiagnostic;
use crate::base::message;
use crate::diagnostics::model::Confidence;
use crate::diagnostics::policy::{word, words};

/// Bytes of one line of the text form: 35 tokens at 3.5 bytes each, less the mark of a cut.
const LINE: usize = 119;
/// Bytes of the message that a line keeps however long its names are.
const LEAST_MESSAGE: usize = 24;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub severity: String,
    pub symbol: String,
    pub path: String,
    /// One-based.
    pub line: u32,
    pub code: Option<String>,
    pub message: String,
    pub source: String,
    /// Everybody who says so, `source` first.
    pub sources: Vec<String>,
    pub confidence: Confidence,
    /// What is known to be done about it. Not in the text form, where a line is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_action: Option<String>,
    /// What it said before, of one that is not new.
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
            message: message::clean(&found.diagnostic.message),
            source: found.diagnostic.source.clone(),
            sources: found.sources.clone(),
            confidence: found.diagnostic.confidence,
            suggested_action: found.diagnostic.suggested_action.as_deref().map(message::headline),
            was: None,
            headline: message::headline(&found.diagnostic.message),
        }
    }

    /// One line, at most about 35 tokens: `error Cart::total:42 reportReturnType Type "str" is …`.
    pub fn text(&self, of_path: &str) -> String {
        let place = match (self.path == of_path, self.symbol == self.path) {
            (true, true) => format!("line {}", self.line),
            (true, false) => format!("{}:{}", self.symbol, self.line),
            (false, true) => format!("{}:{}", self.path, self.line),
            (false, false) => format!("{}::{}:{}", self.path, self.symbol, self.line),
        };
        let code = self.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
        let head = format!("{} {place}{code} ", self.severity);
        let agreed = agreed(&self.sources, self.confidence);
        let room = LINE.saturating_sub(head.len() + agreed.len()).max(LEAST_MESSAGE);
        let mut end = room.min(self.headline.len());
        while !self.headline.is_char_boundary(end) {
            end -= 1;
        }
        let rest = if end < self.headline.len() { "…" } else { "" };
        format!("{head}{}{rest}{agreed}", &self.headline[..end])
    }
}

/// ` (basedpyright and ruff, confidence high)`; nothing of a single source, whose word is all there is.
pub fn agreed(sources: &[String], confidence: Confidence) -> String {
    let names = words::names(sources);
    if sources.len() < 2 { String::new() } else { format!(" ({names}, confidence {})", word(confidence)) }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EditAnswer {
    pub ok: bool,
    pub path: String,
    pub symbols: Vec<String>,
    pub checkpoint: String,
    pub saved: bool,
    pub new_diagnostics: Vec<Line>,
    /// New ones beyond the cap.
    pub more: usize,
    pub fixed: usize,
    pub unchanged: usize,
    /// Of the unchanged, those that say something else now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<Line>,
    pub masked: usize,
    pub revealed: Vec<Line>,
    pub diagnostics_status: Status,
    pub pending: Vec<String>,
    /// New ones of an earlier edit, told late.
    pub late: Vec<Line>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl EditAnswer {
    pub fn of(changed: &EditOutcome, checks: &Checks, late: &[LocatedDiagnostic], notes: Vec<String>) -> Self {
        let EditOutcome { verdict, applied, symbols, checkpoint, .. } = changed;
        let wanted: Vec<Line> = verdict.new_from(checks.severity_floor).map(Line::of).collect();
        let shown: Vec<Line> = wanted.iter().take(checks.max).cloned().collect();
        let mut notes = notes;
        notes.extend(verdict.not_counted_line());
        notes.extend(applied.iter().filter_map(|done| done.note.clone()));
        let floor = |found: &&LocatedDiagnostic| found.diagnostic.severity <= checks.severity_floor;
        Self {
            ok: true,
            path: applied.first().map(|done| done.path.clone()).unwrap_or_default(),
            symbols: symbols.clone(),
            checkpoint: checkpoint.clone(),
            saved: applied.iter().all(|done| done.saved),
            more: wanted.len() - shown.len(),
            new_diagnostics: shown,
            fixed: verdict.fixed_from(checks.severity_floor),
            unchanged: verdict.unchanged,
            updated: updated(verdict, checks),
            masked: verdict.masked,
            revealed: verdict.revealed.iter().filter(floor).take(checks.max).map(Line::of).collect(),
            diagnostics_status: verdict.status,
            pending: verdict.pending.clone(),
            late: late.iter().filter(floor).map(Line::of).collect(),
            notes,
        }
    }

    /// The same as text; one line a diagnostic.
    pub fn text(&self) -> String {
        let mut out = vec![format!("edited {}{}", self.path, list(&self.symbols))];
        out.push(self.headline());
        let line = |line: &Line| format!("  {}", line.text(&self.path));
        out.extend(self.new_diagnostics.iter().map(line));
        if self.more > 0 {
            out.push(format!("  and {} more", self.more));
        }
        if !self.updated.is_empty() {
            out.push("unchanged, in other words than before:".to_owned());
            out.extend(self.updated.iter().map(line));
        }
        if !self.revealed.is_empty() {
            out.push("seen again after an earlier error went away:".to_owned());
            out.extend(self.revealed.iter().map(line));
        }
        if !self.late.is_empty() {
            out.push("late, from the edit before:".to_owned());
            out.extend(self.late.iter().map(line));
        }
        if !self.pending.is_empty() {
            out.push(format!("not known yet: {}", self.pending.join(", ")));
        }
        out.extend(self.notes.iter().cloned());
        out.join("\n")
    }

    fn headline(&self) -> String {
        let known = match self.diagnostics_status {
            Status::Complete => "",
            Status::Partial => " (partly known)",
            Status::Timeout => return "diagnostics: no answer in time, so nothing is known yet".to_owned(),
            Status::Unavailable => return "diagnostics: no provider could answer, so nothing is known".to_owned(),
            Status::Skipped => return "diagnostics: no provider covers this file".to_owned(),
            Status::Off => return "diagnostics: turned off".to_owned(),
        };
        let total = self.new_diagnostics.len() + self.more;
        let masked =
            if self.masked > 0 { format!(", {} hidden by a syntax error", self.masked) } else { String::new() };
        format!("diagnostics{known}: {total} new, {} fixed, {} unchanged{masked}", self.fixed, self.unchanged)
    }
}

fn updated(verdict: &Verdict, checks: &Checks) -> Vec<Line> {
    let worth = verdict.updated.iter().filter(|(found, _)| found.diagnostic.severity <= checks.severity_floor);
    worth.take(checks.max).map(|(found, was)| Line { was: Some(was.clone()), ..Line::of(found) }).collect()
}

fn list(symbols: &[String]) -> String {
    if symbols.is_empty() { String::new() } else { format!(" ({})", symbols.join(", ")) }
}

/// The answer to a burst of edits that was settled with a later result.
pub fn deferred(verdict: &Verdict, checks: &Checks) -> String {
    let floor = checks.severity_floor;
    let mut out = vec![format!(
        "diagnostics of the edits before ({}): {} new, {} fixed",
        verdict.status.name(),
        verdict.new_from(floor).count(),
        verdict.fixed_from(floor)
    )];
    out.extend(verdict.new_from(floor).take(checks.max).map(|found| format!("  {}", Line::of(found).text(""))));
    out.join("\n")
}

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
        assert!(text.ends_with("… (basedpyright and mypy, confidence high)"), "{text}");
        assert!(crate::llm::tokens::estimate(&text) <= 35, "{text}");
    }

    /// Every diagnostic that a case of the sample calls new, as one line of an answer.
    fn sample_lines() -> Vec<String> {
        let mut lines = Vec::new();
        for case in crate::diagnostics::delta::benchmark::cases() {
            let case: serde_json::Value = serde_json::from_str(&case).unwrap();
            for index in case["truth"]["new"].as_array().unwrap() {
                let given = &case["after"][usize::try_from(index.as_u64().unwrap()).unwrap()];
                let file = given["file"].as_str().unwrap().to_owned();
                let text = case["files"][&file]["after"].as_str().unwrap_or_default().to_owned();
                let diagnostic = crate::diagnostics::model::Diagnostic {
                    source: format!("lsp:{}", given["source"].as_str().unwrap_or("x")),
                    severity: crate::diagnostics::model::Severity::from_lsp(given["severity"].as_u64()),
                    code: given["code"].as_str().map(str::to_owned),
                    message: given["message"].as_str().unwrap().to_owned(),
                    location: crate::diagnostics::model::Location::Range {
                        file: file.clone(),
                        range: serde_json::from_value(given["range"].clone()).unwrap(),
                    },
                    confidence: crate::diagnostics::model::Confidence::High,
                    suggested_action: None,
                    evidence: None,
                };
                let found =
                    crate::agent::state::comparison::Namer::default().name(&diagnostic, |_| Some(text.as_str()));
                lines.push(Line::of(&found).text(&file));
            }
        }
        lines
    }

    #[test]
    fn a_line_costs_at_most_thirty_five_tokens() {
        let mut costs: Vec<usize> = sample_lines().iter().map(|line| crate::llm::tokens::estimate(line)).collect();
        costs.sort_unstable();
        let (median, longest) = (costs[costs.len() / 2], costs[costs.len() - 1]);
        assert!(costs.len() > 300 && longest <= 35, "{} lines: median {median}, longest {longest} tokens", costs.len());
    }
}
