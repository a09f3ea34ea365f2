//! `session/*`: which session this is, what runs in it, and which others there are.

use std::path::PathBuf;

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::discovery::SessionEntry;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{HeldFile, StreamState, TaskInTurn};

/// A session, and how things stand in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    pub session: SessionEntry,
    /// Of the program that serves it.
    pub version: String,
    pub model: String,
    /// The task that runs, here or in another workspace of the same Neovim.
    pub running: Option<TaskInTurn>,
    /// What the events so far have come to.
    pub state: StreamState,
}

/// Every session of this user that can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionList {
    pub sessions: Vec<SessionEntry>,
}

/// Files that a user has open in the editor of this session, of those that were asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedFiles {
    pub files: Vec<HeldFile>,
}

#[rpc(server, client, namespace = "session", namespace_separator = "/")]
pub trait InfoApi {
    /// Which session this is, what runs in it, and how things stand.
    /// Example: `{}`
    #[method(name = "info", param_kind = map)]
    async fn info(&self) -> Result<SessionInfo, CallError>;

    /// The sessions of this user, those that were used last first.
    /// Example: `{}`
    #[method(name = "list", param_kind = map)]
    async fn list(&self) -> Result<SessionList, CallError>;

    /// Which of these files, by absolute paths, a user has open here, or are changed here and not written. Another
    /// session asks this before it changes them.
    /// Example: `{"files": ["/the/project/cart.py"]}`
    #[method(name = "owns", param_kind = map)]
    async fn owns(&self, files: Vec<PathBuf>) -> Result<OwnedFiles, CallError>;

    /// These files, by absolute paths, were written by another program: what is open of them without changes is read again.
    /// Example: `{"files": ["/the/project/cart.py"]}`
    #[method(name = "written", param_kind = map)]
    async fn written(&self, files: Vec<PathBuf>) -> Result<(), CallError>;
}
