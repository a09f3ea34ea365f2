//! Opens a workspace without a session: a folder, which this process serves to other clients meanwhile.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::cli::settings::{Settings, session_folders};
use crate::cli::{choose_session, models};
use sextant_base::deadline::Deadline;
use sextant_base::failure::Failure;
use sextant_engine::api::{EditMade, Engine, OutsideAnswer, OutsideClient};
use sextant_headless::HeadlessEditor;
use sextant_serve::discovery::gate::StartGate;
use sextant_serve::discovery::{Advertisement, is_editor};
use sextant_serve::mcp::mcp_workspace::OpenWorkspace;
use sextant_serve::rpc::rpc_server::{Serving, serve};
use sextant_store::workspace::root::Root;

/// The time that the language servers have to leave.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) struct HeadlessWorkspace {
    session: Arc<Engine>,
    editor: Arc<HeadlessEditor>,
    /// Lets a shell, or another client, work in this session; `None` if no folder can hold its socket.
    serving: Mutex<Option<Serving>>,
}

impl HeadlessWorkspace {
    pub(super) async fn open(root: Root, settings: Settings, gate: Option<StartGate>) -> Result<Self, Failure> {
        // The calls need no model; the requests of a shell in this session do.
        let model = match models::make(&settings.model) {
            Ok(model) => model,
            Err(failure) => {
                tracing::warn!("{}", failure.one_line());
                models::make(&Value::Null)?
            }
        };
        let (events, mut shown) = unbounded_channel();
        let editor = HeadlessEditor::new(root.path(), settings.servers, events)?.with_providers(settings.providers);
        let editor = Arc::new(editor.with_commands(settings.commands));
        let what = Advertisement { root: root.path().to_owned(), door: "mcp", editor_pid: None };
        let session = Arc::new(Engine::new(Arc::<HeadlessEditor>::clone(&editor), model, root, settings.config));
        // No user looks on; the log has the shown events.
        tokio::spawn(async move { while shown.recv().await.is_some() {} });
        let serving = serve(&session, what, session_folders()).await;
        drop(gate);
        let serving = serving.inspect_err(|error| tracing::warn!(%error, "no other program can join this session"));
        Ok(Self { session, editor, serving: Mutex::new(serving.ok()) })
    }
}

#[async_trait]
impl OpenWorkspace for HeadlessWorkspace {
    async fn call(
        &self,
        client: &OutsideClient,
        tool: &str,
        given: Value,
        once: &str,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure> {
        self.session.call(client, tool, given, Some(once), cancel).await
    }

    async fn made(&self, once: &str) -> Result<EditMade, Failure> {
        self.session.made(once).await
    }

    async fn client_left(&self, client: &OutsideClient) {
        self.session.client_left(client);
    }

    /// Gives way to an editor that has opened the workspace since: its buffers go before the disk.
    async fn is_there(&self) -> bool {
        let own = std::process::id();
        let found = choose_session::around(self.session.root().path()).await.entries;
        let moved = found.iter().any(|entry| entry.pid != own && is_editor(entry));
        !moved || !self.session.turn().is_free()
    }

    async fn close(&self) {
        self.session.turn().stop();
        if let Some(serving) = self.serving.lock().await.take() {
            serving.end().await;
        }
        self.session.finish_edits().await;
        self.session.close().await;
        self.editor.shutdown(Deadline::after(LEAVE)).await;
    }
}
