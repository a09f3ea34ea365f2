//! Builds the table of all methods, and the context that each of them gets.

mod agent_methods;
mod checkpoint_methods;
mod diagnostics_methods;
mod edit_methods;
mod memory_methods;
mod plan_methods;
mod review_methods;
mod session_methods;
mod stats_methods;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use jsonrpsee::server::Methods;
use tokio_util::sync::CancellationToken;

use crate::discovery::advertise::Advertised;
use crate::rpc::api::agent_api::AgentApiServer;
use crate::rpc::api::checkpoint_api::CheckpointApiServer;
use crate::rpc::api::diagnostics_api::DiagnosticsApiServer;
use crate::rpc::api::edit_api::EditApiServer;
use crate::rpc::api::memory_api::MemoryApiServer;
use crate::rpc::api::plan_api::PlanApiServer;
use crate::rpc::api::review_api::ReviewApiServer;
use crate::rpc::api::session_api::InfoApiServer;
use crate::rpc::api::stats_api::StatsApiServer;
use crate::rpc::rpc_failure::CallError;
use crate::rpc::rpc_server::merged;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::one_line::headline;
use sextant_engine::api::{Command, CommandOutcome, Engine, Origin};

/// The session behind the methods, for as long as it lives.
#[derive(Clone, Debug)]
pub(super) struct RpcSession {
    pub(super) agent: Weak<Engine>,
    pub(super) advertised: Weak<Advertised>,
    /// The folders of sessions.
    pub(super) folders: Vec<PathBuf>,
    /// Running calls of tools, by the names that their callers gave.
    pub(super) calls: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

/// Every method.
pub(super) fn all(served: RpcSession) -> Methods {
    merged(vec![
        InfoApiServer::into_rpc(served.clone()).into(),
        AgentApiServer::into_rpc(served.clone()).into(),
        PlanApiServer::into_rpc(served.clone()).into(),
        EditApiServer::into_rpc(served.clone()).into(),
        DiagnosticsApiServer::into_rpc(served.clone()).into(),
        CheckpointApiServer::into_rpc(served.clone()).into(),
        ReviewApiServer::into_rpc(served.clone()).into(),
        MemoryApiServer::into_rpc(served.clone()).into(),
        StatsApiServer::into_rpc(served).into(),
    ])
}

impl RpcSession {
    fn agent(&self) -> Result<Arc<Engine>, Failure> {
        self.agent.upgrade().ok_or_else(ended)
    }

    fn advertised(&self) -> Result<Arc<Advertised>, Failure> {
        self.advertised.upgrade().ok_or_else(ended)
    }

    /// Carries a command out in the session's turn.
    async fn submit(&self, command: Command, by: Option<String>) -> Result<CommandOutcome, CallError> {
        let by = by.map_or_else(|| "another program".to_owned(), |by| headline(&by));
        let submitted = self.agent()?.submit(command, Origin::new(by).joined())?;
        self.advertised()?.used();
        submitted.outcome().await.map_err(CallError::from)
    }
}

fn ended() -> Failure {
    Failure::new(FailureKind::Editor, "the session is about to end", "ask again: another one, or none, will answer")
}
