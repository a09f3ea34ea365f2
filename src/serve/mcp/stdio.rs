//! Serves one client over standard input and output, until it is gone.

use std::sync::Arc;

use rmcp::service::serve_server;
use rmcp::transport::io::stdio_pipes;
use tokio_util::sync::CancellationToken;

use crate::mcp::json_lines::JsonLines;
use crate::mcp::mcp_server::McpServer;
use crate::mcp::mcp_workspace::WorkspaceOpener;
use crate::mcp::workspaces::Workspaces;
use sextant_base::failure::Failure;
use sextant_store::workspace::root::Root;

/// Serves the client that started this process. Nothing is opened before its first call. Ends with its input, or when
/// `stop` is cancelled, together with all that was started for it.
pub async fn serve(opener: Box<dyn WorkspaceOpener>, fallback: Result<Root, Failure>, stop: CancellationToken) {
    let workspaces = Arc::new(Workspaces::new(opener, fallback));
    let server = McpServer::new(Arc::clone(&workspaces), CancellationToken::new());
    let (read, write) = stdio_pipes();
    let served = async {
        let (stale_roots, in_flight) = (Arc::clone(&server.stale_roots), Arc::clone(&server.in_flight));
        match serve_server(server.clone(), JsonLines::new(read, write, stale_roots, in_flight)).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the connection broke down");
                }
            }
            Err(error) => tracing::info!(%error, "no client has begun"),
        }
    };
    tokio::select! {
        () = served => {}
        () = stop.cancelled() => {}
    }
    server.leave().await;
    workspaces.close().await;
}
