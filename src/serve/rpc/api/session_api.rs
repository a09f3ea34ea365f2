//! `session/*`: this session, its running task, and the other sessions.

use std::path::PathBuf;

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::discovery::SessionEntry;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{HeldFile, StreamState, TaskInTurn};

/// A session and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    pub session: SessionEntry,
    /// The version of the program that serves it.
    pub version: String,
    pub model: String,
    /// The running task, here or in another workspace of the same Neovim.
    pub running: Option<TaskInTurn>,
    /// The state after the events so far.
    pub state: StreamState,
}

/// Every session of this user that can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionList {
    pub sessions: Vec<SessionEntry>,
}

/// The files, out of those in the question, that a user has open in the editor of this session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedFiles {
    pub files: Vec<HeldFile>,
}

#[rpc(server, client, namespace = "session", namespace_separator = "/")]
pub trait InfoApi {
    /// This session, its running task, and its state.
    /// Example: `{}`
    #[method(name = "info", param_kind = map)]
    async fn info(&self) -> Result<SessionInfo, CallError>;

    /// The sessions of this user, the last used first.
    /// Example: `{}`
    #[method(name = "list", param_kind = map)]
    async fn list(&self) -> Result<SessionList, CallError>;

    /// The files, out of these absolute paths, that a user has open here, or that are changed here and not written.
    /// Another session asks this before it changes them.
    /// Example: `{"files": ["/the/project/cart.py"]}`
    #[method(name = "owns", param_kind = map)]
    async fn owns(&self, files: Vec<PathBuf>) -> Result<OwnedFiles, CallError>;

    /// Reports that another program wrote these files, by absolute paths. Open files without changes are read again.
    /// Example: `{"files": ["/the/project/cart.py"]}`
    #[method(name = "written", param_kind = map)]
    async fn written(&self, files: Vec<PathBuf>) -> Result<(), CallError>;
}
