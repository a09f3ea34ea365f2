//! A session: one editor, one workspace, one model, and the knowledge kept from one task to the next.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::editor::Editor;
use crate::editor::event::Event;
use crate::events::envelope::TraceEntry;
use crate::events::stream::{EventStream, FrontEnd, HeldLimits, Observer};
use crate::plan::Plan;
use crate::plan::work_mode::Mode;
use crate::state::agent_config::{Config, PlanMode};
use crate::state::approvals::Approvals;
use crate::state::durable::Durable;
use crate::state::in_flight::Making;
use crate::state::journal::{Checkpoint, Journal};
use crate::state::memory_handle::Remember;
use crate::state::outcome::Listed;
use crate::state::outside_clients::OutsideClients;
use crate::state::review::review_store::ReviewStore;
use crate::state::snapshots::SnapshotStore;
use crate::state::task::Task;
use crate::state::task_trace::TraceLog;
use crate::state::typing::TypedFiles;
use sextant_model::step::Model;
use sextant_store::workspace::importers::Importers;
use sextant_store::workspace::record_folder::Record;
use sextant_store::workspace::root::Root;

tokio::task_local! {
    /// The cancellation of work beside the running task, which a stop of that task does not reach.
    pub(crate) static OWN_CANCEL: CancellationToken;
}

pub struct Session {
    pub editor: Arc<dyn Editor>,
    /// The events of the session, for every listener.
    pub(crate) events: Arc<EventStream>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) root: Root,
    pub config: Config,
    pub(crate) ledger: Mutex<SnapshotStore>,
    pub(crate) looked: LookedFiles,
    /// The changes of this process's tasks, oldest first; with memory on, the memory holds the same and more.
    pub(crate) history: Mutex<Vec<Journal>>,
    /// The task and the words of the last request; a direct request has no task.
    asked: RwLock<Option<(String, String)>>,
    pub(crate) plan: Mutex<Option<(Plan, Task)>>,
    /// Whether the last request led to no plan: an approval now does not mean an older plan.
    pub(crate) no_plan: AtomicBool,
    /// The lists of diagnostics that tasks have introduced, the last one last; without tasks that a later one
    /// supersedes.
    pub(crate) listed: Mutex<Vec<Listed>>,
    pub(crate) trace: Arc<TraceLog>,
    mode: RwLock<PlanMode>,
    pub(crate) approvals: Approvals,
    /// Changes of files in progress.
    pub(crate) making: Making,
    pub(crate) opened: Opened,
    /// The callers from outside.
    pub(crate) outside: OutsideClients,

    /// The token of the running task; waits for diagnostics end with it.
    cancel: RwLock<CancellationToken>,
}

/// The record of this workspace, as far as it was opened.
#[derive(Default)]
pub(crate) struct Opened {
    /// Opened with [`crate::memory::remember`].
    pub(crate) memory: OnceCell<Option<Arc<Remember>>>,
    /// Opened with [`crate::durable::open_store::durable`].
    pub(crate) durable: OnceCell<Option<Arc<Durable>>>,
    /// Whether the traces of a dead process were looked at.
    pub(crate) recovered: OnceCell<()>,
    /// The changes that wait for the user's review, as [`crate::durable::stored_review`] keeps them.
    pub(crate) review: Arc<ReviewStore>,
    /// When the project was last scanned, in milliseconds since 1970.
    pub(crate) scanned: AtomicI64,
}

/// Files that were looked at and that no user has opened.
#[derive(Default)]
pub(crate) struct LookedFiles {
    /// Opened to look over the workspace and not closed yet.
    pub(crate) visited: Mutex<BTreeSet<String>>,
    /// Opened because an edit reaches them and not closed yet, the oldest first.
    pub(crate) reached: Mutex<Vec<String>>,
    /// Which file of the workspace imports which.
    pub(crate) importers: Arc<std::sync::Mutex<Importers>>,
    /// Files that the user types in.
    pub(crate) typed: std::sync::Mutex<TypedFiles>,
}

impl Session {
    pub fn new(editor: Arc<dyn Editor>, model: Arc<dyn Model>, root: Root, config: Config) -> Self {
        let root = match &config.memory.state {
            Some(state) => root.without(state),
            None => root,
        };
        let events = EventStream::new(&root.path().display().to_string(), HeldLimits::default());
        let trace = Arc::new(TraceLog::default());
        let observers: [Arc<dyn Observer>; 2] =
            [Arc::new(FrontEnd(Arc::clone(&editor))), Arc::<TraceLog>::clone(&trace)];
        observers.into_iter().for_each(|observer| events.observe(observer));
        Self {
            mode: RwLock::new(config.mode),
            editor,
            events: Arc::new(events),
            model,
            root,
            config,
            ledger: Mutex::default(),
            looked: LookedFiles::default(),
            history: Mutex::default(),
            asked: RwLock::default(),
            plan: Mutex::default(),
            no_plan: AtomicBool::new(false),
            listed: Mutex::default(),
            trace,
            approvals: Approvals::default(),
            making: Making::default(),
            opened: Opened::default(),
            outside: OutsideClients::default(),
            cancel: RwLock::default(),
        }
    }

    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The record that remembers this workspace; `None` where there is no state folder.
    pub fn record(&self) -> Option<Record> {
        self.config.memory.state.as_deref().map(|state| Record::of(state, &self.root))
    }

    /// Shows an event to every front end.
    pub fn emit(&self, event: Event) {
        self.events.show(event);
    }

    /// The events of this session, from any point on.
    pub fn events(&self) -> &EventStream {
        &self.events
    }

    /// Sets the way in which the next plan is carried out. Only the user changes it.
    pub fn set_mode(&self, mode: PlanMode) {
        *self.mode.write().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    pub(crate) fn mode(&self) -> Mode {
        (*self.mode.read().unwrap_or_else(PoisonError::into_inner)).into()
    }

    pub fn model_name(&self) -> &str {
        self.model.name()
    }

    /// The reasons and effects in the last task, in order.
    pub fn trace(&self) -> Vec<TraceEntry> {
        self.trace.entries()
    }

    /// The trace as text for a reader.
    pub fn trace_markdown(&self) -> String {
        self.trace.markdown()
    }

    /// Makes the task the current work from here on.
    pub(crate) fn take_up(&self, task: &mut Task) {
        task.events.take_up(&self.events, &task.request, task.mode);
    }

    pub(crate) fn note_asked(&self, task: &str, request: &str) {
        let asked = Some((task.to_owned(), request.to_owned()));
        *self.asked.write().unwrap_or_else(PoisonError::into_inner) = asked;
    }

    pub(crate) fn last_asked(&self) -> Option<(String, String)> {
        self.asked.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn next_checkpoint(&self) -> String {
        format!("c{}", self.making.checkpoints.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Skips the names of a journal that was read, so that they are not given again.
    pub(crate) fn skip_checkpoints(&self, known: &[Checkpoint]) {
        let numbers = known.iter().filter_map(|checkpoint| checkpoint.id.strip_prefix('c')?.parse::<u64>().ok());
        if let Some(last) = numbers.max() {
            self.making.checkpoints.fetch_max(last, Ordering::Relaxed);
        }
    }

    pub(crate) fn use_cancel(&self, cancel: &CancellationToken) {
        *self.cancel.write().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
    }

    /// The token that ends the waits of the asking work: its own for a call from outside, else that of the running
    /// task.
    pub(crate) fn cancelled(&self) -> CancellationToken {
        if let Ok(own) = OWN_CANCEL.try_with(CancellationToken::clone) {
            return own;
        }
        self.cancel.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
