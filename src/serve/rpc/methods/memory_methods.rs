//! `memory/*`: the same words as a user is told.

use crate::rpc::api::memory_api::{MemoryAnswer, MemoryApiServer};
use crate::rpc::methods::Served;
use crate::rpc::rpc_failure::CallError;
use jsonrpsee::core::async_trait;
use sextant_engine::state::outcome::Ending;

#[async_trait]
impl MemoryApiServer for Served {
    async fn search(&self, text: String) -> Result<MemoryAnswer, CallError> {
        let text = self.agent()?.recall_about(&text).await?;
        Ok(MemoryAnswer { text })
    }

    async fn forget(&self, text: String, by: Option<String>) -> Result<MemoryAnswer, CallError> {
        let forgotten = self.in_turn("what is to be forgotten", by, |agent, cancel| {
            Box::pin(async move { Ending { result: agent.forget(&text, &cancel).await, events: Vec::new() } })
        });
        Ok(MemoryAnswer { text: forgotten.await? })
    }
}
