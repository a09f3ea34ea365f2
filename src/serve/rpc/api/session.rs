//! `session/*`: which session this is, what runs in it, and which others there are.

use jsonrpsee::core::RpcResult;
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::agent::commands::turn::TaskInTurn;
use crate::agent::events::state::StreamState;
use crate::serve::discovery::SessionEntry;

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

#[rpc(server, client, namespace = "session", namespace_separator = "/")]
pub trait InfoApi {
    /// Which session this is, what runs in it, and how things stand.
    /// Example: `{}`
    #[method(name = "info", param_kind = map)]
    async fn info(&self) -> RpcResult<SessionInfo>;

    /// The sessions of this user, those that were used last first.
    /// Example: `{}`
    #[method(name = "list", param_kind = map)]
    async fn list(&self) -> RpcResult<SessionList>;
}
