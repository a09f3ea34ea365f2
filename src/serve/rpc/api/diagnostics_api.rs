//! `diagnostics/*`: the diagnostics that a task has introduced; never those that are reported anyway.

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::QuickfixEntry;

/// The diagnostics that the last changing task has introduced and not repaired, as its list shows them; of a running
/// task, so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntroducedDiagnostics {
    /// The task; `None` before the first list.
    pub task: Option<String>,
    /// The request of the task; empty while it runs.
    pub request: String,
    /// The reports that are still awaited, as text; empty if the list is complete.
    #[serde(default)]
    pub unknown: String,
    pub entries: Vec<QuickfixEntry>,
    /// True if the task runs: its list shows the current state and is not final.
    pub running: bool,
}

#[rpc(server, client, namespace = "diagnostics", namespace_separator = "/")]
pub trait DiagnosticsApi {
    /// The diagnostics that the last task has introduced and not repaired, or the running task so far.
    /// Example: `{}`
    #[method(name = "delta", param_kind = map)]
    async fn delta(&self) -> Result<IntroducedDiagnostics, CallError>;
}
