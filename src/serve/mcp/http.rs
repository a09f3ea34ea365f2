//! Serves clients over HTTP on this machine alone: the token, the Host and the Origin are checked before anything else.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::json_values;
use crate::mcp::mcp_server::McpServer;
use crate::mcp::mcp_workspace::WorkspaceOpener;
use crate::mcp::workspaces::Workspaces;
use crate::waiting_peers::{self, ReadAhead, WaitingRoom};
use sextant_base::access_token;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_store::workspace::root::Root;

/// The most connections at a time.
const CONNECTIONS: usize = 64;
/// Bytes of one message, as over standard input.
const LONGEST: usize = 32 << 20;
/// The pause of a listener that cannot accept (too many open files).
const PAUSE: Duration = Duration::from_millis(100);
/// The time limit for the head of a request.
const HEAD: Duration = Duration::from_secs(10);

/// The most clients at a time. A new client beyond it ends the one that was heard of longest ago.
const CLIENTS: usize = 64;

type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// A callback that gets the address once it is served.
pub type OnListening<'a> = &'a (dyn Fn(SocketAddr) + Sync);

/// Serves until `stop` is cancelled.
///
/// # Errors
/// The port cannot be used.
pub async fn serve(
    opener: Box<dyn WorkspaceOpener>,
    fallback: Result<Root, Failure>,
    port: u16,
    token: &str,
    report: OnListening<'_>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let taken = |error| {
        let message = format!("port {port} of this machine cannot be listened on: {error}");
        Failure::new(FailureKind::Config, message, "give another port, or 0 for any that is free")
    };
    let listener = waiting_peers::listen(port).map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    let workspaces = Arc::new(Workspaces::new(opener, fallback));
    let config = config(address, &stop);
    let (shared, closing) = (Arc::clone(&workspaces), stop.child_token());
    let new_client = move || Ok(McpServer::with_sessions(Arc::clone(&shared), closing.child_token()));
    let manager = Arc::new(LocalSessionManager::default());
    let clients = Arc::new(Clients { manager: Arc::clone(&manager), known: Mutex::default() });
    let service = StreamableHttpService::new(new_client, manager, config);
    report(address);
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let door = HttpDoor { service, clients, token: token.into(), places, stop: stop.clone() };
    let waiting = WaitingRoom::default();
    loop {
        let stream = tokio::select! {
            stream = next(&listener) => stream,
            () = stop.cancelled() => break,
        };
        // An answer is written in pieces: the last one must not wait until the client has confirmed the first.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "answers of this connection may be slow");
        }
        let (door, waits) = (door.clone(), waiting.enter().await);
        tokio::spawn(async move {
            let token = Arc::clone(&door.token);
            waits.admit(stream, &token, |stream, known| door.connection(stream, known)).await;
        });
    }
    workspaces.close().await;
    Ok(())
}

/// The service that answers connections.
#[derive(Clone)]
struct HttpDoor {
    service: StreamableHttpService<McpServer, LocalSessionManager>,
    clients: Arc<Clients>,
    token: Arc<str>,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl HttpDoor {
    /// Answers the requests of one connection; `known` if its first request has the token.
    async fn connection(self, stream: ReadAhead, known: bool) {
        // A connection without the token takes no place from those with it.
        let place = if known { self.places.try_acquire().ok() } else { None };
        if known && place.is_none() {
            return;
        }
        let answer = service_fn(|request: Request<Incoming>| async { Ok::<_, Infallible>(self.answer(request).await) });
        let mut served = http1::Builder::new();
        served.timer(TokioTimer::new()).header_read_timeout(HEAD);
        tokio::select! {
            ended = served.serve_connection(TokioIo::new(stream), answer) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection broke");
                }
            }
            () = self.stop.cancelled() => {}
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpAnswer {
        if let Some(refused) = refusal(request.headers(), &self.token) {
            return refused;
        }
        let session = session_of(request.headers());
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, LONGEST).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return plain(StatusCode::PAYLOAD_TOO_LARGE, format!("the message cannot be read: {error}")),
        };
        if json_values::are_too_many(&body) {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, json_values::limit());
        }
        let answer = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        self.clients.seen(session.or_else(|| session_of(answer.headers()))).await;
        answer
    }
}

/// The clients that have begun a session, the last heard of at the end.
struct Clients {
    manager: Arc<LocalSessionManager>,
    known: Mutex<VecDeque<SessionId>>,
}

impl Clients {
    async fn seen(&self, session: Option<SessionId>) {
        let Some(session) = session else { return };
        let oldest = {
            let mut known = lock(&self.known);
            known.retain(|other| *other != session);
            known.push_back(session);
            if known.len() > CLIENTS { known.pop_front() } else { None }
        };
        if let Some(oldest) = oldest
            && let Err(error) = self.manager.close_session(&oldest).await
        {
            tracing::debug!(%error, "a client's session was over already");
        }
    }
}

/// The session that a head names.
fn session_of(headers: &HeaderMap) -> Option<SessionId> {
    headers.get("mcp-session-id").and_then(|value| value.to_str().ok()).map(Into::into)
}

/// The next connection.
async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => tracing::warn!(%error, "a connection was not accepted"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Only the names of this machine may come, and no page of another site.
fn config(address: SocketAddr, stop: &CancellationToken) -> StreamableHttpServerConfig {
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", address.port()));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.clone())
        .with_allowed_origins(names.map(|name| format!("http://{name}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST)
        .with_cancellation_token(stop.child_token())
}

/// Refuses a client without the token, before anything of the request is read.
fn refusal(headers: &HeaderMap, wanted: &str) -> Option<HttpAnswer> {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if access_token::same(given, wanted) {
        return None;
    }
    let mut answer = plain(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN".to_owned());
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    Some(answer)
}

/// An answer of one line.
fn plain(status: StatusCode, text: String) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}
