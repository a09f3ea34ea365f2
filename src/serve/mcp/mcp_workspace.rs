//! Defines the workspace that the server needs: it carries out calls, and is opened at the first of them.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use sextant_base::failure::Failure;
use sextant_engine::api::{EditMade, OutsideAnswer, OutsideClient};
use sextant_store::workspace::root::Root;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Carries out the calls in one workspace: a session of this process, or one that runs elsewhere.
#[async_trait]
pub trait OpenWorkspace: Send + Sync {
    /// Carries a call out; `once` is its name, which no other call has.
    async fn call(
        &self,
        client: &OutsideClient,
        tool: &str,
        given: Value,
        once: &str,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure>;

    /// The outcome of the edit whose call had this name as `once`.
    async fn made(&self, once: &str) -> Result<EditMade, Failure>;

    /// Notes that the client will not call again.
    async fn client_left(&self, client: &OutsideClient);

    /// True if calls still belong to this workspace; if not, it is opened again.
    async fn is_there(&self) -> bool;

    /// Ends the workspace, with all that it has started.
    async fn close(&self);
}

/// Opens workspaces.
#[async_trait]
pub trait WorkspaceOpener: Send + Sync {
    async fn open(&self, root: Root) -> Result<Arc<dyn OpenWorkspace>, Failure>;
}

/// The file that a call names.
pub fn named(given: &Value) -> Option<String> {
    let of = |name: &str| given[name].as_str().filter(|text| !text.is_empty());
    let symbol = || of("symbol").map(|symbol| SymbolPath::parse(symbol).file).filter(|file| !file.is_empty());
    of("path").map(str::to_owned).or_else(symbol)
}
