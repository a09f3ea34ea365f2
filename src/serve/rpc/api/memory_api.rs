//! `memory/*`: what is remembered of this workspace.

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::rpc::rpc_failure::CallError;

/// An answer in words, as a user reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAnswer {
    pub text: String,
}

#[rpc(server, client, namespace = "memory", namespace_separator = "/")]
pub trait MemoryApi {
    /// What is remembered about something.
    /// Example: `{"text": "prices"}`
    #[method(name = "search", param_kind = map)]
    async fn search(&self, text: String) -> Result<MemoryAnswer, CallError>;

    /// Forgets what holds a text. Asks in the session first where that costs an undo.
    /// Example: `{"text": "prices in cents"}`
    #[method(name = "forget", param_kind = map)]
    async fn forget(&self, text: String, by: Option<String>) -> Result<MemoryAnswer, CallError>;
}
