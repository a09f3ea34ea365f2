//! Serves a session: its socket, its permitted clients, and its end with the session.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::body::Incoming;
use jsonrpsee::RpcModule;
use jsonrpsee::core::BoxError;
use jsonrpsee::server::middleware::rpc::RpcServiceBuilder;
use jsonrpsee::server::{
    HttpResponse, Methods, ServerBuilder, ServerHandle, StopHandle, TowerServiceBuilder, serve_with_graceful_shutdown,
    stop_channel,
};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::layer::util::Identity;

use crate::discovery::advertise::Advertised;
use crate::discovery::{Advertisement, SessionEntry};
use crate::rpc::limits::{self, Rate, Rated};
use crate::rpc::methods::{self, RpcSession};
use crate::rpc::neighbour_calls::OtherSessions;
use crate::rpc::tcp::{self, Guarded, PortGuard};
use crate::waiting_peers::WaitingRoom;
use sextant_engine::api::Engine;

/// The pause of a listener that cannot accept (too many open files).
const PAUSE: Duration = Duration::from_millis(100);

/// A session that is served, until this is dropped.
#[derive(Debug)]
pub struct Serving {
    advertised: Arc<Advertised>,
    stop: ServerHandle,
}

impl Serving {
    pub fn entry(&self) -> &SessionEntry {
        self.advertised.entry()
    }

    /// Ends the server and every connection to it. No client can find it after that.
    pub async fn end(self) {
        let _ = self.stop.stop();
        let stopped = self.stop.clone();
        drop(self);
        let _ = tokio::time::timeout(Duration::from_millis(200), stopped.stopped()).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.stop.stop();
    }
}

/// Serves a session to other processes of this user, and lets it ask them before it changes files. This does not keep
/// the session alive.
///
/// # Errors
/// No folder can hold its socket.
pub async fn serve(agent: &Arc<Engine>, what: Advertisement, folders: Vec<PathBuf>) -> io::Result<Serving> {
    let places = folders.clone();
    agent.know_neighbours(Arc::new(OtherSessions::of(folders.clone(), &what.root)));
    let port = if agent.config().rpc.port { Some(tcp::listen()?) } else { None };
    let address = port.as_ref().map(|(_, address)| *address);
    let advertised = tokio::task::spawn_blocking(move || Advertised::new(&folders, &what, address));
    let (advertised, listener) = advertised.await.map_err(io::Error::other)??;
    let listener = UnixListener::from_std(listener)?;
    let advertised = Arc::new(advertised);
    let agent: Weak<Engine> = Arc::downgrade(agent);
    let methods = methods::all(RpcSession {
        agent,
        advertised: Arc::downgrade(&advertised),
        folders: places,
        calls: Arc::default(),
    });
    let (stop, handle) = stop_channel();
    if let (Some((listener, address)), Some(token)) = (port, advertised.token()) {
        let guard = PortGuard::new(address, token);
        tokio::spawn(accept_from_port(listener, guard, RpcEntrance::new(&methods, &stop)));
    }
    tokio::spawn(accept(listener, RpcEntrance::new(&methods, &stop)));
    tracing::info!(socket = %advertised.entry().socket.display(), "this session can be joined");
    Ok(Serving { advertised, stop: handle })
}

/// A way in, with places of its own: a client that fills those of the port takes none of the socket's.
struct RpcEntrance {
    methods: Methods,
    stop: StopHandle,
    /// The places of connections, until they turn into WebSockets.
    places: Arc<Semaphore>,
    /// The builder for all connections: it counts the WebSockets.
    builder: TowerServiceBuilder<Identity, Identity>,
}

impl RpcEntrance {
    fn new(methods: &Methods, stop: &StopHandle) -> Self {
        let places = Arc::new(Semaphore::new(limits::CONNECTIONS as usize));
        let builder = ServerBuilder::with_config(limits::config()).to_service_builder();
        Self { methods: methods.clone(), stop: stop.clone(), places, builder }
    }

    /// The place of one connection among those that are allowed.
    fn place(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok();
        if place.is_none() {
            tracing::warn!("a connection was refused: there are too many");
        }
        place
    }

    /// The service that answers the requests of one connection, within its own rate.
    fn service(
        &self,
    ) -> impl tower::Service<hyper::Request<Incoming>, Response = HttpResponse, Error = BoxError, Future: Send>
    + Clone
    + Send
    + 'static
    + use<> {
        let rate = Rate::default();
        let middleware = RpcServiceBuilder::new().layer_fn(move |inner| Rated::new(inner, rate.clone()));
        self.builder.clone().set_rpc_middleware(middleware).build(self.methods.clone(), self.stop.clone())
    }
}

async fn accept(listener: UnixListener, door: RpcEntrance) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = door.stop.clone().shutdown() => return,
        };
        let Some(stream) = taken(accepted).await else { continue };
        if let Err(why) = may_connect(&stream) {
            tracing::warn!(why, "a connection was refused");
            continue;
        }
        let Some(place) = door.place() else { continue };
        let (service, stopped) = (door.service(), door.stop.clone().shutdown());
        tokio::spawn(async move {
            let _place = place;
            ended(serve_with_graceful_shutdown(stream, service, stopped).await);
        });
    }
}

async fn accept_from_port(listener: TcpListener, guard: PortGuard, door: RpcEntrance) {
    let (room, door) = (WaitingRoom::default(), Arc::new(door));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = door.stop.clone().shutdown() => return,
        };
        let Some(stream) = taken(accepted).await else { continue };
        // An answer is written in pieces: the last one must not wait until the client has confirmed the first.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "answers of this connection may be slow");
        }
        let service = Guarded { guard: guard.clone(), inner: door.service() };
        let (stopped, waits, guard, door) =
            (door.stop.clone().shutdown(), room.enter().await, guard.clone(), Arc::clone(&door));
        tokio::spawn(async move {
            let serve = |stream, known: bool| async move {
                // A connection without the token takes no place from those with it.
                let place = if known { door.place() } else { None };
                if place.is_some() || !known {
                    ended(serve_with_graceful_shutdown(stream, service, stopped).await);
                }
            };
            waits.admit(stream, guard.token(), serve).await;
        });
    }
}

/// The stream of a connection. After a failed accept (too many open files), it waits for a moment.
async fn taken<S, A>(accepted: io::Result<(S, A)>) -> Option<S> {
    match accepted {
        Ok((stream, _)) => Some(stream),
        Err(error) => {
            tracing::warn!(%error, "a connection was not accepted");
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

fn ended(served: Result<(), BoxError>) {
    if let Err(error) = served {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Only this user may connect, whichever process reaches the socket.
fn may_connect(stream: &UnixStream) -> Result<(), &'static str> {
    let peer = stream.peer_cred().map_err(|_| "its user is not known")?;
    if peer.uid() == rustix::process::geteuid().as_raw() { Ok(()) } else { Err("it is of another user") }
}

/// The methods of several traits as one table.
///
/// # Panics
/// Never: names are checked by a test.
pub(super) fn merged(parts: Vec<Methods>) -> Methods {
    let mut all = RpcModule::new(());
    for part in parts {
        if let Err(error) = all.merge(part) {
            tracing::error!(%error, "two methods have one name");
        }
    }
    all.into()
}
