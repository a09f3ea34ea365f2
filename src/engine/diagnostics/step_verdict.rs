//! The effect of a plan's step on the diagnostics, and the same again after an answer that came late. A later change
//! ends that: it is then unclear which of the changes an answer is about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;

use crate::diagnostics::collect_diagnostics::{doubt_unheard, known};
use crate::editor::Editor;
use crate::state::answer_status::Status;
use crate::state::comparison::{self, Verdict};
use crate::state::delta_wording;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_baseline::doubt;
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, Journal};
use crate::state::judged_step::{JudgedStep, RenewedOutcome};
use crate::state::snapshots::Snapshots;
use crate::state::stopped_compilers;
use crate::state::task::TaskWork;
use sextant_diagnostics::model::Severity;

/// Compares the reports before a step with those known now. `mark` are the task's checkpoints before it.
pub(crate) async fn verdict(
    hub: &DiagnosticsHub,
    journal: &Journal,
    mark: usize,
    before: &Snapshots,
    now: &Snapshots,
) -> Verdict {
    let mut verdict = comparison::compared(before, now, &[]).await;
    doubt_unheard(hub, journal, mark, &mut verdict).await;
    let own = files(journal.checkpoints.get(mark..).unwrap_or_default());
    let keys = now.keys().filter(|(file, _)| own.contains(file));
    if verdict.status != Status::Off {
        doubt(&mut verdict, stopped_compilers::unchecked(before, now, keys, Severity::Error));
    }
    verdict
}

/// Judges a step again by the answers that have come since.
pub(crate) async fn renew(edits: &EditService, judged: &mut JudgedStep, journal: &Journal) {
    if !edits.workspace.config.diagnostics.on_edit || !is_alone(edits, judged, journal).await {
        return;
    }
    let own = files(journal.checkpoints.get(judged.mark..).unwrap_or_default());
    let compared: BTreeSet<&String> = judged.before.keys().map(|(file, _)| file).chain(&own).collect();
    let now = known(&edits.hub).await.into_iter().filter(|((file, _), _)| compared.contains(file)).collect();
    let verdict = verdict(&edits.hub, journal, judged.mark, &judged.before, &now).await;
    // The texts may have changed while the reports were compared.
    if !is_alone(edits, judged, journal).await {
        return;
    }
    let floor = edits.workspace.config.diagnostics.severity_floor;
    let (fixed, new) = (verdict.fixed_from(floor), verdict.new_from(floor).count());
    let words = format!("{}{}", delta_wording::of_step(&verdict, new, fixed), judged.checks);
    if words == judged.outcome {
        judged.renewed = None;
        return;
    }
    let first = verdict.new_from(floor).next().map(|first| first.diagnostic.message.as_str());
    let words = delta_wording::of_late(&words, first);
    let errors = verdict.count(Severity::Error);
    judged.renewed = Some(RenewedOutcome { words, fixed, new, errors });
}

/// Does so for the last judged step of a task.
pub(crate) async fn renew_last(edits: &EditService, work: &mut TaskWork) {
    let TaskWork { reports, journal, .. } = work;
    if let Some(judged) = &mut reports.late.judged {
        renew(edits, judged, journal).await;
    }
}

/// The texts of the step's files and of all loaded files.
pub(crate) async fn texts_around(editor: &dyn Editor, journal: &Journal, mark: usize) -> BTreeMap<String, Arc<str>> {
    let mut all = files(journal.checkpoints.get(mark..).unwrap_or_default());
    all.extend(editor.loaded().await);
    texts(editor, &all).await
}

/// The texts of these files that are there.
pub(crate) async fn texts(editor: &dyn Editor, files: &BTreeSet<String>) -> BTreeMap<String, Arc<str>> {
    let read = join_all(files.iter().map(|path| editor.read(path))).await;
    read.into_iter().flatten().map(|document| (document.path, document.text)).collect()
}

/// True if nothing is known to have changed since the step was judged: no file by any task, and no loaded text.
async fn is_alone(edits: &EditService, judged: &JudgedStep, journal: &Journal) -> bool {
    let later = journal.checkpoints.get(judged.end..).unwrap_or_default();
    let (Some(last), true) =
        (journal.checkpoints.get(..judged.end).and_then(|own| own.last()), files(later).is_empty())
    else {
        return false;
    };
    let since = number(last);
    let history = edits.history.lock().await;
    let others = history.iter().filter(|known| known.task != journal.task).flat_map(|known| &known.checkpoints);
    let is_changed = others.filter(|row| number(row) > since).any(|row| !row.files.is_empty());
    drop(history);
    if is_changed {
        return false;
    }
    let now = texts_around(edits.workspace.editor.as_ref(), journal, judged.mark).await;
    let is_same = |(file, text): (&String, &Arc<str>)| now.get(file).is_none_or(|now| now == text);
    judged.texts.iter().all(is_same)
        && files(&journal.checkpoints[judged.mark..judged.end])
            .iter()
            .all(|file| now.contains_key(file) == judged.texts.contains_key(file))
}

/// The files that these checkpoints have changed.
pub(crate) fn files(rows: &[Checkpoint]) -> BTreeSet<String> {
    rows.iter().flat_map(|row| &row.files).map(|file| file.path.clone()).collect()
}

/// The number in a checkpoint's name.
fn number(checkpoint: &Checkpoint) -> u64 {
    checkpoint.id.strip_prefix('c').and_then(|number| number.parse().ok()).unwrap_or(0)
}
