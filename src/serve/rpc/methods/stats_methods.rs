//! `stats/*`: the figures of the workspace's own record.

use jsonrpsee::core::async_trait;

use crate::rpc::api::stats_api::StatsApiServer;
use crate::rpc::methods::RpcSession;
use crate::rpc::rpc_failure::CallError;
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::statistics;
use sextant_store::memory::metrics::Stats;

#[async_trait]
impl StatsApiServer for RpcSession {
    async fn stats(&self) -> Result<Option<Stats>, CallError> {
        let Some(record) = self.agent()?.record() else { return Ok(None) };
        let stats = tokio::task::spawn_blocking(move || statistics::of_record(&record)).await;
        let broken =
            |error: tokio::task::JoinError| Failure::new(FailureKind::Internal, error.to_string(), "try again");
        Ok(stats.map_err(broken)??)
    }
}
