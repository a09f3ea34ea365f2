//! `memory/*`: the same words as a user is told.

use jsonrpsee::core::{RpcResult, async_trait};

use crate::agent::state::language::Say;
use crate::agent::state::outcome::Ending;
use crate::serve::rpc::api::memory::{MemoryAnswer, MemoryApiServer};
use crate::serve::rpc::methods::Served;

#[async_trait]
impl MemoryApiServer for Served {
    async fn search(&self, text: String) -> RpcResult<MemoryAnswer> {
        let text = self.agent()?.recall_about(&text, Say::to(&text)).await?;
        Ok(MemoryAnswer { text })
    }

    async fn forget(&self, text: String, by: Option<String>) -> RpcResult<MemoryAnswer> {
        let forgotten = self.in_turn("what is to be forgotten", by, |agent, cancel| {
            Box::pin(async move {
                Ending { result: agent.forget(&text, Say::to(&text), &cancel).await, events: Vec::new() }
            })
        });
        Ok(MemoryAnswer { text: forgotten.await? })
    }
}
