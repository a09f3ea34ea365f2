//! `checkpoint/*`: the list of changes, and one undo after the other down to a task of it.

use jsonrpsee::core::async_trait;

use crate::rpc::api::checkpoint_api::{CheckpointApiServer, RestoredTasks};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::{Command, History};

#[async_trait]
impl CheckpointApiServer for RpcSession {
    async fn checkpoints(&self) -> Result<History, CallError> {
        let agent = self.agent()?;
        Ok(agent.history().await?)
    }

    async fn restore(&self, task: String, by: Option<String>) -> Result<RestoredTasks, CallError> {
        let undone = self.submit(Command::UndoTo(task), by).await?.taken_back_to()?;
        Ok(RestoredTasks { undone })
    }
}
