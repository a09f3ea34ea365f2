//! The answer of every tool that edits: as data and as the text with the same content.

use serde_json::{Map, Value, json};

use crate::state::agent_config::Checks;
use crate::state::answer_status::Status;
use crate::state::comparison::Verdict;
use crate::state::delta_wording;
use crate::state::edit_request::EditOutcome;
use crate::state::frequent_codes::UsualKinds;
use crate::state::pending_report::{self, PendingReport};
use crate::state::render::{Line, UNCOVERED};
use sextant_base::secrets::mask;
use sextant_diagnostics::located::LocatedDiagnostic;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EditAnswer {
    pub ok: bool,
    pub path: String,
    pub symbols: Vec<String>,
    pub checkpoint: String,
    pub saved: bool,
    pub diagnostics: EditDiagnostics,
    pub notes: Vec<String>,
    /// The kinds of diagnostics that its text sums up.
    pub usual: UsualKinds,
    /// All new ones, beyond the cap too.
    pub unread: Vec<Line>,
}

/// The known effect of an edit on the diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EditDiagnostics {
    pub new_diagnostics: Vec<Line>,
    /// New ones beyond the cap.
    pub more: usize,
    pub fixed: usize,
    pub unchanged: usize,
    /// The unchanged ones whose message has changed.
    pub updated: Vec<Line>,
    pub masked: usize,
    pub revealed: Vec<Line>,
    pub diagnostics_status: Status,
    pub pending: Vec<String>,
    /// The same in sentences: nobody has to ask again.
    pub not_known: Vec<String>,
    /// True if a later result may report some of it.
    pub is_awaited: bool,
    /// New ones of an earlier edit, reported late.
    pub late: Vec<Line>,
}

/// Follows the diagnostics that do not count as fixed: alone their list reads as an order.
const NOT_COUNTED: &str = "Keep it, unless a better fix is at hand";

/// True if a provider that has not answered may still do so.
fn is_awaited(verdict: &Verdict) -> bool {
    verdict.to_come && pending_report::may_be_answered(&verdict.pending)
}

/// Names what is not known, apart by whether a later result may report it.
fn not_known(verdict: &Verdict) -> Vec<String> {
    let (awaited, others): (Vec<_>, Vec<_>) =
        verdict.pending.iter().cloned().partition(|entry| entry.may_be_answered && verdict.to_come);
    let sentence = |words: &str, entries: &[PendingReport], hint: &str| {
        (!entries.is_empty()).then(|| format!("{words}: {} ({hint})", pending_report::listed(entries)))
    };
    let awaited = sentence("not known yet", &awaited, "a later result reports the rest: go on");
    awaited.into_iter().chain(sentence("not known", &others, "no later result reports it: go on")).collect()
}

/// The pending entry of an edit whose diagnostics were deferred.
pub(crate) const DEFERRED: &str = "deferred to the next result";

impl EditAnswer {
    pub(crate) fn of(changed: &EditOutcome, checks: &Checks, late: &[LocatedDiagnostic], notes: Vec<String>) -> Self {
        let EditOutcome { verdict, applied, symbols, checkpoint, .. } = changed;
        let wanted: Vec<Line> = verdict.new_from(checks.severity_floor).map(Line::of).collect();
        let shown: Vec<Line> = wanted.iter().take(checks.max).cloned().collect();
        let mut notes = notes;
        notes.extend(changed.notes.iter().cloned());
        if !changed.imports.is_empty() {
            notes.push(format!("imports of {} changed with it", changed.imports.join(", ")));
        }
        notes.extend(verdict.not_counted_line().map(|line| format!("{line}. {NOT_COUNTED}")));
        notes.extend(applied.iter().filter_map(|done| done.note.clone()));
        let floor = |found: &&LocatedDiagnostic| found.diagnostic.severity <= checks.severity_floor;
        Self {
            ok: true,
            path: applied.first().map(|done| done.path.clone()).unwrap_or_default(),
            symbols: symbols.clone(),
            checkpoint: checkpoint.clone(),
            saved: applied.iter().all(|done| done.saved),
            diagnostics: EditDiagnostics {
                more: wanted.len() - shown.len(),
                new_diagnostics: shown,
                fixed: verdict.fixed_from(checks.severity_floor),
                unchanged: verdict.unchanged_from(checks.severity_floor),
                updated: updated(verdict, checks),
                masked: verdict.masked,
                revealed: verdict.revealed.iter().filter(floor).take(checks.max).map(Line::of).collect(),
                diagnostics_status: verdict.status,
                pending: pending_report::words(&verdict.pending),
                not_known: not_known(verdict),
                is_awaited: is_awaited(verdict),
                late: late.iter().filter(floor).map(Line::of).collect(),
            },
            notes,
            usual: UsualKinds::of(&changed.before, &changed.created),
            unread: wanted,
        }
    }

    /// The answer as a program reads it: the same facts as the text, and no more.
    pub(crate) fn data(&self) -> Value {
        let lines = |lines: &[Line]| lines.iter().map(|line| line_data(line, &self.path)).collect::<Vec<_>>();
        let report = &self.diagnostics;
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| {
            out.insert(name.to_owned(), value);
        };
        put("ok", json!(self.ok));
        put("path", json!(self.path));
        put("symbols", json!(self.symbols));
        put("checkpoint", json!(self.checkpoint));
        put("saved", json!(self.saved));
        put("new_diagnostics", json!(lines(&report.new_diagnostics)));
        put("diagnostics_status", json!(report.diagnostics_status));
        put("fixed", json!(report.fixed));
        put("unchanged", json!(report.unchanged));
        for (name, count) in [("more", report.more), ("masked", report.masked)] {
            if count > 0 {
                put(name, json!(count));
            }
        }
        for (name, some) in [("updated", &report.updated), ("revealed", &report.revealed), ("late", &report.late)] {
            if !some.is_empty() {
                put(name, json!(lines(some)));
            }
        }
        for (name, some) in [("pending", &report.pending), ("notes", &self.notes)] {
            if !some.is_empty() {
                put(name, json!(some.iter().map(|text| mask(text)).collect::<Vec<_>>()));
            }
        }
        Value::Object(out)
    }

    /// The answer as text; one line a diagnostic.
    pub(crate) fn text(&self) -> String {
        let mut out = vec![format!("edited {}{}", self.path, list(&self.path, &self.symbols))];
        if self.diagnostics.pending == [DEFERRED] {
            out.push("diagnostics: with the next result".to_owned());
            out.extend(self.notes.iter().cloned());
            return out.join("\n");
        }
        out.push(self.headline());
        let help = |line: &Line| line.suggested_action.as_ref().map(|help| format!("\n    help: {help}"));
        let line = |line: &Line| format!("  {}{}", line.text(self.known_file()), help(line).unwrap_or_default());
        let (usual, listed): (Vec<&Line>, Vec<&Line>) =
            self.diagnostics.new_diagnostics.iter().partition(|line| self.usual.is_usual(line));
        out.extend(listed.into_iter().map(line));
        out.extend(UsualKinds::summed_up(&usual).map(|usual| format!("  {usual}")));
        if self.diagnostics.more > 0 {
            out.push(format!("  and {} more", self.diagnostics.more));
        }
        if !self.diagnostics.updated.is_empty() {
            out.push("unchanged, in other words than before:".to_owned());
            out.extend(self.diagnostics.updated.iter().map(line));
        }
        if !self.diagnostics.revealed.is_empty() {
            out.push(format!("{UNCOVERED}:"));
            out.extend(self.diagnostics.revealed.iter().map(line));
        }
        if !self.diagnostics.late.is_empty() {
            out.push("late, from the edit before:".to_owned());
            out.extend(self.diagnostics.late.iter().map(line));
        }
        if !self.diagnostics.pending.is_empty() && self.diagnostics.diagnostics_status != Status::Skipped {
            out.extend(self.diagnostics.not_known.iter().cloned());
        }
        out.extend(self.notes.iter().cloned());
        out.join("\n")
    }

    /// The file that a place need not name: beside places of other files, each names its own.
    fn known_file(&self) -> &str {
        let report = &self.diagnostics;
        let mut lines =
            [&report.new_diagnostics, &report.updated, &report.revealed, &report.late].into_iter().flatten();
        if lines.all(|line| line.path == self.path) { &self.path } else { "" }
    }

    /// The reason not to end a task on it unread. Deferred and unknown diagnostics are looked at before an end.
    pub(crate) fn open(&self) -> Option<String> {
        let found = &self.diagnostics;
        let lines = self.unread.iter().chain(&found.revealed).chain(&found.late);
        introduced(&lines.filter(|line| self.usual.speaks_against(line)).collect::<Vec<_>>())
    }

    fn headline(&self) -> String {
        let total = self.diagnostics.new_diagnostics.len() + self.diagnostics.more;
        let masked = if self.diagnostics.masked > 0 {
            format!(", {} hidden by another error", self.diagnostics.masked)
        } else {
            String::new()
        };
        let more = format!(", {} unchanged{masked}", self.diagnostics.unchanged);
        let EditDiagnostics { diagnostics_status, fixed, is_awaited, .. } = &self.diagnostics;
        format!("diagnostics: {}", delta_wording::of_edit(*diagnostics_status, total, *fixed, &more, *is_awaited))
    }
}

/// The ways on from an objection to an end: alone the objection reads as an order.
pub(crate) const WAYS_ON: &str = "Fix it if you caused it; otherwise call done again";

/// The reason why an end does not stand: the first new diagnostic, and the number of the others; `None` without any.
pub(crate) fn introduced(lines: &[&Line]) -> Option<String> {
    let (first, others) = (lines.first()?.text(""), lines.len() - 1);
    let what = match others {
        0 => format!("this is new: {first}"),
        others => format!("this is new, with {others} more: {first}"),
    };
    Some(format!("{what}. {WAYS_ON}"))
}

fn updated(verdict: &Verdict, checks: &Checks) -> Vec<Line> {
    let worth = verdict.updated.iter().filter(|(found, _)| found.diagnostic.severity <= checks.severity_floor);
    worth.take(checks.max).map(|(found, was)| Line { was: Some(was.clone()), ..Line::of(found) }).collect()
}

/// The most symbols of one answer that are named; a model knows its own text.
const NAMED: usize = 4;

/// The symbols without their file; the file itself is named already.
fn list(path: &str, symbols: &[String]) -> String {
    let inside = |symbol: &String| match symbol.strip_prefix(path) {
        Some("") => None,
        Some(rest) => Some(rest.strip_prefix("::").unwrap_or(symbol).to_owned()),
        None => Some(symbol.clone()),
    };
    let mut names: Vec<String> = symbols.iter().filter_map(inside).collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn line_data(line: &Line, of_path: &str) -> Value {
    let mut out = json!({"severity": line.severity, "symbol": line.symbol, "line": line.line});
    if line.path != of_path {
        out["path"] = json!(line.path);
    }
    if let Some(code) = &line.code {
        out["code"] = json!(code);
    }
    out["message"] = json!(mask(&line.message));
    out["source"] = json!(line.source);
    if let Some(was) = &line.was {
        out["was"] = json!(mask(was));
    }
    out
}

/// The answer to a burst of edits that was settled with a later result.
pub(crate) fn deferred(verdict: &Verdict, checks: &Checks) -> String {
    let floor = checks.severity_floor;
    let (new, fixed) = (verdict.new_from(floor).count(), verdict.fixed_from(floor));
    let words = delta_wording::of_edit(verdict.status, new, fixed, "", is_awaited(verdict));
    let mut out = vec![format!("diagnostics of the edits before: {words}")];
    out.extend(verdict.new_from(floor).take(checks.max).map(|found| format!("  {}", Line::of(found).text(""))));
    out.extend(not_known(verdict));
    out.join("\n")
}
