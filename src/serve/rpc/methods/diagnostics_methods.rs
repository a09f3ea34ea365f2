//! `diagnostics/*`: the list of the last task, as the session holds it.

use jsonrpsee::core::async_trait;

use crate::rpc::api::diagnostics_api::{DiagnosticsApiServer, IntroducedDiagnostics};
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_engine::api::Event;

#[async_trait]
impl DiagnosticsApiServer for RpcSession {
    async fn delta(&self) -> Result<IntroducedDiagnostics, CallError> {
        let agent = self.agent()?;
        let (state, running) = (agent.events().state(), !agent.turn().is_free());
        let task = state.work.and_then(|work| work.task);
        if let Some(task) = task.as_ref().filter(|_| running)
            && let Some(entries) = agent.introduced_so_far(task).await
        {
            let task = Some(task.clone());
            return Ok(IntroducedDiagnostics { task, entries, running, ..IntroducedDiagnostics::default() });
        }
        Ok(match state.introduced {
            Some(Event::Introduced { request, unknown, entries, .. }) => {
                IntroducedDiagnostics { task: state.introduced_by, request, unknown, entries, running }
            }
            _ => IntroducedDiagnostics { task, running, ..IntroducedDiagnostics::default() },
        })
    }
}
