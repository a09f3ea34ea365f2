//! The order of undo and redo: the tasks that changed something, and the undos of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::durable::change_record::{self, EDIT, ROLLBACK, RecordGap};
use crate::durable::{self, open_store, was_removed};
use crate::state::durable::Durable;
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, CheckpointKind, Journal};
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;
use sextant_base::hint::{Hint, HintCode};
use sextant_store::memory::checkpoints::changes::ChangeInfo;
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::store::Memory;
use sextant_store::memory::tasks::TaskState;

/// Entries of this process alone sort behind all stored ones.
const UNKEPT: i64 = i64::MAX / 2;

/// Tasks that stay in the process though the memory file has them: those in work.
const HERE: usize = 8;

/// A task that changed something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownTask {
    pub(crate) task: String,
    pub(crate) request: String,
    /// Its last change; larger is later.
    pub(crate) last: i64,
    pub(crate) place: UndoPlace,
    pub(crate) by: Maker,
}

/// The maker of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// The user of this session.
    Here,
    /// The user of a session that is over.
    Earlier,
    /// A client of this session or of another one.
    Client(String),
    /// The user of another session, which is open.
    Session,
}

/// The place of a task's texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UndoPlace {
    Kept,
    /// In this process alone.
    Here(Box<Journal>),
    /// They were removed to make room.
    Removed,
}

/// An edit or an undo, without its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UndoRow {
    pub(crate) at: i64,
    pub(crate) task: String,
    pub(crate) kind: CheckpointKind,
    pub(crate) files: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stack {
    /// The newest first.
    pub(crate) tasks: Vec<KnownTask>,
    /// The newest first.
    pub(crate) rows: Vec<UndoRow>,
    /// Changes of other processes that could not be stored.
    pub(crate) gaps: Vec<RecordGap>,
    /// Requests that another process works on, and that have changed something.
    pub(crate) running: Vec<String>,
    /// Task and request of the last request, whatever it changed.
    pub(crate) asked: Option<(String, String)>,
}

/// Enters the journal of a task, over the older entry.
pub(crate) fn note(history: &mut Vec<Journal>, journal: &Journal) {
    match history.iter_mut().find(|known| known.task == journal.task) {
        Some(known) => known.clone_from(journal),
        None => history.push(journal.clone()),
    }
}

/// Forgets the oldest tasks that the memory file has as well: their texts would fill the process over time.
pub(crate) fn bound(history: &mut Vec<Journal>) {
    let kept = |journal: &Journal| journal.checkpoints.iter().all(|row| row.files.is_empty() || row.record.is_some());
    let mut too_many = history.iter().filter(|journal| kept(journal)).count().saturating_sub(HERE);
    history.retain(|journal| {
        let goes = too_many > 0 && kept(journal);
        too_many -= usize::from(goes);
        !goes
    });
}

/// The position of a row among all others.
pub(crate) fn position(row: &Checkpoint) -> i64 {
    let number = || row.id.strip_prefix('c').and_then(|number| number.parse::<i64>().ok()).unwrap_or(0);
    row.record.unwrap_or_else(|| UNKEPT.saturating_add(number()))
}

impl Stack {
    /// The undos that can be redone, the newest first: for each file only those behind its last edit.
    pub(crate) fn redoable(&self) -> impl Iterator<Item = &UndoRow> {
        self.rows.iter().filter(|row| {
            row.kind == CheckpointKind::Rollback && !row.files.is_empty() && self.edited_since(row).is_none()
        })
    }

    /// The edit that came after an undo in one of its files.
    pub(crate) fn edited_since(&self, undo: &UndoRow) -> Option<&UndoRow> {
        let same =
            |row: &&UndoRow| row.kind == CheckpointKind::Edit && row.files.iter().any(|file| undo.files.contains(file));
        self.rows.iter().take_while(|row| row.at > undo.at).find(same)
    }

    pub(crate) fn find(&self, task: &str) -> Option<&KnownTask> {
        self.tasks.iter().find(|known| known.task == task)
    }
}

/// The stored rows, read in one go.
struct Read {
    tasks: Vec<TaskState>,
    /// The requests of tasks whose state does not hold them.
    requests: BTreeMap<String, String>,
    changes: Vec<ChangeInfo>,
    removed: Vec<(String, i64)>,
    gaps: Vec<RecordGap>,
}

fn read(memory: &Memory, session: &str) -> Result<Read> {
    let tasks = memory.tasks(session)?;
    let changes = memory.changes(session, &[EDIT, ROLLBACK])?;
    let mut removed = Vec::new();
    for kept in &tasks {
        if changes.iter().all(|change| change.task != kept.task)
            && let Some(last) = was_removed(memory, session, &kept.task)?
        {
            removed.push((kept.task.clone(), last));
        }
    }
    let has_request = |task: &str| tasks.iter().any(|kept| kept.task == task && request(kept).is_some());
    let requests = if changes.iter().all(|change| has_request(&change.task)) {
        BTreeMap::new()
    } else {
        memory.traced_tasks(session, usize::MAX)?.into_iter().map(|task| (task.task, task.request)).collect()
    };
    let gaps = change_record::gaps(memory, session)?;
    Ok(Read { tasks, requests, changes, removed, gaps })
}

/// The request of a task, from its state. The checkpoints stand without one: a state that cannot be read ends no undo.
fn request(kept: &TaskState) -> Option<String> {
    kept.state["request"].as_str().map(str::to_owned)
}

fn maker(durable: &Durable, kept: &TaskState) -> Maker {
    let text = |name: &str| kept.state[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let process = text("process").unwrap_or_default();
    let is_here = process == durable.owner().name();
    match text("client") {
        Some(client) => Maker::Client(client),
        None if is_here => Maker::Here,
        None if !process.is_empty() && durable.owner().is_alive(&process) => Maker::Session,
        None => Maker::Earlier,
    }
}

/// Stands in for a request that was not stored.
const UNKNOWN: &str = "an earlier request";

/// The stored stack; tasks that a living process works on are left to it.
fn kept(durable: &Durable, read: Read) -> Stack {
    let me = durable.owner().name();
    let free =
        |kept: &TaskState| kept.owner.as_deref().is_none_or(|owner| owner == me || !durable.owner().is_alive(owner));
    let mut stack = Stack::default();
    let (mut requests, mut busy) = (read.requests, BTreeSet::new());
    let makers: BTreeMap<&str, Maker> =
        read.tasks.iter().map(|kept| (kept.task.as_str(), maker(durable, kept))).collect();
    let by = |task: &str| makers.get(task).cloned().unwrap_or(Maker::Earlier);
    for kept in &read.tasks {
        if !free(kept) {
            busy.insert(kept.task.as_str());
        } else if let Some(request) = request(kept) {
            stack.asked.get_or_insert_with(|| (kept.task.clone(), request.clone()));
            requests.insert(kept.task.clone(), request);
        }
    }
    for change in read.changes {
        if busy.contains(change.task.as_str()) {
            let own = read.tasks.iter().find(|kept| kept.task == change.task).and_then(request);
            stack.running.extend(own.filter(|request| !stack.running.contains(request)));
            continue;
        }
        let request = requests.entry(change.task.clone()).or_insert_with(|| UNKNOWN.to_owned());
        let kind = if change.reason == EDIT { CheckpointKind::Edit } else { CheckpointKind::Rollback };
        if kind == CheckpointKind::Edit && stack.find(&change.task).is_none() {
            let (task, request, by) = (change.task.clone(), request.clone(), by(&change.task));
            stack.tasks.push(KnownTask { task, request, last: change.id, place: UndoPlace::Kept, by });
        }
        stack.rows.push(UndoRow { at: change.id, task: change.task, kind, files: change.files });
    }
    stack.gaps = read.gaps.into_iter().filter(|gap| !busy.contains(gap.task.as_str())).collect();
    for (task, last) in read.removed {
        if let Some(request) = requests.get(&task) {
            let (request, by) = (request.clone(), by(&task));
            stack.tasks.push(KnownTask { request, task, last, place: UndoPlace::Removed, by });
        }
    }
    stack
}

/// The known undos here, from memory and from this process.
pub(crate) async fn stack(edits: &EditService) -> Stack {
    let mut stack = Stack::default();
    if open_store::has_record(&edits.store)
        && let Some(durable) = open_store::durable(&edits.store).await
    {
        let name = durable.session();
        let all = durable.run(move |memory| read(memory, &name)).await;
        if let Some(all) = open_store::or_tell(&edits.hub.events, &durable, all) {
            stack = kept(&durable, all);
        }
    }
    for journal in edits.history.lock().await.iter().filter(|journal| !journal.is_empty()) {
        stack.gaps.retain(|gap| gap.task != journal.task || journal.checkpoints.iter().all(|row| row.id != gap.edit));
        let unkept = |row: &Checkpoint| !row.files.is_empty() && row.record.is_none();
        if stack.find(&journal.task).is_some() && !journal.checkpoints.iter().any(unkept) {
            continue;
        }
        stack.tasks.retain(|known| known.task != journal.task);
        stack.rows.retain(|row| row.task != journal.task);
        // A stored task that is missing now was removed or forgotten, and is no longer ours to use.
        if journal.checkpoints.iter().all(|row| !unkept(row)) {
            continue;
        }
        let (task, request) = (journal.task.clone(), journal.request.clone());
        let last =
            journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit).map(position).max().unwrap_or(0);
        stack.rows.extend(journal.checkpoints.iter().filter(|row| row.kind != CheckpointKind::Replan).map(|row| {
            UndoRow {
                at: position(row),
                task: task.clone(),
                kind: row.kind,
                files: row.files.iter().map(|file| file.path.clone()).collect(),
            }
        }));
        let place = UndoPlace::Here(Box::new(journal.clone()));
        stack.tasks.push(KnownTask { task, request, last, place, by: Maker::Here });
    }
    stack.tasks.sort_by_key(|known| std::cmp::Reverse(known.last));
    stack.rows.sort_by_key(|row| std::cmp::Reverse(row.at));
    stack.asked = edits.store.last_asked().or(stack.asked);
    stack
}

/// The journal of a task.
///
/// # Errors
/// Its texts were removed to make room for others, or cannot be read.
pub(crate) async fn journal(store: &TaskStore, known: &KnownTask) -> std::result::Result<Journal, Failure> {
    match &known.place {
        UndoPlace::Here(journal) => return Ok(journal.as_ref().clone()),
        UndoPlace::Removed => {
            let limit = store.config.memory.checkpoints_mb;
            return Err(Failure::user(
                format!("“{}” cannot be undone any more: what it changed was removed to make room", known.request),
                format!("checkpoints may take {limit} MB here; `memory.checkpoints_mb` sets it"),
            ));
        }
        UndoPlace::Kept => {}
    }
    let unreadable = || {
        let message = format!("what “{}” changed cannot be read", known.request);
        Failure::new(
            sextant_base::failure::FailureKind::Internal,
            message,
            Hint::from("try again").and(HintCode::Memory),
        )
    };
    let durable = open_store::durable(store).await.ok_or_else(unreadable)?;
    let loaded = durable::load_journal(store, &durable, &known.task, &known.request).await;
    open_store::or_tell(&store.events, &durable, loaded).ok_or_else(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: i64, kind: CheckpointKind, files: &[&str]) -> UndoRow {
        UndoRow { at, task: format!("t{at}"), kind, files: files.iter().map(|file| (*file).to_owned()).collect() }
    }

    #[test]
    fn an_edit_after_an_undo_takes_the_way_back_of_its_own_files_alone() {
        let rows = vec![
            row(9, CheckpointKind::Rollback, &["b.py"]),
            row(8, CheckpointKind::Edit, &["a.py"]),
            row(7, CheckpointKind::Rollback, &["c.py"]),
            row(6, CheckpointKind::Rollback, &["a.py", "b.py"]),
            row(5, CheckpointKind::Edit, &["a.py", "b.py", "c.py"]),
        ];
        let stack = Stack { rows, ..Stack::default() };
        assert_eq!(stack.redoable().map(|row| row.at).collect::<Vec<_>>(), [9, 7]);
        assert_eq!(stack.edited_since(&row(6, CheckpointKind::Rollback, &["a.py"])).map(|row| row.at), Some(8));
    }
}
