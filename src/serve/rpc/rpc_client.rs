//! Connects to a session's socket, and gives its methods to other rooms.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jsonrpsee::core::client::{Client, Subscription, SubscriptionCloseReason};
use jsonrpsee_ws_client::WsClientBuilder;
use serde_json::Value;
use tokio::net::UnixStream;

use crate::discovery::SessionEntry;
use crate::rpc::api::agent_api::{AgentApiClient, AnswerTaken, UndoPart};
use crate::rpc::api::diagnostics_api::{DiagnosticsApiClient, IntroducedDiagnostics};
use crate::rpc::api::edit_api::EditApiClient;
use crate::rpc::api::memory_api::MemoryApiClient;
use crate::rpc::api::plan_api::PlanApiClient;
use crate::rpc::api::session_api::{InfoApiClient, SessionInfo};
use crate::rpc::limits;
use crate::rpc::rpc_failure::read;
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::{
    Delivery, EditMade, HeldFile, Outcome, OutsideAnswer, OutsideClient, OutsideTool, Plan, Request, Steps, Undone,
};

/// The time limit for a session to take a connection. Its answers take as long as a task does.
const CONNECT: Duration = Duration::from_secs(5);
/// A task has limits of its own.
const NO_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Events that wait for a reader here; a terminal can stand still for long.
const WAITING: usize = 16_384;

/// A connection to a session.
#[derive(Debug)]
pub struct JoinedSession {
    pub entry: SessionEntry,
    client: Client,
}

impl JoinedSession {
    /// # Errors
    /// No process takes the connection, or a process of another user would.
    pub async fn to(entry: SessionEntry) -> Result<Self, Failure> {
        let connected = tokio::time::timeout(CONNECT, connect(&entry.socket)).await;
        let client = connected.map_err(|_| refused(&entry, "it does not answer"))?;
        let client = client.map_err(|why| refused(&entry, &why))?;
        Ok(Self { entry, client })
    }

    pub async fn info(&self) -> Result<SessionInfo, Failure> {
        InfoApiClient::info(&self.client).await.map_err(read)
    }

    /// The files of these that a user has open there.
    pub async fn owns(&self, files: &[PathBuf]) -> Result<Vec<HeldFile>, Failure> {
        InfoApiClient::owns(&self.client, files.to_vec()).await.map(|owned| owned.files).map_err(read)
    }

    /// Makes the session read the written files again.
    pub async fn written(&self, files: &[PathBuf]) -> Result<(), Failure> {
        InfoApiClient::written(&self.client, files.to_vec()).await.map_err(read)
    }

    pub async fn ask(&self, request: &Request, by: String) -> Result<Outcome, Failure> {
        AgentApiClient::ask(&self.client, request.clone(), Some(by)).await.map_err(read)
    }

    pub async fn plan(&self, request: &Request, by: String) -> Result<Plan, Failure> {
        AgentApiClient::plan(&self.client, request.clone(), Some(by)).await.map_err(read)
    }

    pub async fn answer(&self, choice: usize, by: String) -> Result<AnswerTaken, Failure> {
        AgentApiClient::answer(&self.client, choice, Some(by)).await.map_err(read)
    }

    /// `unseen`: no user has read the plan.
    pub async fn approve(&self, steps: Steps, unseen: bool, by: String) -> Result<Outcome, Failure> {
        PlanApiClient::approve(&self.client, Some(steps), Some(unseen), Some(by)).await.map_err(read)
    }

    /// Stops the running task; false if no task runs.
    pub async fn cancel(&self) -> Result<bool, Failure> {
        AgentApiClient::cancel(&self.client).await.map(|stopped| stopped.stopped).map_err(read)
    }

    pub async fn resume(&self, approved: bool, by: String) -> Result<Outcome, Failure> {
        AgentApiClient::resume(&self.client, Some(approved), Some(by)).await.map_err(read)
    }

    pub async fn undo(&self, part: UndoPart, by: String) -> Result<Undone, Failure> {
        AgentApiClient::undo(&self.client, Some(part), Some(by)).await.map_err(read)
    }

    pub async fn redo(&self, by: String) -> Result<Undone, Failure> {
        AgentApiClient::redo(&self.client, Some(by)).await.map_err(read)
    }

    /// Forgets every entry that has a text; the answer names the entries that go with it.
    pub async fn forget(&self, text: &str, by: String) -> Result<String, Failure> {
        MemoryApiClient::forget(&self.client, text.to_owned(), Some(by)).await.map(|answer| answer.text).map_err(read)
    }

    /// The tools that may be called there.
    pub async fn tools(&self) -> Result<Vec<OutsideTool>, Failure> {
        EditApiClient::tools(&self.client).await.map(|list| list.tools).map_err(read)
    }

    /// True if the session is still connected.
    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    /// Calls a tool; `call` is its name for [`JoinedSession::cancel_call`] and for [`JoinedSession::made`].
    pub async fn call(
        &self,
        client: &OutsideClient,
        tool: &str,
        arguments: Value,
        call: &str,
    ) -> Result<OutsideAnswer, Failure> {
        let (name, once) = (Some(call.to_owned()), Some(call.to_owned()));
        let called = EditApiClient::call(&self.client, tool.to_owned(), arguments, Some(client.clone()), name, once);
        called.await.map_err(read)
    }

    /// The outcome of the edit of a call.
    pub async fn made(&self, call: &str) -> Result<EditMade, Failure> {
        EditApiClient::made(&self.client, call.to_owned()).await.map_err(read)
    }

    /// Ends the waits of a call; false if the call is over.
    pub async fn cancel_call(&self, call: &str) -> Result<bool, Failure> {
        EditApiClient::cancel_call(&self.client, call.to_owned()).await.map(|call| call.known).map_err(read)
    }

    /// Reports that a client will not call again.
    pub async fn client_left(&self, client: &OutsideClient) -> Result<(), Failure> {
        EditApiClient::leave(&self.client, client.clone()).await.map(|_| ()).map_err(read)
    }

    /// The diagnostics that the last task has introduced.
    pub async fn introduced(&self) -> Result<IntroducedDiagnostics, Failure> {
        DiagnosticsApiClient::delta(&self.client).await.map_err(read)
    }

    /// The events of the session from now on, or after the event of this number.
    pub async fn events(self: &Arc<Self>, after: Option<u64>) -> Result<EventFeed, Failure> {
        let after = match after {
            Some(after) => after,
            None => self.info().await?.state.seq,
        };
        let subscription = AgentApiClient::events(&self.client, Some(after)).await.map_err(read)?;
        Ok(EventFeed { joined: Arc::clone(self), subscription, after })
    }
}

/// The events of a session, in order; every gap is reported.
#[derive(Debug)]
pub struct EventFeed {
    joined: Arc<JoinedSession>,
    subscription: Subscription<Delivery>,
    /// The last number that was delivered.
    after: u64,
}

impl EventFeed {
    /// The next delivery; `None` when the session is gone.
    pub async fn next(&mut self) -> Option<Delivery> {
        loop {
            match self.subscription.next().await {
                Some(Ok(delivery)) => {
                    self.after = match &delivery {
                        Delivery::Event(envelope) => envelope.seq,
                        Delivery::Resync(resync) => resync.state.seq,
                    };
                    return Some(delivery);
                }
                Some(Err(error)) => tracing::warn!(%error, "an event of a newer version is passed over"),
                // The reader was too slow for the buffer: it goes on where it was, as far as the session still has the
                // events.
                None if matches!(self.subscription.close_reason(), Some(SubscriptionCloseReason::Lagged)) => {
                    let again = AgentApiClient::events(&self.joined.client, Some(self.after)).await;
                    self.subscription = again.ok()?;
                }
                None => return None,
            }
        }
    }
}

async fn connect(socket: &Path) -> Result<Client, String> {
    let stream = UnixStream::connect(socket).await.map_err(|error| error.to_string())?;
    let peer = stream.peer_cred().map_err(|error| error.to_string())?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return Err("its socket belongs to another user".to_owned());
    }
    let builder = WsClientBuilder::new()
        .max_request_size(limits::REQUEST)
        .max_response_size(limits::RESPONSE)
        .max_frame_size(limits::RESPONSE)
        .request_timeout(NO_LIMIT)
        .max_buffer_capacity_per_subscription(WAITING);
    builder.build_with_stream("ws://localhost/", stream).await.map_err(|error| error.to_string())
}

fn refused(entry: &SessionEntry, why: &str) -> Failure {
    let message = format!("the session {} cannot be joined: {why}", entry.name);
    Failure::new(
        FailureKind::Editor,
        message,
        "--headless works without it; `sextant sessions` lists those that are there",
    )
}
