//! The edits of a session: those in progress, those that were made, and the parts that an edit needs.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::state::approvals::Approvals;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::in_flight::Making;
use crate::state::journal::Journal;
use crate::state::task_store::TaskStore;
use crate::state::workspace::Workspace;

pub(crate) struct EditService {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) hub: Arc<DiagnosticsHub>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) store: Arc<TaskStore>,
    /// Changes of files in progress.
    pub(crate) making: Making,
    /// The changes of this process's tasks, oldest first; with memory on, the memory holds the same and more.
    pub(crate) history: Mutex<Vec<Journal>>,
}
