//! Looks at diagnostics: asks the editor, takes fresh reports into the ledger, and reports the rest as not fresh.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;

use crate::diagnostics::outside_look;
use crate::editor::event::Event;
use crate::editor::{Document, Editor};
use crate::events::stream::EventStream;
use crate::state::answer_status::{self, Status};
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::{DiagnosticsHub, LookedFiles};
use crate::state::journal::Journal;
use crate::state::late_log::LateLog;
use crate::state::pending_report::PendingReport;
use crate::state::snapshots::{SnapshotKey, Snapshots, add_missing, before_unasked};
use crate::state::task::{TaskReports, TaskWork};
use crate::state::{comparison, dedup};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_diagnostics::language_checkers::are_apart;
use sextant_diagnostics::model::{Diagnostic, Freshness, Report};
use sextant_diagnostics::policy::{Effect, Trace};

/// The wait after which the user sees a message.
const LONG: Duration = Duration::from_millis(700);

const GONE: &str = "it spoke of this file before, and is gone";

/// The report of a provider that reported on a file before and is gone now.
fn gone(key: SnapshotKey) -> Report {
    let (file, provider) = key;
    Report {
        provider,
        file,
        diagnostics: Vec::new(),
        freshness: Freshness::Unavailable,
        version: None,
        wanted_version: None,
        elapsed_ms: 0,
        note: Some(GONE.to_owned()),
        unasked: None,
    }
}

/// The pairs of file and attached provider, where a provider that reported before is silent now.
async fn attached(
    hub: &DiagnosticsHub,
    reports: &[Report],
    edited: &[String],
    bystanders: &[String],
) -> Option<Vec<SnapshotKey>> {
    let is_quiet = hub.ledger.lock().await.unheard(reports, edited, bystanders).next().is_none();
    if is_quiet { None } else { hub.workspace.editor.attached().await.map(|attached| attached.pairs) }
}

/// Forgets the reports of providers that the user has detached since: nobody misses them. Runs where work begins, since
/// the reports that a task began with are missed until its end.
pub(crate) async fn let_go(hub: &DiagnosticsHub) {
    let knows_servers = |known: &Snapshots| known.keys().any(|(_, provider)| provider.starts_with("lsp:"));
    if knows_servers(&known(hub).await)
        && let Some(attached) = hub.workspace.editor.attached().await
    {
        hub.ledger.lock().await.let_go(|key| attached.is_taken(key));
    }
}

/// Asks for the diagnostics of the files as they are now and keeps the fresh ones.
///
/// A report of another version than the text at hand counts as not answered.
pub(crate) async fn look(
    hub: &DiagnosticsHub,
    edited: &[Document],
    bystanders: &[Document],
    deadline: Deadline,
) -> Vec<Report> {
    outside_look::begin(hub).await;
    let cancel = hub.cancelled();
    let (mut reports, bystanders) = tokio::select! {
        // A stopped task asks no more questions.
        biased;
        () = cancel.cancelled() => (Vec::new(), bystanders.to_vec()),
        asked = ask(hub.workspace.editor.as_ref(), &hub.looked, edited, bystanders, deadline) => asked,
    };
    let (edited_paths, bystander_paths) = (paths(edited), paths(&bystanders));
    let attached = attached(hub, &reports, &edited_paths, &bystander_paths).await;
    let mut ledger = hub.ledger.lock().await;
    if !cancel.is_cancelled() {
        let missing = ledger.missing(&reports, &edited_paths, &bystander_paths, attached.as_deref());
        reports.extend(missing.into_iter().map(gone));
        ledger.note_beside(&reports, &bystander_paths);
    }
    for report in &mut reports {
        if !report.freshness.is_fresh() {
            continue;
        }
        if let Some(unasked) = &report.unasked {
            ledger.take_unasked(report, unasked);
            continue;
        }
        let known = edited.iter().chain(&bystanders).find(|document| document.path == report.file);
        let text = match known {
            Some(document) if Some(document.version) == report.version => Some(document.text.clone()),
            // The user typed, or a formatter ran: the report is fresh, but of a newer text than ours.
            _ => match hub.workspace.editor.read(&report.file).await {
                Ok(now) if Some(now.version) == report.version => Some(now.text),
                _ => None,
            },
        };
        match text {
            Some(text) => ledger.take(report, &text),
            None => {
                report.freshness = Freshness::Timeout;
                report.note = Some("the text went on changing".to_owned());
            }
        }
    }
    drop_typed(hub.workspace.editor.as_ref(), &hub.looked, &bystanders, &mut reports).await;
    ledger.note_silence(&reports);
    if !cancel.is_cancelled() {
        edited_paths.iter().for_each(|path| ledger.note_whole(path));
    }
    reports
}

/// Drops the open bystanders whose text has changed by now: the user types in them.
async fn drop_typed(editor: &dyn Editor, looked: &LookedFiles, bystanders: &[Document], reports: &mut Vec<Report>) {
    for document in bystanders {
        let is_open = |report: &Report| report.file == document.path && !report.freshness.is_fresh();
        if reports.iter().any(is_open)
            && let Ok(now) = editor.read(&document.path).await
            && now.version != document.version
        {
            lock(&looked.typed).typed(&now);
            reports.retain(|report| report.file != document.path);
        }
    }
}

fn paths(documents: &[Document]) -> Vec<String> {
    documents.iter().map(|document| document.path.clone()).collect()
}

/// Asks the editor, and returns the reports with the bystanders that were asked about. A bystander that the user types
/// in meanwhile is dropped: its servers answer about no text of it for as long as that goes on.
async fn ask(
    editor: &dyn Editor,
    looked: &LookedFiles,
    edited: &[Document],
    bystanders: &[Document],
    deadline: Deadline,
) -> (Vec<Report>, Vec<Document>) {
    let mut left = bystanders.to_vec();
    let mut changed: Vec<Document> = lock(&looked.typed).changed(&left).into_iter().cloned().collect();
    loop {
        let (edited_paths, left_paths) = (paths(edited), paths(&left));
        tokio::select! {
            reports = editor.diagnostics(&edited_paths, &left_paths, deadline) => return (reports, left),
            now = typed_in(editor, &changed) => {
                left.retain(|document| document.path != now.path);
                changed.retain(|document| document.path != now.path);
                lock(&looked.typed).typed(&now);
            }
        }
    }
}

/// The interval between two checks whether the user types.
const GLANCE: Duration = Duration::from_millis(80);

/// The first of these files that the user types in, as it is then; never ends without typing.
async fn typed_in(editor: &dyn Editor, changed: &[Document]) -> Document {
    if changed.is_empty() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(GLANCE).await;
        for document in changed {
            if let Ok(now) = editor.read(&document.path).await
                && now.version != document.version
            {
                return now;
            }
        }
    }
}

/// Every other loaded file that an edit of these may break, except those that the user types in. Files that were opened
/// for the reach of an edit are left out: each edit determines itself whether it reaches them.
pub(crate) async fn bystanders(editor: &dyn Editor, looked: &LookedFiles, edited: &[String]) -> Vec<Document> {
    let loaded = editor.loaded().await;
    let reached = looked.reached.lock().await.clone();
    let others = loaded.iter().filter(|path| !edited.contains(path) && !reached.contains(path));
    let others = others.map(|path| editor.read(path));
    let others: Vec<Document> = join_all(others).await.into_iter().flatten().collect();
    let mut typed = lock(&looked.typed);
    others.into_iter().filter(|document| !typed.is_typed(document)).collect()
}

/// The same without the files whose checkers look at none of the edited ones: an answer that is still awaited there does
/// not hold up an edit of another language. A user may have given one server several languages.
pub(crate) async fn affected(editor: &dyn Editor, looked: &LookedFiles, edited: &[String]) -> Vec<Document> {
    let mut others = bystanders(editor, looked, edited).await;
    let is_apart = |other: &&String| !edited.is_empty() && edited.iter().all(|file| are_apart(file, other));
    let mut apart: Vec<String> = others.iter().map(|other| &other.path).filter(is_apart).cloned().collect();
    if !apart.is_empty() {
        let shared = editor.sharing(edited, &apart).await;
        apart.retain(|path| !shared.contains(path));
    }
    others.retain(|other| !apart.contains(&other.path));
    others
}

/// Milliseconds of the first look at a file, for which a server may have to start. A server that hangs is not waited for
/// as long as one that starts.
pub(crate) async fn first_look_ms(hub: &DiagnosticsHub) -> u64 {
    let checks = &hub.workspace.config.diagnostics;
    if hub.ledger.lock().await.hangs() { checks.timeout_ms } else { checks.start_timeout_ms }
}

/// Waits for a look, and shows a message where it takes long.
pub(crate) async fn waiting<T>(events: &EventStream, look: impl Future<Output = T>) -> T {
    tokio::pin!(look);
    tokio::select! {
        looked = &mut look => looked,
        () = tokio::time::sleep(LONG) => {
            events.show(Event::Progress { text: "waiting for the language servers".to_owned() });
            look.await
        }
    }
}

/// Adds to the verdict of a step which changes of the task since its checkpoint of this number have no report.
pub(crate) async fn doubt_unheard(hub: &DiagnosticsHub, journal: &Journal, mark: usize, verdict: &mut Verdict) {
    if !hub.workspace.config.diagnostics.on_edit {
        verdict.status = Status::Off;
        return;
    }
    let changed = journal.checkpoints.get(mark..).unwrap_or_default().iter().flat_map(|one| &one.files);
    let files: BTreeSet<&str> = changed.map(|file| file.path.as_str()).collect();
    let (mut there, mut is_covered) = (Vec::new(), false);
    for file in files {
        let Ok(document) = hub.workspace.editor.read(file).await else { continue };
        let ledger = hub.ledger.lock().await;
        let silent = ledger.unsettled(file, &document.text);
        verdict.pending.extend(silent.iter().map(|provider| PendingReport::awaited(provider, file)));
        is_covered |= ledger.of(file).next().is_some() || !silent.is_empty();
        there.push(file.to_owned());
    }
    verdict.status = match (there.is_empty() || is_covered, verdict.pending.is_empty()) {
        (false, _) => Status::Skipped,
        (true, true) => Status::Complete,
        (true, false) => Status::Partial,
    };
    comparison::doubt_coverage(verdict, &there, &known(hub).await, &[]);
}

/// Providers that were asked last and have not answered.
pub(crate) async fn silent(hub: &DiagnosticsHub) -> Vec<String> {
    let ledger = hub.ledger.lock().await;
    ledger.silent().map(|(file, provider)| format!("{} ({file})", answer_status::short(provider))).collect()
}

pub(crate) async fn known(hub: &DiagnosticsHub) -> Snapshots {
    hub.ledger.lock().await.snaps()
}

/// Takes answers that came after their deadline, by any collector. New diagnostics in them are reported once, with
/// the next answer. True if there were any.
pub(crate) async fn take_late(hub: &DiagnosticsHub, work: &mut TaskWork) -> bool {
    let mut log = hub.late.lock().await;
    let seen = work.reports.late.seen.unwrap_or_else(|| log.count());
    for report in enter_late(hub, &mut log).await {
        let about = format!("late report of {} on {}", report.provider, report.file);
        let entry = Trace::new(Effect::SetAside, about, "superseded", "the text has changed since");
        work.events.trace(work.step.max(1), entry);
    }
    let since = log.since(seen);
    work.reports.late.seen = Some(log.count());
    drop(log);
    if since.keys.is_empty() {
        return false;
    }
    add_before(work, &since.before);
    arrived(hub, &mut work.reports, &since.keys).await;
    true
}

/// Enters the late answers of the editor into the ledger. Returns those about an older text.
async fn enter_late(hub: &DiagnosticsHub, log: &mut LateLog) -> Vec<Report> {
    let reports = hub.workspace.editor.late().await;
    let mut before = before_unasked(&reports);
    let mut superseded = Vec::new();
    for report in reports {
        let key = (report.file.clone(), report.provider.clone());
        if let Some(unasked) = &report.unasked {
            hub.ledger.lock().await.take_unasked(&report, unasked);
        } else if let Ok(document) = hub.workspace.editor.read(&report.file).await
            && report.version == Some(document.version)
        {
            hub.ledger.lock().await.take(&report, &document.text);
        } else {
            superseded.push(report);
            continue;
        }
        let before = before.remove(&key);
        log.note(key, before);
    }
    superseded
}

/// Adds the state before reports on files that nobody asked about to the start of the task, and to the baseline of an
/// edit that still waits for answers. Returns that state.
pub(crate) fn note_unasked(work: &mut TaskWork, reports: &[Report]) -> Snapshots {
    let before = before_unasked(reports);
    add_before(work, &before);
    before
}

fn add_before(work: &mut TaskWork, before: &Snapshots) {
    add_missing(&mut work.reports.start, before);
    if let Some(pending) = &mut work.reports.pending {
        add_missing(pending, before);
    }
}

/// Takes the reports of providers that an edit's answer did not wait for: new diagnostics in them are reported late.
pub(crate) async fn arrived(hub: &DiagnosticsHub, reports: &mut TaskReports, arrived: &BTreeSet<SnapshotKey>) {
    let Some(pending) = reports.pending.as_mut() else { return };
    let mut before = Snapshots::new();
    for key in arrived {
        before.extend(pending.remove_entry(key));
    }
    if pending.is_empty() {
        reports.pending = None;
    }
    let known = known(hub).await;
    let (now, others): (Snapshots, Snapshots) = known.into_iter().partition(|(key, _)| arrived.contains(key));
    let others: Vec<Diagnostic> = others.values().flat_map(|snap| snap.diagnostics.iter().cloned()).collect();
    let Verdict { new, revealed, .. } = comparison::compared(&before, &now, &[]).await;
    let late = [new, revealed].concat();
    // A diagnostic that another provider reported in time was reported then.
    let late = tokio::task::spawn_blocking(move || dedup::unsaid(late, &others)).await;
    reports.late.found.extend(late.unwrap_or_default());
}
