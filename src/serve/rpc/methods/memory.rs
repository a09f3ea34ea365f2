//! `memory/*`: the same words as a user is told.

use jsonrpsee::core::{RpcResult, async_trait};

use crate::agent::state::language::Say;
use crate::serve::rpc::api::memory::{MemoryAnswer, MemoryApiServer};
use crate::serve::rpc::methods::Served;

#[async_trait]
impl MemoryApiServer for Served {
    async fn search(&self, text: String) -> RpcResult<MemoryAnswer> {
        let text = self.agent()?.recall_about(&text, Say::to(&text)).await?;
        Ok(MemoryAnswer { text })
    }

    async fn forget(&self, text: String) -> RpcResult<MemoryAnswer> {
        let text = self.agent()?.forget(&text, Say::to(&text)).await?;
        Ok(MemoryAnswer { text })
    }
}
