//! Keeps the quickfix lists of the diagnostics that tasks have introduced.
//!
//! Each list follows the known reports until a later task changes something.

use std::collections::BTreeSet;

use tokio_util::sync::CancellationToken;

use crate::diagnostics::{collect_diagnostics, look_before, outside_look, reached};
use crate::durable::{self, open_store, resumable};
use crate::edit::edit_guard;
use crate::editor::event::{Event, QuickfixEntry};
use crate::events::envelope::TaskEvent;
use crate::events::stream::EventStream;
use crate::plan::work_mode::Mode;
use crate::state::agent_config::Config;
use crate::state::comparison::Verdict;
use crate::state::diagnostics_hub::{DiagnosticsHub, OWN_CANCEL};
use crate::state::edit_baseline::BeforeAndAfter;
use crate::state::edit_service::EditService;
use crate::state::outcome::{ListBaseline, Listed};
use crate::state::pending_report::{self, PendingReport};
use crate::state::render::UNCOVERED;
use crate::state::snapshots::{SnapshotKey, with_created};
use crate::state::standing_places::StandingPlaces;
use crate::state::task::{Task, TaskWork};
use crate::state::task_scope::Scope;
use crate::state::{answer_status, concurrent_edits, fixed_entries, render};
use sextant_base::deadline::Deadline;
use sextant_base::plural::counted;
use sextant_diagnostics::located::LocatedDiagnostic;

/// Most lists that are followed. A program that edits from outside has one for each of its tasks.
const MOST: usize = 8;

/// Shows the list of a task that has changed something, at its end. It replaces the lists of earlier tasks, except
/// those of clients, which are not the user's own.
pub(crate) async fn show(hub: &DiagnosticsHub, work: &mut TaskWork, new: &[LocatedDiagnostic], verdict: &Verdict) {
    if work.journal.is_empty() {
        return;
    }
    let of = if work.intent.client.is_some() { work.journal.task.clone() } else { String::new() };
    let entries: Vec<QuickfixEntry> = new.iter().map(render::entry).collect();
    let known = collect_diagnostics::known(hub).await;
    let start = with_created(&work.reports.start, &work.reports.created, &known);
    let floor = hub.workspace.config.diagnostics.severity_floor;
    let uncovered: Vec<QuickfixEntry> = verdict.revealed_from(floor).map(render::uncovered_entry).collect();
    let fixed = fixed_entries::listed(&verdict.fixed, floor, &start, &known).await;
    let pending = &verdict.pending;
    // A client whose task has introduced and fixed nothing has no list.
    if !of.is_empty() && entries.is_empty() && uncovered.is_empty() && fixed.is_empty() && !work.reports.shown {
        return;
    }
    let listed = Listed {
        of: of.clone(),
        task: work.journal.task.clone(),
        request: work.request.clone(),
        before: ListBaseline {
            start: work.reports.start.clone(),
            brought: work.reports.elsewhere.brought,
            created: work.reports.created.clone(),
            late: work.reports.elsewhere.late.clone(),
        },
        consent: work.intent.consent.clone(),
        pending: pending.clone(),
        entries,
        uncovered,
        fixed,
        is_restored: false,
    };
    emit(&hub.workspace.config, &hub.events, &listed, work.reports.shown);
    work.reports.shown = true;
    let mut lists = hub.listed.lock().await;
    lists.retain(|known| known.of != of);
    lists.push(listed);
    let over = lists.len().saturating_sub(MOST);
    lists.drain(..over);
}

fn emit(config: &Config, events: &EventStream, listed: &Listed, amend: bool) {
    let Listed { of, task, request, pending, entries, uncovered, fixed, .. } = listed;
    let event = Event::Introduced {
        request: request.clone(),
        unknown: pending_report::listed(pending),
        entries: [entries.as_slice(), uncovered].concat(),
        open: config.quickfix.open && of.is_empty(),
        amend,
        of: of.clone(),
        task: task.clone(),
        fixed: fixed.clone(),
    };
    // Another task may be worked on meanwhile.
    events.emit(Some(task), TaskEvent::Shown { event });
}

/// Updates the lists after an answer that came when its task was over. Shows the user the subject of the last one.
pub(crate) async fn amend(edits: &EditService) {
    let mut nobody = Task::new("", Mode::Simple, None, Scope::Workspace);
    let has_come = collect_diagnostics::take_late(&edits.hub, &mut nobody.work).await;
    let is_open = edits.hub.listed.lock().await.iter().any(|known| known.of.is_empty() && !known.pending.is_empty());
    follow(edits).await;
    let counts = |known: &Listed| (known.entries.len(), known.uncovered.len());
    let counts = edits.hub.listed.lock().await.iter().find(|known| known.of.is_empty()).map(counts);
    let Some((new, uncovered)) = counts.filter(|_| is_open && has_come) else { return };
    let again = if uncovered > 0 { format!(", {uncovered} {UNCOVERED}") } else { String::new() };
    let (shown, open) = (counted(new, "new diagnostic") + &again, collect_diagnostics::silent(&edits.hub).await);
    let text = if open.is_empty() {
        format!("a late answer came: {shown} in all")
    } else {
        let so_far = if new + uncovered == 0 { "nothing new" } else { &shown };
        format!("a late answer came: {so_far} so far, not known yet: {}", open.join(", "))
    };
    edits.hub.events.show(Event::Progress { text });
}

/// Compares the lists with the known reports, and shows the changed ones again.
pub(crate) async fn follow(edits: &EditService) {
    let lists = edits.hub.listed.lock().await.clone();
    for listed in lists {
        let Some(now) = as_known(edits, &listed).await else { continue };
        let mut known = edits.hub.listed.lock().await;
        // A task that has ended meanwhile has a list of its own.
        let Some(place) = known.iter_mut().find(|known| known.task == listed.task) else { continue };
        // Another look may have shown the same meanwhile.
        let is_same = now.pending == place.pending
            && (&now.entries, &now.uncovered, &now.fixed) == (&place.entries, &place.uncovered, &place.fixed);
        place.clone_from(&now);
        drop(known);
        if !is_same {
            emit(&edits.workspace.config, &edits.hub.events, &now, true);
        }
    }
}

/// A list by the reports known now; `None` where its task is not known any more.
async fn as_known(edits: &EditService, listed: &Listed) -> Option<Listed> {
    let journal = edits.history.lock().await.iter().find(|known| known.task == listed.task).cloned()?;
    let known = collect_diagnostics::known(&edits.hub).await;
    let (files, floor) = (journal.files(), edits.workspace.config.diagnostics.severity_floor);
    let mut before = listed.before.clone();
    before.brought = outside_look::renew(&edits.hub, &mut before.start, before.brought).await;
    let mut both = BeforeAndAfter::new(with_created(&before.start, &before.created, &known), known.clone())
        .without_others(|file| files.contains(file), |_| true)
        .without_late(&before.late, floor);
    let mut verdict = both.compared(&[]).await;
    concurrent_edits::leave_out(&mut verdict, &journal, &known);
    edit_guard::discount_all(&journal, &listed.consent, &mut verdict);
    let mut fixed = fixed_entries::listed(&verdict.fixed, floor, &both.before, &known).await;
    let mut entries: Vec<QuickfixEntry> = verdict.new_from(floor).map(render::entry).collect();
    let mut uncovered: Vec<QuickfixEntry> = verdict.revealed_from(floor).map(render::uncovered_entry).collect();
    if listed.is_restored {
        let mut places = StandingPlaces::new(&journal, &before.start, &known);
        for list in [&mut entries, &mut uncovered, &mut fixed] {
            list.retain(|entry| places.has(entry));
        }
    }
    let pending = if journal.net().is_empty() { Vec::new() } else { still_open(&edits.hub, &listed.pending).await };
    Some(Listed { before, entries, uncovered, fixed, pending, ..listed.clone() })
}

/// The entries that are still unknown: a silent provider may have answered since.
async fn still_open(hub: &DiagnosticsHub, pending: &[PendingReport]) -> Vec<PendingReport> {
    let ledger = hub.ledger.lock().await;
    let silent: BTreeSet<&SnapshotKey> = ledger.silent().collect();
    let known = ledger.snaps();
    let answers = |entry: &PendingReport, key: &SnapshotKey, file: &String| {
        key.0 == *file && answer_status::short(&key.1) == entry.provider && !silent.contains(key)
    };
    let answered = |entry: &PendingReport| {
        entry.may_be_answered && entry.files.iter().all(|file| known.keys().any(|key| answers(entry, key, file)))
    };
    pending.iter().filter(|entry| !answered(entry)).cloned().collect()
}

/// Lists a task of an earlier process again, from the reports before it that the record has. The list of a later task
/// stays where it has entries.
async fn restore(edits: &EditService, task: &str) {
    let gives_way = |known: &Listed| {
        known.is_restored || known.entries.is_empty() && known.uncovered.is_empty() && known.fixed.is_empty()
    };
    let may_stand = |lists: &[Listed], of: &str| {
        lists.iter().all(|known| known.task != task && (known.of != of || gives_way(known)))
    };
    if !may_stand(&edits.hub.listed.lock().await, "") {
        return;
    }
    let Some(listed) = from_record(edits, task).await else { return };
    let mut lists = edits.hub.listed.lock().await;
    if may_stand(&lists, &listed.of) {
        lists.retain(|known| known.of != listed.of);
        lists.push(listed);
    }
}

/// The list of a task, still empty, with all that a comparison needs; `None` where the record has no reports.
async fn from_record(edits: &EditService, task: &str) -> Option<Listed> {
    let durable = open_store::durable(&edits.store).await.filter(|_| open_store::has_record(&edits.store))?;
    let (run, _) = resumable::kept(&edits.hub.events, &durable, task).await?;
    let (mut task, _) = run.into_task();
    let Task { work, conversation, keep, .. } = &mut task;
    let loaded = durable::load(&edits.store, &edits.workspace.root, &durable, work, conversation, keep).await;
    open_store::or_tell(&edits.hub.events, &durable, loaded).filter(|()| !work.reports.start.is_empty())?;
    let Task { work, .. } = task;
    Some(Listed {
        of: if work.intent.client.is_some() { work.journal.task.clone() } else { String::new() },
        task: work.journal.task,
        request: work.request,
        before: ListBaseline {
            start: work.reports.start,
            brought: None,
            created: work.reports.created,
            late: work.reports.elsewhere.late,
        },
        consent: work.intent.consent,
        pending: Vec::new(),
        entries: Vec::new(),
        uncovered: Vec::new(),
        fixed: Vec::new(),
        is_restored: true,
    })
}

/// Asks for the reports of these files, since taking back or bringing back has changed their texts. It does so only
/// where a list may change.
pub(crate) async fn look_again(edits: &EditService, task: &str, files: &[String]) {
    if !edits.workspace.config.diagnostics.on_edit {
        return;
    }
    restore(edits, task).await;
    let may_change = |known: &Listed| {
        known.task == task || !(known.pending.is_empty() && known.entries.is_empty() && known.uncovered.is_empty())
    };
    if !edits.hub.listed.lock().await.iter().any(may_change) {
        return;
    }
    let looked = async {
        let files: Vec<String> = files.to_vec();
        let documents = reached::documents(edits.workspace.editor.as_ref(), &files).await;
        let bystanders =
            collect_diagnostics::bystanders(edits.workspace.editor.as_ref(), &edits.hub.looked, &files).await;
        let deadline = Deadline::after_ms(edits.workspace.config.diagnostics.timeout_ms);
        look_before::ensure_baseline(&edits.hub, &documents, &bystanders, deadline).await;
        follow(edits).await;
    };
    // An earlier stop of the task does not stop this look.
    OWN_CANCEL.scope(CancellationToken::new(), looked).await;
}
