//! `memory/*`: the memory of this workspace.

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
    /// The memory entries about a text.
    /// Example: `{"text": "prices"}`
    #[method(name = "search", param_kind = map)]
    async fn search(&self, text: String) -> Result<MemoryAnswer, CallError>;

    /// Forgets every entry that has a text. If that costs an undo, the session asks first.
    /// Example: `{"text": "prices in cents"}`
    #[method(name = "forget", param_kind = map)]
    async fn forget(&self, text: String, by: Option<String>) -> Result<MemoryAnswer, CallError>;
}
