//! The stored knowledge of a session: its record, its memory, its traces, and the names of its checkpoints.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::OnceCell;

use crate::events::stream::EventStream;
use crate::state::agent_config::Config;
use crate::state::dialogue::TalkStore;
use crate::state::durable::Durable;
use crate::state::journal::Checkpoint;
use crate::state::memory_handle::Remember;
use crate::state::review::review_store::ReviewStore;
use crate::state::shown_log::ShownLog;
use crate::state::task_trace::TraceLog;
use sextant_store::workspace::record_folder::Record;

pub(crate) struct TaskStore {
    pub(crate) config: Arc<Config>,
    pub(crate) events: Arc<EventStream>,
    /// The record that remembers this workspace; `None` where there is no state folder.
    pub(crate) record: Option<Record>,
    /// Opened with [`crate::memory::remember`].
    pub(crate) memory: OnceCell<Option<Arc<Remember>>>,
    /// Opened with [`crate::durable::open_store::durable`].
    pub(crate) durable: OnceCell<Option<Arc<Durable>>>,
    /// True if the traces of a dead process were looked at.
    pub(crate) recovered: OnceCell<()>,
    /// The changes that wait for the user's review, as [`crate::durable::stored_review`] keeps them.
    pub(crate) review: Arc<ReviewStore>,
    /// The conversation with the user.
    pub(crate) talk: TalkStore,
    pub(crate) trace: Arc<TraceLog>,
    shown: RwLock<ShownTask>,
    /// The number of the last checkpoint.
    checkpoints: AtomicU64,
}

/// The task that the user was last shown.
#[derive(Default)]
struct ShownTask {
    /// The task and the words of the last request; a direct request has no task.
    asked: Option<(String, String)>,
    /// One that an undo takes back, where no request came since.
    offered: Option<String>,
}

impl TaskStore {
    pub(crate) fn new(config: Arc<Config>, events: Arc<EventStream>, record: Option<Record>) -> Self {
        let trace = Arc::new(TraceLog::default());
        events.observe(Arc::<TraceLog>::clone(&trace));
        let talk = TalkStore::default();
        events.observe(Arc::<ShownLog>::clone(&talk.shown));
        Self {
            config,
            events,
            record,
            memory: OnceCell::default(),
            durable: OnceCell::default(),
            recovered: OnceCell::default(),
            review: Arc::default(),
            talk,
            trace,
            shown: RwLock::default(),
            checkpoints: AtomicU64::default(),
        }
    }

    /// True if changes belong into a record, whether or not it can be written just now.
    pub(crate) fn is_kept(&self) -> bool {
        self.config.memory.enabled && self.record.is_some()
    }

    pub(crate) fn note_asked(&self, task: &str, request: &str) {
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) =
            ShownTask { asked: Some((task.to_owned(), request.to_owned())), offered: None };
    }

    /// Notes a task whose undo is offered to the user.
    pub(crate) fn note_offered(&self, task: &str) {
        self.shown.write().unwrap_or_else(PoisonError::into_inner).offered = Some(task.to_owned());
    }

    /// The task that the user has in mind: the one that was offered, else that of the last request.
    pub(crate) fn shown_task(&self) -> Option<String> {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        shown.offered.clone().or_else(|| shown.asked.as_ref().map(|(task, _)| task.clone()))
    }

    pub(crate) fn last_asked(&self) -> Option<(String, String)> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }

    pub(crate) fn next_checkpoint(&self) -> String {
        format!("c{}", self.checkpoints.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Skips the names of a journal that was read, so that they are not given again.
    pub(crate) fn skip_checkpoints(&self, known: &[Checkpoint]) {
        let numbers = known.iter().filter_map(|checkpoint| checkpoint.id.strip_prefix('c')?.parse::<u64>().ok());
        if let Some(last) = numbers.max() {
            self.checkpoints.fetch_max(last, Ordering::Relaxed);
        }
    }
}
