//! How the checks of a step stand once it has run.

use crate::agent::diagnostics::{collect, reported};
use crate::agent::plan::Step;
use crate::agent::plan::criteria::{CheckFacts, CheckResult, Criterion, ReportedThere};
use crate::agent::planner::validate;
use crate::agent::state::comparison::{Status, Verdict};
use crate::agent::state::render::Line;
use crate::agent::state::session::Session;
use crate::agent::state::snapshots::Snapshots;
use crate::agent::state::task::Task;
use crate::agent::state::usual_kinds::UsualKinds;
use crate::agent::target;
use crate::base::deadline::Deadline;
use crate::diagnostics::model::Severity;
use crate::symbols::path::SymbolPath;

/// How the checks of a step stand, in their order. `before` is what was known before it.
pub(crate) async fn findings(
    session: &Session,
    step: &Step,
    task: &mut Task,
    (before, verdict): (&Snapshots, &Verdict),
) -> Vec<CheckResult> {
    if step.checks.is_empty() {
        return Vec::new();
    }
    let mut commands: Vec<(String, CheckResult)> = Vec::new();
    for check in &step.checks {
        if let Criterion::CommandPasses(name) = check {
            commands.push((name.clone(), validate::command_stands(session, task, name).await));
        }
    }
    let spoken = spoken_of(session, &task.scope.files()).await;
    let asked: Vec<SymbolPath> = step
        .checks
        .iter()
        .filter_map(|check| match check {
            Criterion::SymbolExists(path) | Criterion::SymbolGone(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    let found = reported::in_scope(session, &task.scope).await;
    let reported = found.iter().map(|found| ReportedThere {
        code: found.diagnostic.code.clone().unwrap_or_default(),
        is_error: found.diagnostic.severity == Severity::Error,
        line: Line::of(found).text(""),
    });
    let usual = UsualKinds::of(before);
    let new = verdict.new_from(session.config.diagnostics.severity_floor).map(Line::of);
    let facts = CheckFacts {
        spoken,
        reported: reported.collect(),
        new: new.filter(|line| !usual.is_usual(line)).map(|line| line.text("")).collect(),
        compared: verdict.status == Status::Complete,
        present: target::present(session, &asked).await,
        commands,
    };
    step.checks.iter().map(|check| check.judge(&facts)).collect()
}

/// Whether what is known of every one of these files is of its text now. Asks where it is not.
pub(crate) async fn spoken_of(session: &Session, files: &[String]) -> bool {
    let mut documents = Vec::new();
    for file in files {
        documents.extend(session.editor.read(file).await.ok());
    }
    if documents.is_empty() || !session.config.diagnostics.on_edit {
        return false;
    }
    let deadline = Deadline::after_ms(session.config.diagnostics.timeout_ms);
    collect::ensure_baseline(session, &documents, &collect::bystanders(session, files).await, deadline).await;
    let ledger = session.ledger.lock().await;
    documents.iter().all(|document| ledger.is_current(&document.path, &document.text))
}

/// Half for each that nobody can tell.
pub(crate) fn unmet(findings: &[CheckResult]) -> f64 {
    let weight = |finding: &CheckResult| match finding {
        CheckResult::Met => 0.0,
        CheckResult::Unknown(_) => 0.5,
        CheckResult::Unmet(_) => 1.0,
    };
    findings.iter().map(weight).sum()
}
