//! Waits for the providers that may still answer about the last edits of a model that claims to be done. The model is
//! not asked meanwhile, and missing answers are named at the end.

use crate::diagnostics::{collect_diagnostics, reached};
use crate::editor::event::Event;
use crate::state::answer_status;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::snapshots::SnapshotKey;
use crate::state::task::{LastLook, TaskWork};
use sextant_base::deadline::Deadline;

/// The longest that an end waits, in milliseconds.
const MOST_MS: u64 = 10_000;

/// Waits until all providers that may still answer have done so. The late answers are kept with the late reports.
pub(crate) async fn wait(hub: &DiagnosticsHub, work: &mut TaskWork) {
    let edits = work.journal.checkpoints.len();
    let waited = work.reports.late.last_look.as_ref().is_some_and(|look| look.edits == edits);
    // Offered fixes are many small ends: each of them is judged as it was verified.
    if !work.reports.late.to_come || waited || hub.needs_providers {
        return;
    }
    collect_diagnostics::take_late(hub, work).await;
    let open = collect_diagnostics::silent(hub).await;
    hub.events.show(Event::Progress { text: format!("waiting for what is not known yet: {}", open.join(", ")) });
    let files: Vec<String> = work.journal.net().into_iter().map(|change| change.path).collect();
    let documents = reached::documents(hub.workspace.editor.as_ref(), &files).await;
    let mut bystanders = collect_diagnostics::affected(hub.workspace.editor.as_ref(), &hub.looked, &files).await;
    bystanders.extend(
        reached::others(hub.workspace.editor.as_ref(), &hub.looked, &work.reports.elsewhere.reached, &files).await,
    );
    let reports = collect_diagnostics::look(hub, &documents, &bystanders, Deadline::after_ms(MOST_MS)).await;
    let fresh = reports.iter().filter(|report| report.freshness.is_fresh());
    let arrived = fresh.map(|report| (report.file.clone(), report.provider.clone())).collect::<Vec<SnapshotKey>>();
    collect_diagnostics::arrived(hub, &mut work.reports, &arrived.into_iter().collect()).await;
    work.reports.late.to_come = reports.iter().any(answer_status::may_come);
    work.reports.late.last_look = Some(LastLook { edits, reports });
}
