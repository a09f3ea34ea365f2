//! The diagnostics of a session: the known reports, the files that are looked at, and the lists that are shown.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::events::stream::EventStream;
use crate::state::late_log::LateLog;
use crate::state::outcome::Listed;
use crate::state::snapshots::SnapshotStore;
use crate::state::typed_files::TypedFiles;
use crate::state::workspace::Workspace;
use sextant_store::workspace::importers::Importers;
use sextant_store::workspace::outside_changes::OutsideChanges;

tokio::task_local! {
    /// The cancellation of work beside the running task, which a stop of that task does not reach.
    pub(crate) static OWN_CANCEL: CancellationToken;
}

pub(crate) struct DiagnosticsHub {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) events: Arc<EventStream>,
    pub(crate) ledger: Mutex<SnapshotStore>,
    /// The late answers in the ledger. Locked while some are entered, so that no reader finds a part of them.
    pub(crate) late: Mutex<LateLog>,
    pub(crate) looked: LookedFiles,
    /// The lists of diagnostics that tasks have introduced, the last one last; without tasks that a later one
    /// supersedes.
    pub(crate) listed: Mutex<Vec<Listed>>,
    /// True if the session's model can do nothing without reports and fixes.
    pub(crate) needs_providers: bool,
    /// The token of the running task; waits for diagnostics end with it.
    cancel: RwLock<CancellationToken>,
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
    /// The files on disk as they were when the reports on them were asked for.
    pub(crate) outside: Arc<std::sync::Mutex<OutsideChanges>>,
    /// Files that the user types in.
    pub(crate) typed: std::sync::Mutex<TypedFiles>,
}

impl DiagnosticsHub {
    pub(crate) fn new(workspace: Arc<Workspace>, events: Arc<EventStream>, needs_providers: bool) -> Self {
        Self {
            workspace,
            events,
            ledger: Mutex::default(),
            late: Mutex::default(),
            looked: LookedFiles::default(),
            listed: Mutex::default(),
            needs_providers,
            cancel: RwLock::default(),
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
