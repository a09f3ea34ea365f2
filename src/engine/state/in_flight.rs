//! The changes of files that are in progress.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::watch;

use crate::editor::editor_error::EditorError;
use crate::editor::{Applied, FileEdit};
use crate::state::journal::{Checkpoint, Journal};
use crate::state::neighbour_sessions::Neighbours;
use crate::state::snapshots::Snapshots;
use sextant_base::lock::lock;

/// A change to make, in the name of a task.
#[derive(Debug)]
pub(crate) struct PendingChange {
    pub(crate) task: String,
    pub(crate) request: String,
    /// Its files name the text that is wanted afterwards.
    pub(crate) checkpoint: Checkpoint,
    pub(crate) edits: Vec<FileEdit>,
    /// The checkpoints that it takes back: they go from the journal, and this one does not enter it.
    pub(crate) takes_back: Vec<Checkpoint>,
    /// True if marks are put where the checkpoint has them, rather than read.
    pub(crate) restores_marks: bool,
}

/// A finished change: its files name the current texts.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) applied: Vec<Applied>,
}

pub(crate) type MadeResult<T> = std::result::Result<T, EditorError>;

/// A change that somebody waits for, or has left.
#[derive(Clone, Debug)]
pub(crate) struct ChangeInFlight {
    pub(crate) task: String,
    pub(crate) request: String,
    pub(crate) takes_back: Vec<String>,
    pub(crate) left: Arc<AtomicBool>,
    /// `None` until the editor has answered.
    pub(crate) ended: watch::Receiver<Option<MadeResult<Made>>>,
    /// For an edit that the editor did not answer in time: the wanted change, which may still come.
    pub(crate) doubtful: Arc<Mutex<Option<Checkpoint>>>,
}

impl ChangeInFlight {
    pub(crate) fn made(&self) -> Option<Checkpoint> {
        self.ended.borrow().as_ref().and_then(|ended| ended.as_ref().ok()).map(|made| made.checkpoint.clone())
    }

    pub(crate) fn doubtful(&self) -> Option<Checkpoint> {
        lock(&self.doubtful).clone()
    }

    /// Enters the finished change into its journal. A second call changes nothing.
    pub(crate) fn enter(&self, made: &Checkpoint, journal: &mut Journal) {
        if journal.task != self.task {
            return;
        }
        if !self.takes_back.is_empty() {
            journal.checkpoints.retain(|known| !self.takes_back.contains(&known.id));
        } else if journal.checkpoints.iter().all(|known| known.id != made.id) {
            journal.checkpoints.push(made.clone());
        }
    }
}

/// The starting state of the running task, for requests that ask meanwhile about its new diagnostics.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningStart {
    pub(crate) task: String,
    /// Files that it has changed.
    pub(crate) files: BTreeSet<String>,
    pub(crate) start: Snapshots,
    /// Files that it has made: every diagnostic in them is new.
    pub(crate) created: BTreeSet<String>,
}

/// Changes in progress, and those that a stop has left.
#[derive(Default)]
pub(crate) struct Making {
    pub(crate) begun: Mutex<Vec<ChangeInFlight>>,
    /// Held from the baseline of an edit to its verdict, so that an answer covers no other edit than its own.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// The start of the task that changed something last.
    pub(crate) running: Mutex<RunningStart>,
    /// The sessions to ask before a change: the others of the workspace, where there may be some.
    pub(crate) neighbours: OnceLock<Arc<dyn Neighbours>>,
}

impl Making {
    pub(crate) fn list(&self) -> std::sync::MutexGuard<'_, Vec<ChangeInFlight>> {
        lock(&self.begun)
    }

    /// True if a change is in progress that somebody still waits for.
    pub(crate) fn busy(&self) -> bool {
        self.list().iter().any(|begun| !begun.left.load(Ordering::SeqCst))
    }

    /// True if the editor may still make a change, with or without a waiting caller.
    pub(crate) fn open(&self) -> bool {
        !self.list().is_empty()
    }

    pub(crate) fn left(&self) -> Vec<ChangeInFlight> {
        self.list().iter().filter(|begun| begun.left.load(Ordering::SeqCst)).cloned().collect()
    }

    pub(crate) fn forget(&self, ended: &watch::Receiver<Option<MadeResult<Made>>>) {
        self.list().retain(|begun| !begun.ended.same_channel(ended));
    }
}
