//! The memory file as the store of tasks, and a task's own record of its place there.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::task::JoinHandle;

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::plan::next_decision::Trigger;
use crate::plan::work_mode::Phase;
use crate::state::memory_handle::{Remember, tell};
use crate::state::owner::Owner;
use crate::state::snapshots::SnapshotKey;
use sextant_store::memory::checkpoints::NewCheckpoint;
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::store::Memory;

/// A task's own record of its place in the store.
#[derive(Debug, Default)]
pub(crate) struct Keep {
    /// Checkpoints before the running step; `None` between steps.
    pub mark: Option<usize>,
    /// Its phase when it was stored last.
    pub phase: Phase,
    /// The reason why the plan is being made again.
    pub replanning: Option<Trigger>,
    /// The part of the task's baseline that is stored already.
    pub baseline: BTreeSet<SnapshotKey>,
    /// The revision of the state in the memory file; a larger one there means that another process went on with the
    /// task.
    pub revision: Option<i64>,
    /// Running writes of its notes to memory, in their order.
    pub writing: Option<JoinHandle<()>>,
}

/// The memory file as the store of tasks, and this process as the one that works on them.
#[derive(Debug)]
pub(crate) struct Durable {
    pub(crate) remember: Arc<Remember>,
    pub(crate) owner: Owner,
    pub(crate) reported: AtomicBool,
    /// Changes that could not be stored, to be named as soon as the file can be written.
    pub(crate) gaps: Mutex<Vec<NewCheckpoint>>,
}

impl Durable {
    pub(crate) fn session(&self) -> String {
        self.remember.session.clone()
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.remember.run(work).await
    }

    /// The stored value; an error is shown to the user once, and the task goes on without the store.
    pub(crate) fn or_tell<T>(&self, events: &EventStream, kept: Result<T>) -> Option<T> {
        tell(&self.remember, events);
        let error = match kept {
            Ok(kept) => return Some(kept),
            Err(error) => error,
        };
        tracing::warn!(%error, "something was not kept");
        if !self.reported.swap(true, Ordering::Relaxed) {
            let text = format!("this task could not be kept for another process: {error}");
            events.show(Event::Progress { text });
        }
        None
    }
}
