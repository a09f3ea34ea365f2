//! The diagnostics that an edit would introduce, computed before it is made: the words below the question to the user.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::diagnostics::{collect_diagnostics, look_before, reached};
use crate::edit::look_ahead::texts_before;
use crate::editor::editor_error::EditorError;
use crate::editor::{Document, FileEdit};
use crate::state::agent_config::Config;
use crate::state::approvals::Approvals;
use crate::state::comparison::{self, Verdict};
use crate::state::delta_wording;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_baseline::{doubt, doubt_stale};
use crate::state::edit_request::EditRequest;
use crate::state::render::Line;
use crate::state::snapshots::{Snapshot, SnapshotKey, Snapshots};
use crate::state::stopped_compilers;
use sextant_base::deadline::Deadline;
use sextant_diagnostics::model::{Freshness, Report, Severity};
use sextant_diagnostics::syntax;

/// Lines of new diagnostics below a question.
const SHOWN: usize = 3;

/// An edit that the user is asked about; the servers are asked once, by the first question.
pub(crate) struct ProposedEdit<'a> {
    pub(crate) wanted: &'a [EditRequest],
    foreseen: OnceCell<String>,
}

impl<'a> ProposedEdit<'a> {
    pub(crate) fn new(wanted: &'a [EditRequest]) -> Self {
        Self { wanted, foreseen: OnceCell::new() }
    }

    /// A question with the diagnostics that the edit would introduce below it.
    pub(crate) async fn asked(&self, hub: &DiagnosticsHub, approvals: &Approvals, question: &str) -> String {
        let foreseen = self.foreseen.get_or_init(|| foreseen(hub, approvals, self.wanted)).await;
        below(question, foreseen)
    }
}

/// A question with the foreseen diagnostics below it.
pub(crate) fn below(question: &str, foreseen: &str) -> String {
    if foreseen.is_empty() { question.to_owned() } else { format!("{question}\n{foreseen}") }
}

/// The diagnostics that edits would introduce, or a note that they are not known. A stop ends it at once.
pub(crate) async fn foreseen(hub: &DiagnosticsHub, approvals: &Approvals, wanted: &[EditRequest]) -> String {
    if !hub.workspace.config.diagnostics.on_edit || !approvals.can_ask() {
        return String::new();
    }
    let cancel = hub.cancelled();
    tokio::select! {
        biased;
        () = cancel.cancelled() => String::new(),
        found = look_ahead(hub, wanted) => match found {
            Ok(verdict) => words(&hub.workspace.config, &verdict),
            Err(EditorError::Unsupported(_)) => delta_wording::not_foreseen(
                "its servers are asked once it is made",
            ),
            Err(error) => delta_wording::not_foreseen(&error.to_string()),
        },
    }
}

fn words(config: &Config, verdict: &Verdict) -> String {
    let new: Vec<Line> = verdict.new_from(config.diagnostics.severity_floor).map(Line::of).collect();
    let mut out = vec![delta_wording::of_candidate(verdict, &new)];
    out.extend(new.iter().take(SHOWN).map(|line| format!("  {}", line.text(""))));
    if let Some(more) = new.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        out.push(format!("  and {more} more"));
    }
    out.join("\n")
}

/// Compares the edits with the known diagnostics, as if they had been made. The ledger learns nothing of it.
async fn look_ahead(hub: &DiagnosticsHub, wanted: &[EditRequest]) -> Result<Verdict, EditorError> {
    let limit = hub.workspace.config.diagnostics.timeout_ms;
    let paths: Vec<String> = wanted.iter().map(|want| want.path().to_owned()).collect();
    let edits: Vec<FileEdit> = wanted.iter().cloned().map(EditRequest::into_edit).collect();
    // An editor without this function reports it before anything is waited for.
    hub.workspace.editor.probe(&[], Deadline::after_ms(limit)).await?;
    if edits.iter().any(|edit| !matches!(edit, FileEdit::Change { .. })) {
        return Err(EditorError::Other("a new file is looked at once it is there".to_owned()));
    }
    let edited = texts_before(wanted);
    let mut bystanders = collect_diagnostics::affected(hub.workspace.editor.as_ref(), &hub.looked, &paths).await;
    look_before::before_edit(hub, &edited, &bystanders, Deadline::after_ms(limit)).await;
    let reach = reached::reach_of(&hub.workspace, &hub.looked, reached::changes(wanted)).await;
    let reached = reached::before_edit(hub, &edited, &bystanders, wanted, reach).await;
    let deadline = reached.deadline(Deadline::after_ms(limit), limit);
    let looked_at: BTreeSet<String> = reached.documents.iter().map(|document| document.path.clone()).collect();
    bystanders.extend(reached.documents);
    let reports = hub.workspace.editor.probe(&edits, deadline).await?;
    let before = of_texts(collect_diagnostics::known(hub).await, &edited, &bystanders);
    let mut then: BTreeMap<&str, Arc<str>> =
        bystanders.iter().map(|document| (document.path.as_str(), Arc::clone(&document.text))).collect();
    for want in wanted {
        then.extend(want.after().map(|text| (want.path(), Arc::clone(text))));
    }
    let (after, reports) = as_if(&before, &then, reports, &paths);
    let mut verdict = comparison::compared(&before, &after, &reports).await;
    doubt(&mut verdict, [reached.unlooked.pending(), reached::unheard(&looked_at, &reports)].concat());
    doubt_stale(&mut verdict, &reached.stale);
    let asked: BTreeSet<SnapshotKey> =
        reports.iter().map(|report| (report.file.clone(), report.provider.clone())).collect();
    doubt(&mut verdict, stopped_compilers::unchecked(&before, &after, &asked, Severity::Error));
    Ok(verdict)
}

/// The known reports on exactly these texts: reports on other texts allow no comparison.
fn of_texts(mut known: Snapshots, edited: &[Document], bystanders: &[Document]) -> Snapshots {
    known.retain(|(file, _), snap| {
        let mut there = edited.iter().chain(bystanders).filter(|document| document.path == *file);
        there.any(|document| snap.text.as_deref() == Some(&*document.text))
    });
    known
}

/// The reports as snapshots of their texts. A provider that reports on an edited file and was not asked has an entry
/// too.
fn as_if(
    before: &Snapshots,
    then: &BTreeMap<&str, Arc<str>>,
    mut reports: Vec<Report>,
    edited: &[String],
) -> (Snapshots, Vec<Report>) {
    let mut after = Snapshots::new();
    for report in reports.iter().filter(|report| report.freshness.is_fresh()) {
        if let Some(text) = then.get(report.file.as_str()) {
            let snap = Snapshot { text: Some(Arc::clone(text)), diagnostics: report.diagnostics.clone() };
            after.insert((report.file.clone(), report.provider.clone()), Arc::new(snap));
        }
    }
    let heard: BTreeSet<(String, String)> =
        reports.iter().map(|report| (report.file.clone(), report.provider.clone())).collect();
    let silent = before.keys().filter(|key| edited.contains(&key.0) && key.1 != syntax::NAME && !heard.contains(*key));
    reports.extend(silent.map(|(file, provider)| Report {
        provider: provider.clone(),
        file: file.clone(),
        diagnostics: Vec::new(),
        freshness: Freshness::Timeout,
        version: None,
        wanted_version: None,
        elapsed_ms: 0,
        note: None,
        unasked: None,
    }));
    (after, reports)
}
