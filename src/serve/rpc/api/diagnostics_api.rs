//! `diagnostics/*`: what a task has introduced; never what is reported anyway.

use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::QuickfixEntry;

/// What the last task that changed something has introduced and not repaired, as its list shows it; of a task that runs,
/// so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntroducedDiagnostics {
    /// The task; none before the first list.
    pub task: Option<String>,
    pub title: String,
    pub entries: Vec<QuickfixEntry>,
    /// Whether the task runs: its list is what is known now, and not made yet.
    pub running: bool,
}

#[rpc(server, client, namespace = "diagnostics", namespace_separator = "/")]
pub trait DiagnosticsApi {
    /// The diagnostics that the last task has introduced and not repaired, or the one that runs so far.
    /// Example: `{}`
    #[method(name = "delta", param_kind = map)]
    async fn delta(&self) -> Result<IntroducedDiagnostics, CallError>;
}
