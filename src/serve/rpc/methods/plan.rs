//! `plan/*`: the plan that waits, taken up for whoever asks.

use jsonrpsee::core::{RpcResult, async_trait};

use crate::agent::plan::Steps;
use crate::agent::state::outcome::Outcome;
use crate::serve::rpc::api::plan::PlanApiServer;
use crate::serve::rpc::methods::Served;

#[async_trait]
impl PlanApiServer for Served {
    async fn approve(&self, steps: Option<Steps>, by: Option<String>) -> RpcResult<Outcome> {
        let steps = steps.unwrap_or_default();
        let approved = self
            .in_turn("the plan", by, move |agent, cancel| Box::pin(async move { agent.approve(steps, &cancel).await }));
        approved.await
    }
}
