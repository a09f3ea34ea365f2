//! A change of files as it is stored: the texts before and after it, the marks, and its owner.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::durable::open_store;
use crate::durable::task_state::RunState;
use crate::editor::Marks;
use crate::editor::editor_error::EditorError;
use crate::events::stream::EventStream;
use crate::plan::Plan;
use crate::state::durable::Durable;
use crate::state::journal::{Checkpoint, CheckpointKind, FileChange, RolledBack};
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_base::lock::lock;
use sextant_store::memory::checkpoints::{CheckpointFile, FileState, NewCheckpoint, StoredCheckpoint as Kept};
use sextant_store::memory::memory_error::{MemoryError, Result};
use sextant_store::memory::store::Memory;

/// The time and the interval in which the end of a change is tried again where another process holds the file. Without
/// it the record of the task has a gap, and no other process can undo it.
const CLOSES: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(100);

/// The reason to store a checkpoint, as the file names it. Those of a journal are the first three.
pub(crate) const EDIT: &str = "edit";
const REPLAN: &str = "replan";
pub(crate) const ROLLBACK: &str = "rollback";
/// A change that takes checkpoints back and disappears with them.
pub(crate) const REVERSAL: &str = "reversal";
/// A plan was made: the state alone.
const PLAN: &str = "plan";

/// A change that could not be stored: its files are named, without a text.
const GAP: &str = "gap";

/// A change that was made and could not be stored, so that only its own process can undo it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordGap {
    pub task: String,
    /// The edit's name.
    pub edit: String,
    pub step: usize,
    pub files: Vec<String>,
}

/// The most gaps that are named.
const GAPS: usize = 20;

/// The gaps in a session's record, the newest first. One that cannot be read is skipped. Blocks.
pub(crate) fn gaps(memory: &Memory, session: &str) -> Result<Vec<RecordGap>> {
    let mut found = Vec::new();
    for change in memory.changes(session, &[GAP])?.into_iter().take(GAPS) {
        let Ok(kept) = memory.checkpoint(change.id, now_ms()) else { continue };
        let (checkpoint, row) = read(kept);
        let files = row.marks.into_keys().collect();
        found.push(RecordGap { task: change.task, edit: row.name, step: checkpoint.step, files });
    }
    Ok(found)
}

/// The data stored beside the texts. Grows by fields with defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CheckpointRow {
    pub name: String,
    pub kind: CheckpointKind,
    pub symbols: Vec<String>,
    /// For each path the marks before and after.
    pub marks: BTreeMap<String, (Marks, Marks)>,
    pub plan: Option<Plan>,
    /// For a rollback: the hunks that it has undone.
    pub takes: Vec<RolledBack>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Checkpoints that this change takes back.
    pub reverses: Vec<i64>,
    /// For a checkpoint without files: the task's state there.
    pub run: Option<RunState>,
}

impl CheckpointRow {
    fn of(checkpoint: &Checkpoint, reverses: &[i64]) -> Self {
        let marks = |file: &FileChange| (file.path.clone(), (file.marks_before.clone(), file.marks_after.clone()));
        Self {
            name: checkpoint.id.clone(),
            kind: checkpoint.kind,
            symbols: checkpoint.symbols.clone(),
            marks: checkpoint.files.iter().map(marks).collect(),
            plan: checkpoint.plan.clone(),
            takes: checkpoint.takes.clone(),
            folders: checkpoint.folders.clone(),
            reverses: reverses.to_vec(),
            run: None,
        }
    }
}

fn state(text: Option<&str>) -> FileState {
    text.map_or(FileState::Absent, |text| FileState::Bytes(text.as_bytes().to_vec()))
}

fn text(state: FileState) -> Option<Arc<str>> {
    match state {
        FileState::Absent => None,
        // Only texts are stored; other bytes would be a file that somebody else has written.
        FileState::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into()),
    }
}

/// A stored checkpoint as the journal has it. A row that cannot be read keeps its texts.
pub(crate) fn read(kept: Kept) -> (Checkpoint, CheckpointRow) {
    let row: CheckpointRow = serde_json::from_value(kept.state).unwrap_or_default();
    let file = |file: CheckpointFile| {
        let (marks_before, marks_after) = row.marks.get(&file.path).cloned().unwrap_or_default();
        let (before, after) = (text(file.before), file.after.and_then(text));
        FileChange { path: file.path, before, after, marks_before, marks_after }
    };
    let checkpoint = Checkpoint {
        id: row.name.clone(),
        kind: row.kind,
        step: usize::try_from(kept.info.step).unwrap_or(0),
        files: kept.files.into_iter().map(file).collect(),
        symbols: row.symbols.clone(),
        plan: row.plan.clone(),
        takes: row.takes.clone(),
        folders: row.folders.clone(),
        once: kept.info.once.clone(),
        record: Some(kept.info.id),
    };
    (checkpoint, row)
}

/// Bytes of the texts that a task's journal is read with.
const TEXTS: usize = 1 << 30;

/// The checkpoints of a task's journal, oldest first. Blocks.
pub(crate) fn read_all(memory: &Memory, session: &str, task: &str) -> Result<Vec<Checkpoint>> {
    let open: Vec<i64> = memory.open_checkpoints()?.into_iter().map(|(id, _)| id).collect();
    let mut found: Vec<Checkpoint> = Vec::new();
    let mut bytes = 0;
    // The last text of each file: the next change of it begins with the same, and shares it.
    let mut last: BTreeMap<String, Arc<str>> = BTreeMap::new();
    for info in memory.checkpoints(session, Some(task))? {
        if [EDIT, REPLAN, ROLLBACK].contains(&info.reason.as_str()) && !open.contains(&info.id) {
            let (mut checkpoint, _) = read(memory.checkpoint(info.id, now_ms())?);
            for file in &mut checkpoint.files {
                match (last.get(&file.path), &file.before) {
                    (Some(known), Some(before)) if known == before => file.before = Some(Arc::clone(known)),
                    (_, before) => bytes += before.as_ref().map_or(0, |text| text.len()),
                }
                if let Some(after) = &file.after {
                    bytes += after.len();
                    last.insert(file.path.clone(), Arc::clone(after));
                }
            }
            if bytes > TEXTS {
                let problem = format!("its texts are more than the {} MB that are read", TEXTS >> 20);
                return Err(MemoryError::Invalid { field: "task", problem });
            }
            found.push(checkpoint);
        }
    }
    Ok(found)
}

impl Durable {
    /// Opens a change that is about to be made; its files name the text that is wanted afterwards. Returns its number.
    pub(crate) async fn open_change(
        &self,
        events: &EventStream,
        task: &str,
        checkpoint: &Checkpoint,
        reverses: &[i64],
    ) -> Option<i64> {
        self.keep_gaps().await;
        let reason = match checkpoint.kind {
            CheckpointKind::Rollback => ROLLBACK,
            _ if !reverses.is_empty() => REVERSAL,
            _ => EDIT,
        };
        let files = checkpoint.files.iter().map(|file| CheckpointFile {
            path: file.path.clone(),
            before: state(file.before.as_deref()),
            after: Some(state(file.after.as_deref())),
        });
        let new = NewCheckpoint {
            files: files.collect(),
            ..empty(self, task, checkpoint, reason, &CheckpointRow::of(checkpoint, reverses))
        };
        let owner = self.owner().name().to_owned();
        let kept = self.run(move |memory| memory.open_checkpoint(new, &owner)).await;
        self.or_tell(events, kept)
    }

    /// Names a finished edit that could not be stored: now, or before the next change that is stored.
    pub(crate) async fn keep_gap(&self, task: &str, checkpoint: &Checkpoint, reverses: &[i64]) {
        let is_edit = checkpoint.kind == CheckpointKind::Edit && reverses.is_empty();
        if checkpoint.record.is_some() || !is_edit {
            return;
        }
        let mut row = CheckpointRow::of(checkpoint, &[]);
        row.marks.values_mut().for_each(|marks| *marks = (Marks::Null, Marks::Null));
        // The name of a call belongs to a change whose files are known.
        let new = NewCheckpoint { once: None, ..empty(self, task, checkpoint, GAP, &row) };
        lock(&self.gaps).push(new);
        self.keep_gaps().await;
    }

    async fn keep_gaps(&self) {
        let open = std::mem::take(&mut *lock(&self.gaps));
        for gap in open {
            let new = gap.clone();
            if let Err(error) = self.run(move |memory| memory.add_checkpoint(new)).await {
                tracing::warn!(%error, "a gap in the record is not named yet");
                lock(&self.gaps).push(gap);
            }
        }
    }

    /// Closes a finished change, whose files name the current texts. Checkpoints that it takes back go, and a change
    /// that only exists to take others back goes with them.
    pub(crate) async fn close_change(&self, events: &EventStream, checkpoint: &Checkpoint, reverses: &[i64]) {
        let Some(id) = checkpoint.record else { return };
        let row = CheckpointRow::of(checkpoint, reverses);
        let files: Vec<(String, FileState)> =
            checkpoint.files.iter().map(|file| (file.path.clone(), state(file.after.as_deref()))).collect();
        let mut gone = reverses.to_vec();
        if !gone.is_empty() {
            gone.push(id);
        }
        let row = serde_json::to_value(&row).unwrap_or_default();
        let begun = Instant::now();
        let kept = loop {
            let (after, row, gone) = (files.clone(), row.clone(), gone.clone());
            let kept = self.run(move |memory| memory.close_checkpoint(id, after, row, gone)).await;
            if !matches!(kept, Err(MemoryError::Busy)) || begun.elapsed() > CLOSES {
                break kept;
            }
            tokio::time::sleep(AGAIN).await;
        };
        self.or_tell(events, kept);
    }

    /// Drops a refused change: nothing was made. Where the editor did not answer it may have been, and the checkpoint
    /// stays open for the next process.
    pub(crate) async fn drop_change(&self, events: &EventStream, checkpoint: &Checkpoint, why: &EditorError) {
        if matches!(why, EditorError::Timeout(_) | EditorError::Closed) {
            return;
        }
        let Some(id) = checkpoint.record else { return };
        let dropped = self.run(move |memory| memory.drop_checkpoints(vec![id])).await;
        self.or_tell(events, dropped);
    }
}

/// Stores a checkpoint without files: the state of the task, and memory's mark.
pub(crate) async fn keep_mark(store: &TaskStore, task: &str, checkpoint: &mut Checkpoint, run: &RunState) {
    let Some(durable) = open_store::durable(store).await else { return };
    let reason = if checkpoint.kind == CheckpointKind::Replan { REPLAN } else { PLAN };
    let row = CheckpointRow { run: Some(run.clone()), ..CheckpointRow::of(checkpoint, &[]) };
    let new = empty(&durable, task, checkpoint, reason, &row);
    let kept = durable.run(move |memory| memory.add_checkpoint(new)).await;
    checkpoint.record = open_store::or_tell(&store.events, &durable, kept);
}

fn empty(durable: &Durable, task: &str, checkpoint: &Checkpoint, reason: &str, row: &CheckpointRow) -> NewCheckpoint {
    NewCheckpoint {
        session: durable.session(),
        task: task.to_owned(),
        step: u32::try_from(checkpoint.step).unwrap_or(u32::MAX),
        reason: reason.to_owned(),
        state: serde_json::to_value(row).unwrap_or_default(),
        files: Vec::new(),
        once: checkpoint.once.clone(),
        created: now_ms(),
    }
}
