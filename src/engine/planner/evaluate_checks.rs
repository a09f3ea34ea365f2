//! Evaluates the checks of a step once it has run.

use crate::diagnostics::{collect_diagnostics, look_before, reported};
use crate::plan::Step;
use crate::plan::check_criteria::{CheckFacts, CheckResult, Criterion, ReportedThere};
use crate::planner::validate_plan;
use crate::state::answer_status::Status;
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::render::Line;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::target;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::model::Severity;
use sextant_model::step::Model;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The results of a step's checks, in their order. `mark` is the number of the task's checkpoints before it.
pub(crate) async fn findings(
    edits: &EditService,
    model: &dyn Model,
    step: &Step,
    work: &TaskWork,
    verdict: &Verdict,
    mark: usize,
) -> Vec<CheckResult> {
    if step.checks.is_empty() {
        return Vec::new();
    }
    let mut commands: Vec<(String, CheckResult)> = Vec::new();
    for check in &step.checks {
        if let Criterion::CommandPasses(name) = check {
            commands.push((name.clone(), validate_plan::command_stands(edits, model, work, name).await));
        }
    }
    let spoken = spoken_of(&edits.hub, &work.scope.files()).await;
    let asked: Vec<SymbolPath> = step
        .checks
        .iter()
        .filter_map(|check| match check {
            Criterion::SymbolExists(path) | Criterion::SymbolGone(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    let found = reported::in_scope(&edits.hub, &work.scope).await;
    let changed = changed_since(&work.journal, mark);
    let reported = found.iter().map(|found| ReportedThere {
        code: found.diagnostic.code.clone().unwrap_or_default(),
        is_error: found.diagnostic.severity == Severity::Error,
        is_touched: step.kind.only_looks() || changed.holds(&found.symbol),
        line: Line::of(found).text(""),
    });
    let new = verdict.new_from(edits.workspace.config.diagnostics.severity_floor);
    let facts = CheckFacts {
        spoken,
        reported: reported.collect(),
        new_errors: verdict.new_from(Severity::Error).map(|found| Line::of(found).text("")).collect(),
        new: new.map(|found| Line::of(found).text("")).collect(),
        compared: verdict.status == Status::Complete,
        present: target::present(&edits.workspace, &asked).await,
        commands,
    };
    step.checks.iter().map(|check| check.judge(&facts)).collect()
}

/// The changes of a task since this checkpoint: symbols, and files where an edit names none.
fn changed_since(journal: &Journal, mark: usize) -> Scope {
    let rows = journal.checkpoints.get(mark..).unwrap_or_default();
    let symbols = rows.iter().flat_map(|row| row.files.iter().flat_map(move |file| row.symbols_in(&file.path)));
    let whole = rows.iter().filter(|row| row.symbols.is_empty()).flat_map(|row| &row.files);
    Scope::Parts { files: whole.map(|file| file.path.clone()).collect(), symbols: symbols.collect() }
}

/// True if the reports on every one of these files are about its present text. Asks for reports where they are not.
pub(crate) async fn spoken_of(hub: &DiagnosticsHub, files: &[String]) -> bool {
    let mut documents = Vec::new();
    for file in files {
        documents.extend(hub.workspace.editor.read(file).await.ok());
    }
    if documents.is_empty() || !hub.workspace.config.diagnostics.on_edit {
        return false;
    }
    let deadline = Deadline::after_ms(hub.workspace.config.diagnostics.timeout_ms);
    look_before::ensure_baseline(
        hub,
        &documents,
        &collect_diagnostics::bystanders(hub.workspace.editor.as_ref(), &hub.looked, files).await,
        deadline,
    )
    .await;
    let ledger = hub.ledger.lock().await;
    documents.iter().all(|document| ledger.is_current(&document.path, &document.text))
}

/// The sum of unmet checks; an unknown one counts half.
pub(crate) fn unmet(findings: &[CheckResult]) -> f64 {
    let weight = |finding: &CheckResult| match finding {
        CheckResult::Met => 0.0,
        CheckResult::Unknown(_) => 0.5,
        CheckResult::Unmet(_) => 1.0,
    };
    findings.iter().map(weight).sum()
}
