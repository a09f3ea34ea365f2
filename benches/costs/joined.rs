//! Measures the cost of asking a session over its socket, beside the session's own work.

use std::sync::Arc;
use std::time::Instant;

use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{Config, Engine};
use sextant::llm::offline::OfflineModel;
use sextant::serve::discovery::Advertisement;
use sextant::serve::rpc::rpc_client::JoinedSession;
use sextant::serve::rpc::rpc_server::serve;
use sextant::workspace::root::Root;
use tokio::sync::mpsc::unbounded_channel;

use crate::median;
use crate::percentile;

/// Fewer than the requests that a connection may make at once.
const CALLS: usize = 1500;

pub async fn run() -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| text(&error))?;
    let root = Root::new(folder.path()).map_err(|error| text(&error))?;
    let editor = HeadlessEditor::new(root.path(), Vec::new(), unbounded_channel().0).map_err(|error| text(&error))?;
    let what = Advertisement { root: root.path().to_owned(), door: "headless", editor_pid: None };
    let agent = Arc::new(Engine::new(Arc::new(editor), Arc::new(OfflineModel), root, Config::default()));
    let serving = serve(&agent, what, vec![folder.path().join("run")]).await.map_err(|error| text(&error))?;
    let start = Instant::now();
    let joined = JoinedSession::to(serving.entry().clone()).await.map_err(|error| text(&error))?;
    let connected = start.elapsed().as_secs_f64() * 1000.0;
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        joined.info().await.map_err(|error| text(&error))?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    println!("asking a session over its socket");
    println!("  {:<38}{connected:>7.3} ms", "connecting");
    println!(
        "  {:<38}median {:>7.3} ms, p99 {:>7.3} ms ({CALLS} times)",
        "session/info",
        median(&times),
        percentile(&times, 0.99)
    );
    println!();
    serving.end().await;
    Ok(())
}
