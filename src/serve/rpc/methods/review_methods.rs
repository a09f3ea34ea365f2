//! `review/*`: shows what waits for the user, and carries out decisions beside a running task.

use jsonrpsee::core::async_trait;

use crate::rpc::api::review_api::ReviewApiServer;
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{ReviewAction, ReviewRequest, ReviewScope, ReviewState};

#[async_trait]
impl ReviewApiServer for RpcSession {
    async fn reviewed(&self) -> Result<ReviewState, CallError> {
        let agent = self.agent()?;
        Ok(agent.review(&ReviewRequest::default()).await?)
    }

    async fn decide(
        &self,
        action: ReviewAction,
        scope: Option<ReviewScope>,
        reason: Option<String>,
    ) -> Result<ReviewState, CallError> {
        let agent = self.agent()?;
        let (scope, reason) = (scope.unwrap_or_default(), reason.unwrap_or_default());
        Ok(agent.review(&ReviewRequest { action, scope, reason }).await?)
    }
}
