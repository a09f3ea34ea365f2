//! `stats/*`: the figures of the workspace's own record.

use jsonrpsee::core::async_trait;

use crate::agent::memory::statistics;
use crate::base::failure::{Failure, FailureKind};
use crate::memory::metrics::Stats;
use crate::serve::rpc::api::stats::StatsApiServer;
use crate::serve::rpc::failure::CallError;
use crate::serve::rpc::methods::Served;

#[async_trait]
impl StatsApiServer for Served {
    async fn stats(&self) -> Result<Option<Stats>, CallError> {
        let Some(record) = self.agent()?.record() else { return Ok(None) };
        let stats = tokio::task::spawn_blocking(move || statistics::of_record(&record)).await;
        let broken =
            |error: tokio::task::JoinError| Failure::new(FailureKind::Internal, error.to_string(), "try again");
        Ok(stats.map_err(broken)??)
    }
}
