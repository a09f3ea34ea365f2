//! The handshake with one server process, and the answers to its requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use lsp_types::{InitializeRequest, LspAny, MessageType};
use serde_json::json;

use crate::model::Reach;
use crate::server::client_capabilities::{self, folders};
use crate::server::connection::{Connection, Handler};
use crate::server::json_rpc::{Reply, RpcError};
use crate::server::received::{
    self, Capabilities, Initialized, ServerMessage, ServerStatus, WantedSection, WantedSettings,
};
use crate::server::{Inner, saves};
use crate::server_facts::{self, Fact};
use sextant_base::lock::lock;
use sextant_base::positions::Encoding;

/// The longest wait for the answer to `initialize`. Large projects on a busy machine need tens of seconds.
const INITIALIZE: Duration = Duration::from_secs(60);

/// The request of typescript-language-server that hands a command to tsserver and its answer back.
pub(super) const TSSERVER: &str = "typescript.tsserverRequest";
/// The command by which vtsls lets tsserver read its projects again.
pub(super) const RELOAD: &str = "typescript.reloadProjects";

/// gopls's request to diagnose files. Its publishes come before the answer; it leaves one out whose list stays equal.
pub(super) const DIAGNOSE: &str = "gopls.diagnose_files";

/// Probe pulls sent to a server that neither advertises them nor is trusted, until one was conclusive.
const PROBES: u8 = 8;

/// The method that gets a server's diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PullMethod {
    /// `textDocument/diagnostic`.
    Pull,
    /// [`TSSERVER`].
    Command,
    /// [`DIAGNOSE`], and what was published by its answer.
    Diagnose,
    /// `textDocument/publishDiagnostics`.
    Push,
}

impl PullMethod {
    /// True if the lists come by publish.
    pub(crate) fn publishes(self) -> bool {
        matches!(self, Self::Diagnose | Self::Push)
    }
}

#[derive(Debug)]
struct Learned {
    way: PullMethod,
    probes_left: u8,
    probing: bool,
}

/// One running and initialized server process.
#[derive(Debug)]
pub(crate) struct ServerConnection {
    pub connection: Connection,
    pub capabilities: Capabilities,
    pub encoding: Encoding,
    /// Lower-case: the configured name and the server's own name.
    names: [String; 2],
    learned: Mutex<Learned>,
    /// True if the last request for code actions was not answered in time: the next ones wait no longer for it.
    pub actions_unanswered: AtomicBool,
    /// True if a request for them waited in vain for as long as a start may take.
    pub actions_awaited: AtomicBool,
    pub(super) projects: TsProjects,
}

/// The projects of a tsserver. It keeps an import unresolved whose file comes later: it watches the file's folder, and
/// is asked before it hears of it.
#[derive(Debug, Default)]
pub(super) struct TsProjects {
    /// True if a file was made or deleted since they were read.
    pub outdated: AtomicBool,
    /// Held while they are read again: a question waits for it.
    pub reading: tokio::sync::Mutex<()>,
}

impl ServerConnection {
    /// The name that the server gave itself, in lower case; empty if it gave none.
    pub(crate) fn own_name(&self) -> &str {
        &self.names[1]
    }

    /// True if the table of facts has a row of it.
    pub(crate) fn is_known(&self) -> bool {
        self.names.iter().any(|name| server_facts::is_known(name))
    }

    pub(crate) fn knows(&self, fact: Fact) -> bool {
        self.names.iter().any(|name| server_facts::knows(name, fact))
    }

    /// True if it reads this file of settings again a while after a change.
    pub(super) fn rereads(&self, path: &str) -> bool {
        self.names.iter().any(|name| server_facts::rereads(name, path))
    }

    pub(crate) fn advertises_pull(&self) -> bool {
        self.capabilities.diagnostic_provider.is_some()
    }

    /// True if it knows only the saved state of a text.
    pub(crate) fn reads_the_disk(&self) -> bool {
        saves::reads_the_disk(&self.capabilities)
    }

    /// True if a change of one file may change the diagnostics of another.
    pub(crate) fn reach(&self) -> Reach {
        let pull = self.capabilities.diagnostic_provider.as_ref();
        let (one, many) = pull.map_or((None, None), |pull| (pull.inter_file_dependencies, pull.workspace_diagnostics));
        // A server that reports on the whole workspace looks at other files, even if it declares otherwise (emmylua_ls
        // does both).
        let declared = one == Some(false) && many != Some(true);
        if declared || self.knows(Fact::OneFile) { Reach::File } else { Reach::Project }
    }

    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        let provider = self.capabilities.execute_command_provider.as_ref();
        provider.and_then(|provider| provider.commands.as_ref()).into_iter().flatten().map(String::as_str)
    }

    pub(super) fn resolves_actions(&self) -> bool {
        let provider = self.capabilities.code_action_provider.as_ref();
        provider.and_then(|provider| provider.resolve_provider) == Some(true)
    }

    pub(crate) fn way(&self) -> PullMethod {
        lock(&self.learned).way
    }

    pub(crate) fn set_way(&self, way: PullMethod) {
        *lock(&self.learned) = Learned { way, probes_left: 0, probing: false };
    }

    /// True if a probe pull is to be sent now.
    pub(crate) fn take_probe(&self) -> bool {
        let mut learned = lock(&self.learned);
        let wanted = learned.way == PullMethod::Push && learned.probes_left > 0 && !learned.probing;
        learned.probing |= wanted;
        wanted
    }

    /// A probe that could be compared is spent; any other is sent again another time.
    pub(crate) fn end_probe(&self, compared: bool) {
        let mut learned = lock(&self.learned);
        learned.probing = false;
        learned.probes_left = learned.probes_left.saturating_sub(u8::from(compared));
    }
}

#[derive(Debug)]
pub(super) struct StartError {
    pub reason: String,
    /// True if another attempt is pointless, because the program is missing.
    pub fatal: bool,
}

/// Starts the process and shakes hands. `run` numbers the processes of one server.
pub(super) async fn start(inner: &Arc<Inner>, run: u64) -> Result<ServerConnection, StartError> {
    let config = &inner.config;
    let program = config.command.first().map_or("", String::as_str);
    let handler = Arc::new(Incoming { server: Arc::downgrade(inner), run });
    let opened = match &config.socket {
        Some(socket) => Connection::connect(&config.name, socket, handler).await,
        None => Connection::spawn(&config.name, &config.command, &inner.root, handler),
    };
    let connection = opened.map_err(|error| StartError {
        reason: format!("{program} cannot be started: {error}"),
        fatal: matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied),
    })?;
    inner.observed.mood.forget();
    lock(&inner.observed.compiler).forget();
    lock(&inner.observed.background).forget();
    inner.observed.patience.forget(connection.process);
    let failed = |reason: String| StartError { reason, fatal: false };
    let answer = connection
        .request::<InitializeRequest>(&client_capabilities::params(inner), INITIALIZE)
        .await
        .map_err(|error| failed(format!("{program} did not initialize: {error}")))?;
    let Initialized { capabilities, server_info } = received::read(&answer).unwrap_or_default();
    let capabilities = capabilities.unwrap_or_default();
    let encoding = capabilities.position_encoding.as_deref().map(Encoding::from_lsp);
    let own = server_info.and_then(|server| server.name).unwrap_or_default();
    let run = ServerConnection {
        connection,
        encoding: encoding.unwrap_or_default(),
        names: [config.name.to_lowercase(), own.to_lowercase()],
        learned: Mutex::new(Learned { way: PullMethod::Push, probes_left: PROBES, probing: false }),
        actions_unanswered: AtomicBool::new(false),
        actions_awaited: AtomicBool::new(false),
        projects: TsProjects::default(),
        capabilities,
    };
    if run.advertises_pull() || run.knows(Fact::AnswersPulls) {
        run.set_way(PullMethod::Pull);
    } else if run.commands().any(|command| command == TSSERVER) {
        run.set_way(PullMethod::Command);
    } else if run.commands().any(|command| command == DIAGNOSE) {
        run.set_way(PullMethod::Diagnose);
    }
    Ok(run)
}

/// The messages of one process. Late messages of an earlier process are ignored.
struct Incoming {
    server: Weak<Inner>,
    run: u64,
}

impl Handler for Incoming {
    fn heard(&self) {
        if let Some(inner) = self.server.upgrade().filter(|inner| inner.run.load(Ordering::SeqCst) == self.run) {
            inner.observed.patience.heard();
        }
    }

    fn notification(&self, method: &str, params: LspAny) {
        let Some(inner) = self.server.upgrade().filter(|inner| inner.run.load(Ordering::SeqCst) == self.run) else {
            return;
        };
        match method {
            "textDocument/publishDiagnostics" => inner.published(received::read(&params)),
            "window/logMessage" | "window/showMessage" => {
                let ServerMessage { kind, message } = received::read(&params).unwrap_or_default();
                let text = message.as_deref().unwrap_or_default();
                tracing::debug!(server = inner.config.name, text, "message");
                if kind == Some(MessageType::Error) {
                    inner.observed.mood.complained(text);
                }
            }
            "eslint/status" => {
                inner.observed.mood.note_state(received::read(&params).and_then(|status: ServerStatus| status.state))
            }
            "experimental/serverStatus" => {
                let status: ServerStatus = received::read(&params).unwrap_or_default();
                inner.observed.mood.note_rest(status.quiescent == Some(true));
                lock(&inner.observed.compiler).reported(status.message.as_deref());
                inner.bump();
            }
            "$/progress" => {
                if let Some(progress) = received::read(&params) {
                    inner.progressed(&progress);
                }
            }
            _ => {}
        }
    }

    fn request(&self, method: &str, params: &LspAny) -> Reply {
        let Some(inner) = self.server.upgrade() else { return Err(RpcError::method_not_found(method)) };
        match method {
            "workspace/configuration" => Ok(configuration(&inner, params)),
            "workspace/workspaceFolders" => Ok(json!(folders(&inner))),
            "workspace/applyEdit" => Ok(json!(inner.capture(received::read(params).unwrap_or_default()))),
            "eslint/noLibrary" | "eslint/noConfig" | "eslint/probeFailed" => {
                inner.observed.mood.cannot_check(method);
                Ok(json!({}))
            }
            // pyright exits if it is refused. Nothing kept here needs refreshing.
            "workspace/diagnostic/refresh" => {
                inner.observed.mood.settings_read();
                inner.bump();
                Ok(LspAny::Null)
            }
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest" => Ok(LspAny::Null),
            _ => Err(RpcError::method_not_found(method)),
        }
    }
}

fn configuration(inner: &Inner, params: &LspAny) -> LspAny {
    let wanted: WantedSettings = received::read(params).unwrap_or_default();
    let section = |item: &LspAny| received::read(item).and_then(|item: WantedSection| item.section).unwrap_or_default();
    wanted.items.unwrap_or_default().iter().map(|item| inner.config.section(&section(item))).collect()
}
