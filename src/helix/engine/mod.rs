//! Runs the engine of a workspace: one process that holds the session for every proxy.
//!
//! It runs from the first proxy until a moment after the last.

mod buffers;
mod changed_lines;
mod commands;
mod conversation_page;
mod conversation_text;
mod end_line;
mod helix_wording;
mod introduced;
mod lifetime;
mod links;
mod named_places;
mod offered_blocks;
mod open_documents;
mod plan_page;
mod plan_page_text;
mod proxy_answer_order;
mod publishing;
mod question_page;
mod reading_pages;
mod request_arguments;
mod request_page;
mod saved_pages;
mod servers;
mod session_display;
mod spare_servers;
mod status_line;
mod streamed_page;
mod turn_progress;
mod typing_pause;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::OnceCell;

use crate::engine::buffers::EditorBuffers;
use crate::engine::changed_lines::OfferedChanges;
use crate::engine::commands::AskedFrom;
use crate::engine::conversation_page::ConversationPage;
use crate::engine::introduced::OwnFindings;
use crate::engine::links::{EngineLink, Links};
use crate::engine::open_documents::Mirror;
use crate::engine::plan_page::PlanPage;
use crate::engine::question_page::QuestionAsked;
use crate::engine::reading_pages::ReadingPages;
use crate::engine::request_page::RequestPage;
use crate::engine::servers::OwnServers;
use crate::engine::spare_servers::SpareServers;
use crate::link::link_channel::{self, LinkCall, LinkError, LinkReceiver, LinkReply, LinkSender};
use crate::link::{EngineSays, Hello, LINK_VERSION, ProxiedServer, ProxySays, Welcome};
use crate::proxy_sockets;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::path;
use sextant_diagnostics::command::CommandProvider;
use sextant_diagnostics::model::DiagnosticsProvider;
use sextant_diagnostics::server::LanguageServer;
use sextant_diagnostics::server::server_config::ServerConfig;
use sextant_engine::api::{Config, Engine};
use sextant_headless::HeadlessEditor;
use sextant_model::step::Model;
use sextant_store::workspace::root::Root;

/// The time limit for a proxy's greeting.
const HELLO: Duration = Duration::from_secs(10);

/// The time in which an editor with options may follow one without.
const OPTIONS: Duration = Duration::from_millis(300);

/// The pause between two looks for it.
const LOOK: Duration = Duration::from_millis(10);

/// The time that language servers and edits have to end.
const LEAVE: Duration = Duration::from_secs(1);

/// The pause of a listener that cannot accept (too many open files).
const PAUSE: Duration = Duration::from_millis(100);

/// The parts of a session, from the user's settings.
pub struct EngineParts {
    pub config: Config,
    pub model: Arc<dyn Model>,
    /// The servers for languages that the editor runs no server for.
    pub servers: Vec<ServerConfig>,
    pub providers: Vec<Box<dyn DiagnosticsProvider>>,
    pub commands: Vec<CommandProvider>,
}

/// Reads the options of the first proxy that has any; `null` if none has.
pub type MakeParts = Box<dyn Fn(&Value, &Path) -> Result<EngineParts, Failure> + Send + Sync>;

/// Lets other programs find the session, and returns its name.
pub type OnSession = Box<dyn Fn(Arc<Engine>, Option<u32>) -> BoxFuture<'static, String> + Send + Sync>;

/// The inputs that an engine is started with.
pub struct EngineSetup {
    pub root: Root,
    /// The folder of the workspace's sessions.
    pub folder: PathBuf,
    pub make: MakeParts,
    pub on_session: OnSession,
}

/// The session, once an editor is there.
struct OpenSession {
    agent: Arc<Engine>,
    editor: Arc<HeadlessEditor>,
    own: OwnServers,
    name: String,
}

struct EngineHost {
    setup: EngineSetup,
    buffers: EditorBuffers,
    session: OnceCell<OpenSession>,
    answers: ConversationPage,
    reading: ReadingPages,
    plan: PlanPage,
    requests: RequestPage,
    question: QuestionAsked,
    found: OwnFindings,
    changes: OfferedChanges,
    spares: SpareServers,
    /// The file that the last command came from.
    asked_from: Mutex<AskedFrom>,
}

/// Serves the proxies of one workspace until the last one is gone. The caller holds the lock of the workspace's engine.
///
/// # Errors
/// The socket cannot be listened on.
pub async fn run(listener: std::os::unix::net::UnixListener, setup: EngineSetup) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let (mirror, links) = (Arc::<Mirror>::default(), Arc::<Links>::default());
    let buffers = EditorBuffers { root: setup.root.path().to_owned(), mirror, links, patience: typing_pause::PATIENCE };
    let engine = Arc::new(EngineHost {
        answers: ConversationPage::new(&setup.folder),
        reading: ReadingPages::new(&setup.folder),
        plan: PlanPage::new(&setup.folder),
        requests: RequestPage::new(&setup.folder),
        question: QuestionAsked::default(),
        found: OwnFindings::default(),
        changes: OfferedChanges::default(),
        spares: SpareServers::default(),
        asked_from: Mutex::default(),
        session: OnceCell::new(),
        buffers,
        setup,
    });
    let serving = tokio::spawn(accept(Arc::clone(&engine), listener));
    lifetime::wait_for_the_last(engine.buffers.links.count(), || engine.works_for_others()).await;
    serving.abort();
    engine.close().await;
    Ok(())
}

async fn accept(engine: Arc<EngineHost>, listener: UnixListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let engine = Arc::clone(&engine);
                tokio::spawn(async move { serve(&engine, stream).await });
            }
            Err(error) => {
                tracing::warn!(%error, "a proxy was not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one proxy, from its greeting to its end.
async fn serve(engine: &Arc<EngineHost>, stream: UnixStream) {
    let (out, mut incoming): (LinkSender<EngineSays>, LinkReceiver<ProxySays>) = match link_channel::open(stream) {
        Ok(both) => both,
        Err(error) => return tracing::warn!(%error, "a proxy was refused"),
    };
    let Ok(Some(LinkCall { id: Some(id), message: ProxySays::Hello(hello) })) =
        tokio::time::timeout(HELLO, incoming.next()).await
    else {
        return tracing::warn!("a proxy sent no greeting");
    };
    let link = match engine.greet(*hello, &out).await {
        Ok((link, welcome)) => {
            out.reply(id, &serde_json::to_value(welcome).map_err(|error| LinkError::new(error.to_string(), "")));
            link
        }
        Err(failure) => {
            tracing::warn!("{}", failure.one_line());
            let failure = helix_wording::failure(&failure);
            let refused: LinkReply = Err(LinkError::new(failure.message, failure.hint.text()));
            out.reply(id, &refused);
            return;
        }
    };
    engine.welcome(&link);
    while let Some(LinkCall { id, message }) = incoming.next().await {
        match (id, message) {
            (Some(id), ProxySays::ActionsTurn(file)) => engine.reply_in_turn(&link, id, file.uri),
            (Some(id), ProxySays::Definition(place)) => {
                link.out.reply(id, &Ok(engine.named_place(&link, &place)));
            }
            (Some(id), _) => drop(out.reply(id, &Err(LinkError::new("this is not a request", "")))),
            (None, message) => engine.take(&link, message),
        }
    }
    engine.leave(&link);
}

impl EngineHost {
    async fn greet(
        self: &Arc<Self>,
        hello: Hello,
        out: &LinkSender<EngineSays>,
    ) -> Result<(Arc<EngineLink>, Welcome), Failure> {
        let again = "restart the editor: two versions of Sextant run at once";
        if hello.version != LINK_VERSION {
            let message = format!("the engine is of version {LINK_VERSION} and the proxy of version {}", hello.version);
            return Err(Failure::new(FailureKind::Config, message, again));
        }
        if hello.root != self.setup.root.path() {
            let message = format!("this is the engine of {}", self.setup.root.path().display());
            return Err(Failure::new(FailureKind::Internal, message, again));
        }
        if hello.options.is_null() {
            // Helix starts the servers of a file at once, and the options may stand under a slower one.
            let opened = async {
                while !self.session.initialized() {
                    tokio::time::sleep(LOOK).await
                }
            };
            tokio::time::timeout(OPTIONS, opened).await.ok();
        }
        let session = self.session.get_or_try_init(|| self.open(&hello)).await?;
        let root = self.setup.root.path();
        let server = hello.server.as_ref().map(|server| Arc::new(linked(server, root)));
        let spare = hello.server.as_ref().map(|server| self.spares.of(server, root));
        let (id, messaged) = (self.buffers.links.next_id(), self.buffers.links.messaged(hello.editor_pid));
        let link = EngineLink { id, hello, out: out.clone(), server, spare, messaged };
        Ok((Arc::new(link), Welcome { session: session.name.clone() }))
    }

    /// Makes the session with the first editor's options.
    async fn open(self: &Arc<Self>, hello: &Hello) -> Result<OpenSession, Failure> {
        let root = self.setup.root.clone();
        let parts = (self.setup.make)(&hello.options, root.path())?;
        let (events, mut shown) = tokio::sync::mpsc::unbounded_channel();
        let editor = HeadlessEditor::new(root.path(), Vec::new(), events)?.with_providers(parts.providers);
        let editor = editor.with_commands(parts.commands).with_buffers(Arc::new(self.buffers.clone()));
        let editor = Arc::new(editor);
        // The editor shows the stream of the session, which has more than this.
        tokio::spawn(async move { while shown.recv().await.is_some() {} });
        let own = |config| Arc::new(LanguageServer::new(config, root.path()));
        let own = OwnServers(parts.servers.into_iter().map(own).collect());
        own.arrange(&editor, &self.buffers.links);
        let agent = Arc::new(Engine::new(Arc::<HeadlessEditor>::clone(&editor), parts.model, root, parts.config));
        agent.answers_come();
        tokio::spawn(session_display::follow(Arc::downgrade(self), agent.events().subscribe(None).1));
        let name = (self.setup.on_session)(Arc::clone(&agent), hello.editor_pid).await;
        Ok(OpenSession { agent, editor, own, name })
    }

    fn welcome(self: &Arc<Self>, link: &Arc<EngineLink>) {
        self.buffers.links.add(Arc::clone(link));
        self.arrange();
        self.found.tell(self, link);
        let ready = format!("Sextant {} serves {}", env!("CARGO_PKG_VERSION"), self.setup.root.path().display());
        link.notify("window/logMessage", json!({"type": links::INFO, "message": ready}));
    }

    fn leave(&self, link: &EngineLink) {
        self.buffers.links.remove(link.id);
        self.buffers.mirror.left(link.id);
        self.buffers.links.order.left(link.hello.editor_pid);
        self.arrange();
        self.found.look_again(self, None);
        tokio::spawn(proxy_sockets::sweep_soon(self.setup.folder.clone()));
    }

    fn arrange(&self) {
        if let Some(session) = self.session.get() {
            session.own.arrange(&session.editor, &self.buffers.links);
        }
    }

    /// Handles one message. The next one of this proxy waits for its end, so long work is spawned.
    fn take(self: &Arc<Self>, link: &Arc<EngineLink>, message: ProxySays) {
        match message {
            ProxySays::Opened(opened) => {
                let file = path::from_uri(&opened.uri).and_then(|file| path::relative(self.setup.root.path(), &file));
                let uri = opened.uri.clone();
                self.buffers.mirror.opened(link.id, link.hello.editor_pid, opened);
                let new = file.is_some_and(|file| link.covers(&file));
                if new {
                    self.arrange();
                }
                self.used(link);
                self.opened(&uri);
                self.found.look_again(self, Some(&uri));
            }
            ProxySays::Changed(changed) => {
                if let Some(change) = self.buffers.mirror.changed(link.id, changed) {
                    if !change.ours {
                        self.used(link);
                    }
                    self.found.changed(self, &change);
                    self.changes.changed(self, &change);
                    self.look_at_blocks(&change.uri);
                }
            }
            ProxySays::Closed(closed) => {
                self.buffers.mirror.closed(link.id, &closed.uri);
                self.found.look_again(self, Some(&closed.uri));
            }
            ProxySays::Saved(saved) => self.saved(link, &saved.uri),
            ProxySays::Command(command) => {
                self.used(link);
                commands::take(self, link, command);
            }
            ProxySays::ActionsAsked(file) => self.buffers.links.order.asked(link.asked_file(file.uri)),
            ProxySays::ActionsAnswered(file) => self.buffers.links.order.answered(&link.asked_file(file.uri)),
            ProxySays::Hello(_) | ProxySays::ActionsTurn(_) | ProxySays::Definition(_) => {
                tracing::warn!("a proxy sent a request as a message")
            }
        }
    }

    /// Replies to a proxy when its turn to answer the editor has come.
    fn reply_in_turn(self: &Arc<Self>, link: &Arc<EngineLink>, id: u64, uri: String) {
        let (engine, link) = (Arc::clone(self), Arc::clone(link));
        tokio::spawn(async move {
            engine.buffers.links.order.turn(&link.asked_file(uri)).await;
            link.out.reply(id, &Ok(Value::Null));
        });
    }

    /// Notes that the user is at this link. The user who asked for the running task still gets its news.
    fn used(&self, link: &EngineLink) {
        self.buffers.links.used(link.id);
        if self.session.get().is_none_or(|session| session.agent.turn().is_free()) {
            self.buffers.links.asked_over(None);
        }
    }

    /// True if the running task was asked for by a program that joined the session.
    fn works_for_others(&self) -> bool {
        let running = self.session.get().and_then(|session| session.agent.turn().now());
        running.is_some_and(|task| task.joined)
    }

    async fn close(&self) {
        let Some(session) = self.session.get() else { return };
        session.agent.nobody_answers();
        session.agent.turn().stop();
        session.agent.finish_edits().await;
        session.agent.close().await;
        session.editor.shutdown(Deadline::after(LEAVE)).await;
        self.plan.page.remove(&self.buffers);
        self.answers.page.remove(&self.buffers);
        self.reading.remove(&self.buffers);
        self.requests.page.remove(&self.buffers);
        proxy_sockets::sweep(&self.setup.folder);
    }
}

/// The server behind a proxy, asked over the proxy's socket. The settings of the editor's user are set there already.
fn linked(server: &ProxiedServer, root: &Path) -> LanguageServer {
    let config = ServerConfig {
        name: server.name.clone(),
        command: server.command.clone(),
        socket: Some(server.socket.clone()),
        initialization_options: server.initialization_options.clone(),
        ..ServerConfig::default()
    };
    LanguageServer::new(config, root).for_no_language()
}
