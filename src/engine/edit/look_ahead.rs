//! The look right before an edit: the edited files, and those in its reach.

use crate::diagnostics::{collect_diagnostics, look_before, outside_look, reached};
use crate::edit::large_files;
use crate::editor::Document;
use crate::state::edit_baseline::Baseline;
use crate::state::edit_request::EditRequest;
use crate::state::edit_service::EditService;
use crate::state::task::TaskReports;
use crate::state::unlooked::Unlooked;
use sextant_base::deadline::Deadline;

/// The state right before an edit, as far as it was looked at.
pub(crate) struct LookedAhead {
    pub(crate) bystanders: Vec<Document>,
    pub(crate) unheard: Unlooked,
    /// Open files that are not asked about.
    pub(crate) spared: Vec<String>,
    /// The rest of the deadline, or all of it again.
    pub(crate) deadline: Deadline,
}

/// Looks at the files that an edit changes and at those in its reach, and adds them to the baseline of its burst.
/// `in_burst` is whether the burst has them already.
pub(crate) async fn look_ahead(
    edits: &EditService,
    reports: &mut TaskReports,
    wanted: &[EditRequest],
    burst: &mut Baseline,
    in_burst: bool,
    mut deadline: Deadline,
) -> LookedAhead {
    let mut unheard = Unlooked::default();
    let paths: Vec<String> = wanted.iter().map(|want| want.path().to_owned()).collect();
    // From here on an edited file is a file like any other, also where it was opened for an earlier edit.
    reached::keep_open(&edits.hub.looked, &paths.iter().map(String::as_str).collect()).await;
    let mut bystanders =
        collect_diagnostics::affected(edits.workspace.editor.as_ref(), &edits.hub.looked, &paths).await;
    let reach = reached::reach_of(&edits.workspace, &edits.hub.looked, reached::changes(wanted)).await;
    let mut spared = large_files::take_out(&mut bystanders, wanted, &reach, &*edits.hub.ledger.lock().await);
    if !in_burst {
        let edited = texts_before(wanted);
        let looked = look_before::before_edit(&edits.hub, &edited, &bystanders, deadline).await;
        burst.stale.extend(looked.stale);
        unheard = Unlooked::of(looked.unheard, "", false);
        deadline = looked.deadline;
        // Now they are known, where they were not before.
        spared.extend(large_files::take_out(&mut bystanders, wanted, &reach, &*edits.hub.ledger.lock().await));
    }
    let mut reached = reached::before_edit(&edits.hub, &texts_before(wanted), &bystanders, wanted, reach).await;
    reached.take_earlier(
        reached::others(edits.workspace.editor.as_ref(), &edits.hub.looked, &burst.reached, &paths).await,
    );
    deadline = reached.deadline(deadline, edits.workspace.config.diagnostics.timeout_ms);
    burst.take_reach(reached.paths(), reached.open, &reached.unlooked, reached.stale);
    outside_look::enter(&edits.hub, reports).await;
    reports.elsewhere.unrelated.extend(reached.unrelated);
    bystanders.extend(reached.documents);
    LookedAhead { bystanders, unheard, spared, deadline }
}

/// The files that edits change, as they are before.
pub(crate) fn texts_before(wanted: &[EditRequest]) -> Vec<Document> {
    wanted.iter().filter_map(EditRequest::document).cloned().collect()
}
