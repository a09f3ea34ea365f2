//! `stats/*`: the results of the runs in this workspace.

use jsonrpsee::proc_macros::rpc;

use crate::rpc::rpc_failure::CallError;
use sextant_store::memory::metrics::Stats;

#[rpc(server, client, namespace = "stats", namespace_separator = "/")]
pub trait StatsApi {
    /// Success, time, tokens and memory, by mode; empty before the first record.
    /// Example: `{}`
    #[method(name = "get", param_kind = map)]
    async fn stats(&self) -> Result<Option<Stats>, CallError>;
}
