//! `memory/*`: answers in the same words that a user reads.

use jsonrpsee::core::async_trait;

use crate::rpc::api::memory_api::{MemoryAnswer, MemoryApiServer};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::Command;

#[async_trait]
impl MemoryApiServer for RpcSession {
    async fn search(&self, text: String) -> Result<MemoryAnswer, CallError> {
        let text = self.agent()?.recall_about(&text).await?;
        Ok(MemoryAnswer { text })
    }

    async fn forget(&self, text: String, by: Option<String>) -> Result<MemoryAnswer, CallError> {
        let text = self.submit(Command::Forget(text), by).await?.forgotten()?;
        Ok(MemoryAnswer { text })
    }
}
