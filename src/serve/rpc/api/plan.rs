//! `plan/*`: the plan that waits or runs.

use jsonrpsee::core::RpcResult;
use jsonrpsee::proc_macros::rpc;

use crate::agent::plan::Steps;
use crate::agent::state::outcome::Outcome;

#[rpc(server, client, namespace = "plan", namespace_separator = "/")]
pub trait PlanApi {
    /// Runs the plan that waits: all of it, or its next step alone.
    #[method(name = "approve", param_kind = map)]
    async fn approve(&self, steps: Option<Steps>, by: Option<String>) -> RpcResult<Outcome>;
}
