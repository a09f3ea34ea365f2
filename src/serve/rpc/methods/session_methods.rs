//! `session/*`: the state of this session, and the list of sessions.

use std::path::PathBuf;

use jsonrpsee::core::async_trait;

use crate::discovery::find_sessions;
use crate::rpc::api::session_api::{InfoApiServer, OwnedFiles, SessionInfo, SessionList};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::plural::counted;

/// The most files of one question.
const FILES: usize = 10_000;

fn few(files: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    if files.len() <= FILES {
        return Ok(files);
    }
    let message = format!("{} at once, {FILES} at most", counted(files.len(), "file"));
    Err(Failure::user(message, "ask about some of them at a time"))
}

#[async_trait]
impl InfoApiServer for RpcSession {
    async fn info(&self) -> Result<SessionInfo, CallError> {
        let agent = self.agent()?;
        Ok(SessionInfo {
            session: self.advertised()?.entry().clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: agent.model_name().to_owned(),
            running: agent.turn().now(),
            state: agent.events().state(),
        })
    }

    async fn owns(&self, files: Vec<PathBuf>) -> Result<OwnedFiles, CallError> {
        let held = self.agent()?.editor().held(&few(files)?).await;
        Ok(OwnedFiles { files: held.map_err(Failure::from)? })
    }

    async fn written(&self, files: Vec<PathBuf>) -> Result<(), CallError> {
        self.agent()?.editor().sync(&few(files)?).await;
        Ok(())
    }

    async fn list(&self) -> Result<SessionList, CallError> {
        let folders = self.folders.clone();
        let found = tokio::task::spawn_blocking(move || find_sessions::everywhere(&folders)).await;
        let found = found.map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))?;
        Ok(SessionList { sessions: found.entries })
    }
}
