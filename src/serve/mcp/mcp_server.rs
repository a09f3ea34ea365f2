//! Serves one connection of one client: its requests, and each call from its beginning to its answer.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, Implementation, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::mcp::calls_in_flight::CallsInFlight;
use crate::mcp::tool_results;
use crate::mcp::unread_request;
use crate::mcp::workspaces::{Workspaces, folder};
use crate::rpc::rpc_failure::is_gone;
use sextant_base::clock::new_id;
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::{OutsideAnswer, OutsideClient, mcp_tools};

/// The time limit for a client to report its open folders.
const ROOTS: Duration = Duration::from_secs(3);
/// The number of questions about the outcome of an edit, and the pause between them, while the session that had it
/// ends.
const TRIES: usize = 40;
const AGAIN: Duration = Duration::from_millis(50);
/// The time after which a caller is notified that its call goes on, and the interval of further notices.
const PROGRESS: Duration = Duration::from_millis(250);
/// The instructions that a model reads once about all of the tools.
const INSTRUCTIONS: &str = "Files as the user's editor has them, unsaved text included. Every edit answers with the \
    diagnostics that it introduced, so no check has to be asked for; an empty list means clean only where \
    diagnostics_status is complete.";

/// The server as one client sees it.
#[derive(Clone)]
pub(in crate::mcp) struct McpServer {
    workspaces: Arc<Workspaces>,
    tools: Arc<Vec<Tool>>,
    /// The name of the connection.
    id: Arc<str>,
    /// The folders that the client has open, once it was asked.
    roots: Arc<Mutex<Option<Vec<PathBuf>>>>,
    /// True if the folders have changed since: set where messages are read, in their order.
    pub(in crate::mcp) stale_roots: Arc<AtomicBool>,
    /// The requests without an answer, where one transport carries them in an order.
    pub(in crate::mcp) in_flight: Arc<CallsInFlight>,
    /// True if every client has a session of its own; newer revisions of the protocol do without.
    needs_sessions: bool,
    /// Ends every call: the client is gone.
    closing: CancellationToken,
}

impl McpServer {
    pub(in crate::mcp) fn new(workspaces: Arc<Workspaces>, closing: CancellationToken) -> Self {
        let tools = mcp_tools().into_iter().map(tool_results::tool).collect();
        let (roots, stale_roots) = (Arc::default(), Arc::default());
        Self {
            workspaces,
            tools: Arc::new(tools),
            id: new_id().into(),
            roots,
            stale_roots,
            in_flight: Arc::default(),
            needs_sessions: false,
            closing,
        }
    }

    /// The same for connections that come and go, and clients that a session alone distinguishes.
    pub(in crate::mcp) fn with_sessions(workspaces: Arc<Workspaces>, closing: CancellationToken) -> Self {
        Self { needs_sessions: true, ..Self::new(workspaces, closing) }
    }

    /// The caller, as it has named itself at the beginning. In a revision of the protocol without a beginning, this
    /// request has the name.
    fn client(&self, context: &RequestContext<RoleServer>) -> OutsideClient {
        let begun = context.peer.peer_info().map(|info| info.client_info.name.clone());
        let name = begun.or_else(|| context.meta.client_info().map(|client| client.name));
        OutsideClient::new(&*self.id, &name.unwrap_or_default())
    }

    fn edits(&self, tool: &str) -> bool {
        self.tools.iter().any(|known| known.name == tool && !tool_results::only_reads(known))
    }

    /// Ends the calls of a client that is gone.
    pub(in crate::mcp) async fn leave(&self) {
        self.closing.cancel();
        self.workspaces.client_left(&OutsideClient::new(&*self.id, "")).await;
    }

    /// The folders that the client has open, in its order; empty if it reports none.
    #[allow(deprecated, reason = "the revision that drops roots has nothing yet that clients offer instead")]
    async fn roots(&self, peer: &Peer<RoleServer>) -> Vec<PathBuf> {
        if peer.peer_info().is_none_or(|info| info.capabilities.roots.is_none()) {
            return Vec::new();
        }
        let mut known = self.roots.lock().await;
        if self.stale_roots.swap(false, Ordering::SeqCst) {
            *known = None;
        }
        if let Some(roots) = &*known {
            return roots.clone();
        }
        match tokio::time::timeout(ROOTS, peer.list_roots()).await {
            Ok(Ok(listed)) => {
                let roots: Vec<PathBuf> = listed.roots.iter().filter_map(|root| folder(&root.uri)).collect();
                *known = Some(roots.clone());
                roots
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the client does not report its open folders");
                Vec::new()
            }
            Err(_) => Vec::new(),
        }
    }

    async fn called(
        &self,
        tool: &str,
        given: Value,
        context: &RequestContext<RoleServer>,
        cancel: &CancellationToken,
    ) -> Result<OutsideAnswer, Failure> {
        let client = self.client(context);
        let opened = async { self.workspaces.of(&self.roots(&context.peer).await, &given).await };
        let workspace = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Failure::cancelled().without_change()),
            opened = opened => opened?,
        };
        let once = new_id();
        let about = named_alone(&given);
        let called = workspace.call(&client, tool, given, &once, cancel).await;
        match called {
            Err(failure) if self.edits(tool) && is_gone(&failure) => self.after_gone(context, &about, &once).await,
            called => called,
        }
    }

    /// The answer of an edit whose session ended before it gave one. The session that has the workspace now knows from
    /// the record whether the edit was made.
    async fn after_gone(
        &self,
        context: &RequestContext<RoleServer>,
        given: &Value,
        once: &str,
    ) -> Result<OutsideAnswer, Failure> {
        let roots = self.roots(&context.peer).await;
        let mut known = Err(Failure::new(FailureKind::Editor, "", ""));
        for _ in 0..TRIES {
            known = match self.workspaces.of(&roots, given).await {
                Ok(workspace) => workspace.made(once).await,
                Err(failure) => Err(failure),
            };
            if !known.as_ref().is_err_and(is_gone) {
                break;
            }
            tokio::time::sleep(AGAIN).await;
        }
        match known {
            Ok(known) if known.made && known.lost.is_empty() => Ok(OutsideAnswer::of_made(&known)),
            Ok(known) if known.made => Err(Failure::new(
                FailureKind::Editor,
                format!("the session is gone, and the edit with it: {} does not have it", known.lost.join(", ")),
                "call again to make it: read the file first",
            )),
            Ok(_) => Err(Failure::new(
                FailureKind::Editor,
                "the session ended before the edit was made; nothing was written",
                "call again to make it",
            )),
            Err(failure) => Err(Failure::new(
                FailureKind::Editor,
                format!("the session is gone, and whether the edit was made is not known: {}", failure.message),
                "read the file before you make it again",
            )),
        }
    }
}

/// The most bytes of a possible path.
const PATH: usize = 4096;

/// The names in a call, without the texts that it brings: they are not held twice.
fn named_alone(given: &Value) -> Value {
    let is_short = |value: &Value| value.as_str().is_some_and(|text| text.len() <= PATH);
    let named = given.as_object().into_iter().flatten().filter(|(_, value)| is_short(value));
    Value::Object(named.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Notifies a caller that asked for progress that its call goes on, until this is dropped.
async fn report_progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
    let mut ticks = interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut notices = 0.0;
    loop {
        ticks.tick().await;
        notices += 1.0;
        let progress = ProgressNotificationParam::new(token.clone(), notices).with_message("waiting for the editor");
        if context.peer.notify_progress(progress).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> InitializeResult {
        let mut info = InitializeResult::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("sextant", env!("CARGO_PKG_VERSION"));
        info.with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.needs_sessions {
            true => ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE),
            false => ProtocolVersion::KNOWN_VERSIONS,
        })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let shown: String = request.name.chars().take(40).collect();
            return Err(ErrorData::invalid_params(format!("there is no tool named {shown:?}"), None));
        }
        let given = Value::Object(request.arguments.unwrap_or_default());
        let cancel = self.closing.child_token();
        let stop = async {
            context.ct.cancelled().await;
            cancel.cancel();
            std::future::pending::<()>().await;
        };
        let called = async {
            self.in_flight.turn(&context.id, |tool| self.edits(tool)).await;
            self.called(&request.name, given, &context, &cancel).await
        };
        let called = tokio::select! {
            called = called => called,
            () = report_progress(&context) => Err(Failure::cancelled()),
            () = stop => Err(Failure::cancelled()),
        };
        let result = match called {
            Ok(answer) => tool_results::done(answer),
            Err(failure) => {
                if failure.kind == FailureKind::Internal {
                    tracing::error!(tool = %request.name, "{}", failure.one_line());
                }
                tool_results::refused(&failure)
            }
        };
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(unread_request::error_of(request.method, request.params.as_ref()))
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.stale_roots.store(true, Ordering::SeqCst);
    }
}
