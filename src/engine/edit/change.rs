//! The one path of an edit: scope, baseline, checkpoint, apply, settle, delta, answer.

use std::collections::BTreeSet;

use crate::diagnostics::{collect_diagnostics, reached, step_verdict};
use crate::edit::look_ahead::{LookedAhead, look_ahead, texts_before};
use crate::edit::{edit_guard, edit_transaction, large_files, permissions, preview, review_before, stale_edit};
use crate::editor::editor_error::EditorError;
use crate::editor::{Applied, Document, Editor};
use crate::plan::work_mode::Mode;
use crate::state::answer_status::Status;
use crate::state::approvals::Approvals;
use crate::state::comparison::{self, Verdict};
use crate::state::diagnostics_hub::{DiagnosticsHub, LookedFiles};
use crate::state::edit_answer::{DEFERRED, EditAnswer};
use crate::state::edit_baseline::{Baseline, BeforeAndAfter, doubt, doubt_stale};
use crate::state::edit_request::{EditOutcome, EditRequest, When};
use crate::state::edit_service::EditService;
use crate::state::in_flight::Making;
use crate::state::journal::{Checkpoint, CheckpointKind, FileChange, Journal};
use crate::state::pending_report::PendingReport;
use crate::state::read_views::SeenTexts;
use crate::state::render::Line;
use crate::state::snapshots::{SnapshotKey, SnapshotStore, Snapshots, add_missing};
use crate::state::task::{TaskReports, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::uncredited_fix::Doubt;
use crate::state::unlooked::Unlooked;
use crate::state::workspace::Workspace;
use crate::state::{in_flight, stopped_compilers, task_scope};
use crate::target;
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_diagnostics::located::Namer;
use sextant_diagnostics::model::Report;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_store::workspace::open_beneath;

/// Carries out an edit of a tool and words the diagnostics that it introduced. A refused edit writes nothing.
pub(crate) async fn edit(
    edits: &EditService,
    work: &mut TaskWork,
    wanted: Vec<EditRequest>,
    notes: Vec<String>,
    when: When,
) -> Result<EditAnswer, Failure> {
    let checks = &edits.workspace.config.diagnostics;
    let changed = change(edits, work, wanted, when, Deadline::after_ms(checks.timeout_ms)).await?;
    let (late, first_seen) =
        (std::mem::take(&mut work.reports.late.found), std::mem::take(&mut work.reports.elsewhere.first_seen));
    let worth = first_seen.iter().filter(|found| found.diagnostic.severity <= checks.severity_floor);
    let worth: Vec<String> = worth.map(|found| Line::of(found).text("")).collect();
    let mut notes = notes;
    if !worth.is_empty() {
        notes.push(format!("first looked at after an earlier edit, may be older: {}", worth.join("; ")));
    }
    Ok(EditAnswer::of(&changed, checks, &late, notes))
}

/// Carries out an edit and returns the diagnostics that it introduced. A refused edit writes nothing.
pub(crate) async fn change(
    edits: &EditService,
    work: &mut TaskWork,
    wanted: Vec<EditRequest>,
    when: When,
    deadline: Deadline,
) -> Result<EditOutcome, Failure> {
    let reach = work.scope.clone();
    change_within(edits, work, &reach, wanted, when, deadline).await
}

/// The same for an edit whose reach is not the scope of its task.
pub(crate) async fn change_within(
    edits: &EditService,
    work: &mut TaskWork,
    reach: &Scope,
    wanted: Vec<EditRequest>,
    when: When,
    deadline: Deadline,
) -> Result<EditOutcome, Failure> {
    for want in &wanted {
        target::refuse_large(want.path(), want.bytes())?;
        reach.check(want)?;
    }
    permit(&edits.hub, &edits.approvals, work, &wanted).await?;
    let doubts = edit_guard::guard(&edits.hub, &edits.approvals, work, &wanted).await?;
    review_before::confirm(&edits.hub, &edits.approvals, work, &wanted).await?;
    let (mut turn, mut deadline) = match edits.making.turn.try_lock() {
        Ok(turn) => (turn, deadline),
        Err(_) => (edits.making.turn.lock().await, deadline.restarted()),
    };
    collect_diagnostics::take_late(&edits.hub, work).await;
    let (mut wanted, mut notes) = (wanted, Vec::new());
    for tried in 0..stale_edit::TRIES {
        let known = work.reports.begun();
        match attempt(edits, work, &wanted, &doubts, when, deadline).await {
            // The file was changed between its reading and this edit.
            Err(EditorError::Stale(path)) => {
                work.reports.begin_again(known);
                if tried > 0 {
                    // Edits of other files go on meanwhile.
                    drop(turn);
                    stale_edit::rest(edits.workspace.editor.as_ref(), &path).await;
                    turn = edits.making.turn.lock().await;
                }
                // A deferred edit is answered against the text before its first edit.
                let put_off = work.reports.deferred.as_ref().is_some_and(|burst| burst.changes(&path));
                let moved =
                    if put_off { None } else { stale_edit::moved(edits.workspace.editor.as_ref(), &wanted).await };
                let Some((moved, changed)) = moved else {
                    return Err(EditorError::Stale(path).into());
                };
                wanted = moved;
                notes.extend(changed);
                for want in &wanted {
                    reach.check(want)?;
                }
                deadline = deadline.restarted();
            }
            made => {
                let mut outcome = made?;
                if !notes.is_empty() {
                    wanted.iter().for_each(|want| mark_read(&work.journal, &mut work.seen, want.path()));
                }
                notes.append(&mut outcome.notes);
                return Ok(EditOutcome { notes, ..outcome });
            }
        }
    }
    let busy = wanted.first().map(|want| want.path().to_owned()).unwrap_or_default();
    Err(EditorError::Stale(busy).into())
}

/// Names the files that an answer leaves out.
fn left_out(looked: &LookedFiles, wanted: &[EditRequest]) -> Vec<String> {
    let edited: Vec<&str> = wanted.iter().map(EditRequest::path).collect();
    let typed = lock(&looked.typed).others(&edited);
    if typed.is_empty() { Vec::new() } else { vec![format!("{TYPED}: {}", typed.join(", "))] }
}

/// The open files in reach of an edit that its answer leaves out.
fn typed_in_reach(looked: &LookedFiles, known: &Baseline) -> Vec<PendingReport> {
    let typed = lock(&looked.typed).others(&[]).into_iter().filter(|file| known.open.contains(file));
    typed.map(|file| PendingReport::new(format!("{file} (somebody types in it)"))).collect()
}

const UNKEPT: &str = "this edit could not be recorded: it cannot be undone once this session is over";

const TYPED: &str = "not looked at, since somebody types in them";

/// Records the written texts as ours.
fn note_own(looked: &LookedFiles, applied: &[Applied]) {
    let mut typed = lock(&looked.typed);
    applied.iter().filter_map(|done| done.document.as_ref()).for_each(|now| typed.edited(now));
}

/// Makes an edit of the texts that it was computed on.
///
/// # Errors
/// The editor refuses it: nothing was written.
async fn attempt(
    edits: &EditService,
    work: &mut TaskWork,
    wanted: &[EditRequest],
    doubts: &[Doubt],
    when: When,
    deadline: Deadline,
) -> Result<EditOutcome, EditorError> {
    let checked = edits.workspace.config.diagnostics.on_edit;
    let in_burst = work.reports.deferred.is_some();
    let mut burst = work.reports.deferred.clone().unwrap_or_default();
    let (unheard, spared) = (Unlooked::default(), Vec::new());
    let mut ahead = LookedAhead { bystanders: Vec::new(), unheard, spared, deadline };
    if checked {
        let in_burst = in_burst && !burst.lacks(wanted);
        ahead = look_ahead(edits, &mut work.reports, wanted, &mut burst, in_burst, deadline).await;
    }
    let LookedAhead { bystanders, unheard, spared, deadline } = ahead;
    // From this edit on an answer is no longer about the step before it alone.
    step_verdict::renew_last(edits, work).await;
    remember(work, wanted, &mut burst, in_burst, &collect_diagnostics::known(&edits.hub).await);
    note_start(&edits.making, work, wanted);
    let before = burst.snaps.clone();
    let symbols: Vec<String> = wanted.iter().flat_map(task_scope::touched).collect();
    let imports = work.scope.imports_changed(wanted);
    let renamed = work.scope.follow(wanted);
    let change = to_be_made(&edits.store, &edits.workspace, work, wanted, &symbols).await;
    // No wait may come between its end and the journal: a stop interrupts at any wait.
    let in_flight::Made { checkpoint, applied } = edit_transaction::make(edits, change).await?;
    note_own(&edits.hub.looked, &applied);
    work.scope = renamed;
    let unkept = edits.store.is_kept() && checkpoint.record.is_none();
    let checkpoint = enter(work, checkpoint);
    work.reports.elsewhere.reached.extend(burst.reached.iter().cloned());
    [&burst.unlooked, &unheard].into_iter().for_each(|some| work.reports.elsewhere.unlooked.extend(some));
    work.intent.consent.doubts.extend_from_slice(doubts);
    let verdict = match when {
        _ if !checked => Verdict::without(Status::Off),
        When::Now => {
            let now: Vec<Document> = applied.iter().filter_map(|done| done.document.clone()).collect();
            let reports = collect_diagnostics::look(&edits.hub, &now, &bystanders, deadline).await;
            judge(&edits.hub, work, &burst, &reports).await
        }
        When::Defer => {
            work.reports.deferred = Some(burst);
            Verdict { pending: vec![PendingReport::new(DEFERRED)], to_come: true, ..Verdict::without(Status::Partial) }
        }
    };
    let (mut notes, created) = (left_out(&edits.hub.looked, wanted), work.reports.created.clone());
    notes.extend(unkept.then(|| UNKEPT.to_owned()).into_iter().chain(large_files::words(&spared)));
    Ok(EditOutcome { checkpoint, applied, symbols, imports, notes, verdict, created, before })
}

/// Turns an edit refused without the user's word into a question at the end of its step. The question shows the
/// diagnostics that the edit would introduce.
async fn permit(
    hub: &DiagnosticsHub,
    approvals: &Approvals,
    work: &mut TaskWork,
    wanted: &[EditRequest],
) -> Result<(), Failure> {
    let permitted = permissions::permit(hub.needs_providers, work, wanted);
    if permitted.is_err() && work.mode != Mode::Simple && !work.intent.consent.withheld.is_empty() {
        work.intent.consent.foreseen = preview::foreseen(hub, approvals, wanted).await;
    }
    permitted
}

async fn to_be_made(
    store: &TaskStore,
    workspace: &Workspace,
    work: &TaskWork,
    wanted: &[EditRequest],
    symbols: &[String],
) -> in_flight::PendingChange {
    let files = files_before(workspace.editor.as_ref(), &work.journal, wanted).await;
    let made = wanted.iter().filter(|want| matches!(want, EditRequest::Create { .. }));
    let folders: BTreeSet<String> =
        made.flat_map(|want| open_beneath::missing_folders(workspace.root.path(), want.path())).collect();
    let checkpoint = checkpoint(store, work, files, symbols);
    in_flight::PendingChange {
        task: work.journal.task.clone(),
        request: work.journal.request.clone(),
        checkpoint: Checkpoint { folders: folders.into_iter().collect(), once: work.intent.once.clone(), ..checkpoint },
        edits: wanted.iter().cloned().map(EditRequest::into_edit).collect(),
        takes_back: Vec::new(),
        restores_marks: false,
    }
}

/// Enters a finished change into its task, and returns its name.
fn enter(work: &mut TaskWork, checkpoint: Checkpoint) -> String {
    let id = checkpoint.id.clone();
    for file in &checkpoint.files {
        if let Some(text) = &file.after {
            work.seen.edited(&file.path, file.before.as_deref().unwrap_or_default(), text);
        }
    }
    work.journal.checkpoints.push(checkpoint);
    work.reports.deferred = None;
    id
}

/// Records that the answer of an edit shows the changes that others made in a file before it.
pub(crate) fn mark_read(journal: &Journal, seen: &mut SeenTexts, path: &str) {
    let mut changes = journal.checkpoints.iter().rev().flat_map(|checkpoint| &checkpoint.files);
    if let Some(text) = changes.find(|change| change.path == path).and_then(|change| change.after.clone()) {
        seen.whole(path, text);
    }
}

/// Settles a burst of edits whose answers were deferred; `None` where there is no burst.
pub(crate) async fn settle_deferred(hub: &DiagnosticsHub, work: &mut TaskWork) -> Option<Verdict> {
    let before = work.reports.deferred.take()?;
    let longer = reached::longer(before.reached.len());
    let deadline = Deadline::after_ms(hub.workspace.config.diagnostics.timeout_ms + longer);
    let files: Vec<String> = work.journal.net().into_iter().map(|change| change.path).collect();
    let documents = reached::documents(hub.workspace.editor.as_ref(), &files).await;
    let mut bystanders = collect_diagnostics::affected(hub.workspace.editor.as_ref(), &hub.looked, &files).await;
    bystanders.extend(reached::others(hub.workspace.editor.as_ref(), &hub.looked, &before.reached, &files).await);
    let reports = collect_diagnostics::look(hub, &documents, &bystanders, deadline).await;
    Some(judge(hub, work, &before, &reports).await)
}

/// Adds the state right before an edit to its baseline, and to that of its task.
pub(super) fn remember(
    work: &mut TaskWork,
    wanted: &[EditRequest],
    burst: &mut Baseline,
    in_burst: bool,
    known: &Snapshots,
) {
    wanted.iter().for_each(|want| burst.begin(want, known, in_burst));
    burst.take(known, in_burst);
    for document in texts_before(wanted).iter().filter(|document| !work.journal.has_changed(&document.path)) {
        // Reports on another text than the task's first edit finds are no baseline of it.
        burst.drop_older(&document.path, &document.text);
    }
    remember_created(&mut work.reports, wanted, &mut burst.snaps);
    let known_late = work.reports.elsewhere.late.clone();
    work.remember_first(wanted, &burst.snaps, !work.journal.is_empty());
    let mut namer = Namer::default();
    for key in work.reports.elsewhere.late.difference(&known_late) {
        let Some(snap) = burst.snaps.get(key) else { continue };
        let named = snap.diagnostics.iter().map(|found| namer.name(found, |_| snap.text.as_deref()));
        work.reports.elsewhere.first_seen.extend(named);
    }
}

/// Lets a request in the meantime compare with the start of the task.
fn note_start(making: &Making, work: &TaskWork, wanted: &[EditRequest]) {
    if work.intent.client.is_none() {
        let (start, created) = (work.reports.start.clone(), work.reports.created.clone());
        let files = work.journal.files().into_iter().chain(wanted.iter().map(|want| want.path().to_owned())).collect();
        let name = work.journal.task.clone();
        *lock(&making.running) = in_flight::RunningStart { task: name, files, start, created };
    }
}

/// The files of an edit as they are, with the texts that it will give them.
pub(crate) async fn files_before(editor: &dyn Editor, journal: &Journal, wanted: &[EditRequest]) -> Vec<FileChange> {
    let mut files = Vec::new();
    for want in wanted {
        let path = want.path().to_owned();
        let before = want.document().map(|document| journal.text_after(&path, &document.text));
        let after = want.after().cloned();
        let marks_before = editor.marks(&path).await;
        let marks_after = marks_before.clone();
        files.push(FileChange { path, before, after, marks_before, marks_after });
    }
    files
}

pub(crate) fn checkpoint(store: &TaskStore, work: &TaskWork, files: Vec<FileChange>, symbols: &[String]) -> Checkpoint {
    let (id, symbols) = (store.next_checkpoint(), symbols.to_vec());
    Checkpoint { id, kind: CheckpointKind::Edit, step: work.step_number(), files, symbols, ..Checkpoint::default() }
}

fn remember_created(reports: &mut TaskReports, wanted: &[EditRequest], before: &mut Snapshots) {
    let providers: BTreeSet<String> = before.keys().map(|(_, provider)| provider.clone()).collect();
    for want in wanted {
        if let EditRequest::Create { path, .. } = want {
            reports.created.insert(path.clone());
            before.extend(SnapshotStore::absent(path, providers.iter().cloned()));
        }
    }
}

pub(super) async fn judge(hub: &DiagnosticsHub, work: &mut TaskWork, known: &Baseline, reports: &[Report]) -> Verdict {
    let open: BTreeSet<SnapshotKey> = reports
        .iter()
        .filter(|report| !report.freshness.is_fresh())
        .map(|report| (report.file.clone(), report.provider.clone()))
        .collect();
    for report in reports.iter().filter(|report| !report.freshness.is_fresh()) {
        let about = format!("report of {} on {}", report.provider, report.file);
        let why = report.note.as_deref().unwrap_or("it is not known to be of the text after the edit");
        work.events.trace(work.step.max(1), Trace::new(Effect::SetAside, about, "not_fresh", why));
    }
    let after = collect_diagnostics::known(hub).await.into_iter().filter(|(key, _)| !open.contains(key)).collect();
    let mut before = known.snaps.clone();
    add_missing(&mut before, &collect_diagnostics::note_unasked(work, reports));
    let is_unasked = |file: &str| reports.iter().any(|report| report.file == file && report.unasked.is_some());
    let in_reach = |file: &str| known.open.contains(file) || known.reached.contains(file) || is_unasked(file);
    let mut both = BeforeAndAfter::new(before, after)
        .without_others(|file| known.changes(file), in_reach)
        .without_late(&known.late, hub.workspace.config.diagnostics.severity_floor);
    for (file, provider) in both.after.keys() {
        if work.reports.created.contains(file) && !both.before.contains_key(&(file.clone(), provider.clone())) {
            both.before.extend(SnapshotStore::absent(file, [provider.clone()]));
        }
    }
    let mut verdict = both.compared(reports).await;
    work.reports.unhidden.take(&both.before);
    let makes_a_file = known.edited().iter().any(|file| work.reports.created.contains(file));
    work.reports.unhidden.tell_apart(&mut verdict, &both.after, makes_a_file).await;
    let unheard = reached::unheard(&known.reached, reports);
    doubt(&mut verdict, [known.unlooked.pending(), unheard, typed_in_reach(&hub.looked, known)].concat());
    doubt_stale(&mut verdict, &known.stale);
    let is_asked = |file: &str| known.changes(file) || known.open.contains(file) || known.reached.contains(file);
    let asked = reports.iter().filter(|report| is_asked(&report.file));
    let asked: BTreeSet<SnapshotKey> = asked.map(|report| (report.file.clone(), report.provider.clone())).collect();
    let floor = hub.workspace.config.diagnostics.severity_floor;
    doubt(&mut verdict, stopped_compilers::unchecked(&both.before, &both.after, asked.difference(&open), floor));
    work.reports.elsewhere.asked.extend(asked);
    if !reports.is_empty() {
        comparison::doubt_coverage(&mut verdict, &known.edited(), &both.after, reports);
    }
    edit_guard::discount(&mut work.intent.consent, &mut verdict);
    // Only these may still get an answer; the others were compared now.
    both.before.retain(|key, _| open.contains(key));
    let is_now = |file: &str| known.changes(file) || reports.iter().any(|report| report.file == file);
    work.reports.keep_open(both.before, verdict.to_come, is_now);
    verdict
}
