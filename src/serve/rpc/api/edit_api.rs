//! `edit/*`: single calls of the tools that read and change files, for a program that does its own thinking.

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{EditMade, OutsideAnswer, OutsideClient, OutsideTool};

/// The tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    pub tools: Vec<OutsideTool>,
}

/// The answer about a call or a client: `known` is true if there was one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallKnown {
    pub known: bool,
}

#[rpc(server, client, namespace = "edit", namespace_separator = "/")]
pub trait EditApi {
    /// The tools that may be called, with the schemas of their arguments.
    /// Example: `{}`
    #[method(name = "tools", param_kind = map)]
    async fn tools(&self) -> Result<ToolList, CallError>;

    /// Calls a tool. The answer of an editing tool has the diagnostics that the edit introduced. The edits of one
    /// `client` are a task of their own, which `agent/undo` takes back. `call` names this call for `edit/cancel`.
    /// `once` is a name that no other edit has, a UUID for one: an edit is made once under it, in any session. A second
    /// call answers that the edit was made.
    /// Example: `{"tool": "read_file", "arguments": {"path": "cart.py"}, "client": {"id": "1", "name": "my script"}, "call": "1"}`
    #[method(name = "call", param_kind = map)]
    async fn call(
        &self,
        tool: String,
        arguments: Value,
        client: Option<OutsideClient>,
        call: Option<String>,
        once: Option<String>,
    ) -> Result<OutsideAnswer, CallError>;

    /// The outcome of an edit whose answer did not come, by the name that its call had as `once`. A session that is
    /// gone may have made the edit.
    /// Example: `{"once": "0b0c5a6e-7f0e-4c38-9e0a-2f6d7a1f1e11"}`
    #[method(name = "made", param_kind = map)]
    async fn made(&self, once: String) -> Result<EditMade, CallError>;

    /// Ends the waits of a call; an edit that has begun is finished.
    /// Example: `{"call": "1"}`
    #[method(name = "cancel", param_kind = map)]
    async fn cancel_call(&self, call: String) -> Result<CallKnown, CallError>;

    /// The client will not call again: its next edits would be another task.
    /// Example: `{"client": {"id": "1", "name": "my script"}}`
    #[method(name = "leave", param_kind = map)]
    async fn leave(&self, client: OutsideClient) -> Result<CallKnown, CallError>;
}
