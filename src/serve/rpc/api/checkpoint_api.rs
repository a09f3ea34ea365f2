//! `checkpoint/*`: the changes of tasks, and the way back to before one of them.

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{History, Undone};

/// The tasks that were undone, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredTasks {
    pub undone: Vec<Undone>,
}

#[rpc(server, client, namespace = "checkpoint", namespace_separator = "/")]
pub trait CheckpointApi {
    /// The last tasks that changed something, with their steps and the changes that still stand.
    /// Example: `{}`
    #[method(name = "list", param_kind = map)]
    async fn checkpoints(&self) -> Result<History, CallError>;

    /// Undoes every task down to this one, and this one. Stops at the first that cannot be undone whole.
    /// Example: `{"task": "019f0a1b2c3-4d2-0"}`
    #[method(name = "restore", param_kind = map)]
    async fn restore(&self, task: String, by: Option<String>) -> Result<RestoredTasks, CallError>;
}
