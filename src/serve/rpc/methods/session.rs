//! `session/*`: how things stand here, and which sessions there are.

use jsonrpsee::core::{RpcResult, async_trait};

use crate::base::failure::{Failure, FailureKind};
use crate::serve::discovery::find;
use crate::serve::rpc::api::session::{InfoApiServer, SessionInfo, SessionList};
use crate::serve::rpc::methods::Served;

#[async_trait]
impl InfoApiServer for Served {
    async fn info(&self) -> RpcResult<SessionInfo> {
        let agent = self.agent()?;
        Ok(SessionInfo {
            session: self.advertised()?.entry().clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: agent.model_name().to_owned(),
            running: agent.turn().now(),
            state: agent.events().state(),
        })
    }

    async fn list(&self) -> RpcResult<SessionList> {
        let folders = self.folders.clone();
        let found = tokio::task::spawn_blocking(move || find::everywhere(&folders)).await;
        let found = found.map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))?;
        Ok(SessionList { sessions: found.entries })
    }
}
