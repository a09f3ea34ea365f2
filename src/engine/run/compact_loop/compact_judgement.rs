//! Judges a try by its new reports, the requested reports that remain after the servers' own fixes, and the named
//! checks.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::diagnostics::{collect_diagnostics, reported};
use crate::edit::edit_guard;
use crate::run::compact_loop::code_excerpt::ShownPiece;
use crate::run::compact_loop::{code_excerpt, introduced_fix};
use crate::run::run_tool_call;
use crate::state::comparison;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::snapshots::{Snapshots, add_missing};
use crate::state::stop;
use crate::state::task::Task;
use crate::state::task_scope::Scope;
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_diagnostics::model::Severity;
use sextant_model::request_kind;
use sextant_model::step::{Action, Model};
use sextant_text::symbols::symbol_path::SymbolPath;

/// Most new reports that the model is shown.
const SHOWN: usize = 6;
/// Bytes of the end of a check's output.
const PRINTED: usize = 600;
/// Most fixes of the servers after one try.
const FIXES: usize = 4;

/// Outcome of one try.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TryVerdict {
    pub(super) new_errors: usize,
    pub(super) new: usize,
    pub(super) fixed_errors: usize,
    pub(super) fixed: usize,
    /// Reports that were to be fixed and are still there.
    pub(super) left: usize,
    pub(super) failed_checks: usize,
    /// The problems, one line each; empty where there are none.
    pub(super) problems: Vec<String>,
    /// The problems that are reported in the file of the piece.
    reports: Vec<LocatedDiagnostic>,
    /// True if servers' fixes are part of the text that was judged.
    pub(super) has_offered_fix: bool,
}

impl TryVerdict {
    /// Smaller is better.
    pub(super) fn score(&self) -> (usize, usize, usize, usize) {
        (self.new_errors, self.failed_checks, self.left, self.new)
    }

    /// True if the text before it was better.
    pub(super) fn is_worse_than_before(&self) -> bool {
        let useless = self.left > 0 && self.fixed == 0;
        useless || self.new_errors > 0 && self.new_errors >= self.fixed_errors
    }

    /// True if the text may stand without a remark: its new reports are no errors.
    pub(super) fn is_fit(&self) -> bool {
        self.new_errors == 0 && self.left == 0 && self.failed_checks == 0
    }
}

/// Judges the text against the reports before the try, after the servers have fixed all that they can.
pub(super) async fn judge(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    before: &Snapshots,
    piece: &ShownPiece,
    cancel: &CancellationToken,
) -> Result<TryVerdict, Failure> {
    let mut verdict = with_offered_fix(edits, model, task, before, piece, cancel).await?;
    if verdict.new_errors == 0 {
        stop::unless_stopped(&edits.making, cancel, check(edits, model, task, &mut verdict)).await?;
    }
    Ok(verdict)
}

/// Lets the servers fix as much of a text as they can, and returns the reports that remain.
pub(super) async fn with_offered_fix(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    before: &Snapshots,
    piece: &ShownPiece,
    cancel: &CancellationToken,
) -> Result<TryVerdict, Failure> {
    let mut verdict = stop::unless_stopped(&edits.making, cancel, look(&edits.hub, task, before, piece)).await?;
    for _ in 0..FIXES {
        if !introduced_fix::apply(edits, model, task, &verdict.reports, cancel).await? {
            break;
        }
        verdict = stop::unless_stopped(&edits.making, cancel, look(&edits.hub, task, before, piece)).await?;
        verdict.has_offered_fix = true;
    }
    Ok(verdict)
}

async fn look(hub: &DiagnosticsHub, task: &Task, before: &Snapshots, piece: &ShownPiece) -> TryVerdict {
    let floor = hub.workspace.config.diagnostics.severity_floor;
    let mut known = before.clone();
    // A file that was first looked at right before the edit has its baseline there.
    add_missing(&mut known, &task.work.reports.start);
    let mut compared = comparison::compared(&known, &collect_diagnostics::known(hub).await, &[]).await;
    edit_guard::discount_all(&task.work.journal, &task.work.intent.consent, &mut compared);
    let text = hub.workspace.editor.read(&piece.path).await.map(|document| document.text).unwrap_or_default();
    let words = |found: &LocatedDiagnostic| {
        if found.symbol.file == piece.path {
            code_excerpt::line(found, &text)
        } else {
            format!("{}, line {}: {}", found.symbol.file, found.line, clean(&found.diagnostic.message))
        }
    };
    let new: Vec<&LocatedDiagnostic> = compared.new_from(floor).collect();
    let mut verdict = TryVerdict {
        new_errors: compared.count(Severity::Error),
        new: new.len(),
        fixed_errors: compared.fixed_from(Severity::Error),
        fixed: compared.fixed_from(floor),
        problems: new.iter().take(SHOWN).map(|found| words(found)).collect(),
        reports: new.iter().filter(|found| found.symbol.file == piece.path).map(|found| (*found).clone()).collect(),
        ..TryVerdict::default()
    };
    if request_kind::asks_report_repair(&task.work.request) {
        verdict.left += compared.not_counted.len();
        let hidden = compared.not_counted.first().map(|reason| format!("{reason}: that hides what is reported"));
        verdict.problems.extend(hidden);
    }
    let is_new = |found: &LocatedDiagnostic| new.iter().any(|one| one.diagnostic == found.diagnostic);
    for found in left(hub, &task.work.request, &piece.path, &piece.names).await.iter().filter(|found| !is_new(found)) {
        verdict.left += 1;
        if verdict.left <= SHOWN {
            verdict.problems.push(format!("still there: {}", words(found)));
        }
        verdict.reports.push(found.clone());
    }
    verdict
}

/// The reports that remain in a piece whose reports are to be fixed.
async fn left(hub: &DiagnosticsHub, request: &str, path: &str, names: &str) -> Vec<LocatedDiagnostic> {
    if !request_kind::asks_repair(request) {
        return Vec::new();
    }
    let scope = match names {
        "" => Scope::Files(vec![path.to_owned()]),
        names => Scope::Symbols(vec![SymbolPath::new(path, names)]),
    };
    let all = request_kind::asks_report_repair(request);
    let mut found = reported::in_scope(hub, &scope).await;
    found.retain(|found| all || found.diagnostic.severity == Severity::Error);
    found
}

/// Runs the commands that the request names and the user has allowed.
async fn check(edits: &EditService, model: &dyn Model, task: &mut Task, verdict: &mut TryVerdict) {
    for command in named(&task.work.request, &edits.workspace.config.commands_allowed) {
        let action = Action { tool: "run_command".to_owned(), parameters: json!({"command": command}) };
        let (result, ok) = run_tool_call::act(edits, model, task, &action, "the request names it").await;
        let first = result.text.lines().next().unwrap_or_default();
        if ok && first.ends_with("exit status 0") {
            continue;
        }
        verdict.failed_checks += 1;
        verdict.problems.push(format!("{}: {}", clean(first), tail(&result.text)));
    }
}

/// The user's rules that the request contains word for word.
fn named(request: &str, rules: &[String]) -> Vec<Vec<String>> {
    let words = |text: &str| -> Vec<String> {
        let bare =
            |word: &str| word.trim_matches(['`', '"', '\'', ',', ';', ')', '(']).trim_end_matches('.').to_owned();
        text.split_whitespace().map(bare).collect()
    };
    let request_words = words(request);
    let rules = rules.iter().map(|rule| words(rule)).filter(|rule| !rule.is_empty());
    rules.filter(|rule| request_words.windows(rule.len()).any(|some| some == rule)).collect()
}

fn tail(text: &str) -> String {
    let mut from = text.len().saturating_sub(PRINTED);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let lines: Vec<&str> = text[from..].lines().filter(|line| !line.trim().is_empty()).collect();
    clean(&lines[lines.len().saturating_sub(4)..].join(" / "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_check_where_the_request_writes_it_as_it_is_allowed() {
        let rules = ["pytest -q".to_owned(), "make test".to_owned(), String::new()];
        let one = |request: &str| named(request, &rules);
        assert_eq!(one("fix total, then `pytest -q` passes"), [["pytest", "-q"]]);
        assert_eq!(one("mend it and run make test."), [["make", "test"]]);
        assert!(one("run pytest").is_empty() && one("").is_empty());
    }

    #[test]
    fn fewer_errors_are_better_and_as_many_new_ones_as_old_ones_are_no_gain() {
        let verdict = |new_errors, fixed_errors| TryVerdict { new_errors, fixed_errors, ..TryVerdict::default() };
        assert!(verdict(0, 0).score() < verdict(1, 3).score());
        assert!(!verdict(0, 0).is_worse_than_before() && verdict(0, 0).is_fit());
        assert!(verdict(1, 1).is_worse_than_before() && !verdict(1, 2).is_worse_than_before());
        let useless = TryVerdict { left: 1, ..TryVerdict::default() };
        assert!(useless.is_worse_than_before() && !useless.is_fit());
    }
}
