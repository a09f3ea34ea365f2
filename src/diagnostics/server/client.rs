//! The handshake with one server process, and the answers to what the server asks of us.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::lock::lock;
use crate::base::path;
use crate::base::text::Encoding;
use crate::diagnostics::model::Reach;
use crate::diagnostics::server::connection::{Connection, Handler};
use crate::diagnostics::server::wire::{Reply, RpcError};
use crate::diagnostics::server::{Inner, saves};
use crate::diagnostics::server_facts::{self, Fact};

/// How long a server may take to answer `initialize`. Large projects on a busy machine need tens of seconds.
const INITIALIZE: Duration = Duration::from_secs(60);

/// The request of typescript-language-server that hands a command to tsserver and its answer back.
pub(super) const TSSERVER: &str = "typescript.tsserverRequest";

/// Probe pulls sent to a server that neither advertises them nor is trusted, until one was conclusive.
const PROBES: u8 = 8;

/// Where a server's diagnostics come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PullMethod {
    /// `textDocument/diagnostic`.
    Pull,
    /// [`TSSERVER`].
    Command,
    /// `textDocument/publishDiagnostics`.
    Push,
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
    pub capabilities: Value,
    pub encoding: Encoding,
    /// Lower-case: the configured name and the one the server gives itself.
    names: [String; 2],
    learned: Mutex<Learned>,
    /// Whether the last question for code actions was not answered in time: the next ones wait no longer for it.
    pub is_mute: AtomicBool,
}

impl ServerConnection {
    /// Whether the fact is known of it, under either name.
    pub(crate) fn knows(&self, fact: Fact) -> bool {
        self.names.iter().any(|name| server_facts::knows(name, fact))
    }

    pub(crate) fn advertises_pull(&self) -> bool {
        self.capabilities.get("diagnosticProvider").is_some_and(|provider| !provider.is_null())
    }

    /// Whether it knows of a text only what was saved.
    pub(crate) fn reads_the_disk(&self) -> bool {
        saves::reads_the_disk(&self.capabilities)
    }

    /// Whether a change of one file may change the diagnostics of another.
    pub(crate) fn reach(&self) -> Reach {
        let says = |name: &str, value: bool| {
            self.capabilities.pointer(&format!("/diagnosticProvider/{name}")).and_then(Value::as_bool) == Some(value)
        };
        // One that reports on the whole workspace looks at other files, whatever it declares (emmylua_ls does both).
        let declared = says("interFileDependencies", false) && !says("workspaceDiagnostics", true);
        if declared || self.knows(Fact::OneFile) { Reach::File } else { Reach::Project }
    }

    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        let list = self.capabilities.pointer("/executeCommandProvider/commands").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn way(&self) -> PullMethod {
        lock(&self.learned).way
    }

    pub(crate) fn set_way(&self, way: PullMethod) {
        *lock(&self.learned) = Learned { way, probes_left: 0, probing: false };
    }

    /// Whether a probe pull is to be sent now.
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
    /// Whether another attempt is pointless: the program is not there.
    pub fatal: bool,
}

/// Starts the process and shakes hands. `run` numbers the processes of one server.
pub(super) async fn start(inner: &Arc<Inner>, run: u64) -> Result<ServerConnection, StartError> {
    let config = &inner.config;
    let program = config.command.first().map_or("", String::as_str);
    let handler = Arc::new(Incoming { server: Arc::downgrade(inner), run });
    let connection =
        Connection::spawn(&config.name, &config.command, &inner.root, handler).map_err(|error| StartError {
            reason: format!("{program} cannot be started: {error}"),
            fatal: matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied),
        })?;
    inner.mood.forget();
    inner.patience.forget(connection.process);
    let failed = |reason: String| StartError { reason, fatal: false };
    let answer = connection
        .request("initialize", &initialize(inner), INITIALIZE)
        .await
        .map_err(|error| failed(format!("{program} did not initialize: {error}")))?;
    let capabilities = answer.get("capabilities").cloned().unwrap_or_default();
    let encoding = capabilities.get("positionEncoding").and_then(Value::as_str).map(Encoding::from_lsp);
    let own = answer.pointer("/serverInfo/name").and_then(Value::as_str).unwrap_or_default();
    let run = ServerConnection {
        connection,
        encoding: encoding.unwrap_or_default(),
        names: [config.name.to_lowercase(), own.to_lowercase()],
        learned: Mutex::new(Learned { way: PullMethod::Push, probes_left: PROBES, probing: false }),
        is_mute: AtomicBool::new(false),
        capabilities,
    };
    if run.advertises_pull() || run.knows(Fact::AnswersPulls) {
        run.set_way(PullMethod::Pull);
    } else if run.commands().any(|command| command == TSSERVER) {
        run.set_way(PullMethod::Command);
    }
    Ok(run)
}

fn folders(inner: &Inner) -> Value {
    let name = inner.root.file_name().and_then(|name| name.to_str()).unwrap_or("workspace");
    json!([{"uri": path::to_uri(&inner.root), "name": name}])
}

fn initialize(inner: &Inner) -> Value {
    // No dynamic registration of pull diagnostics: pyright then exits on the first refresh.
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-16", "utf-8", "utf-32"]},
        "workspace": {
            "applyEdit": true,
            "configuration": true,
            "workspaceFolders": true,
            "workspaceEdit": {"documentChanges": true},
        },
        "textDocument": {
            "synchronization": {"didSave": true},
            "publishDiagnostics": {"relatedInformation": true, "versionSupport": true, "codeDescriptionSupport": true,
                "dataSupport": true, "tagSupport": {"valueSet": [1, 2]}},
            "diagnostic": {"dynamicRegistration": false, "relatedDocumentSupport": false},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source",
                    "source.fixAll", "source.organizeImports"]}},
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "resolveSupport": {"properties": ["edit", "command"]},
            },
        },
        "window": {"workDoneProgress": true},
        "experimental": {"serverStatusNotification": true},
    });
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "sextant", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": path::to_uri(&inner.root),
        "rootPath": inner.root.to_str(),
        "workspaceFolders": folders(inner),
        "initializationOptions": inner.config.initialization_options,
        "capabilities": capabilities,
    })
}

/// What comes from one process. Late words of an earlier process are not listened to.
struct Incoming {
    server: Weak<Inner>,
    run: u64,
}

impl Handler for Incoming {
    fn heard(&self) {
        if let Some(inner) = self.server.upgrade().filter(|inner| inner.run.load(Ordering::SeqCst) == self.run) {
            inner.patience.heard();
        }
    }

    fn notification(&self, method: &str, params: Value) {
        let Some(inner) = self.server.upgrade().filter(|inner| inner.run.load(Ordering::SeqCst) == self.run) else {
            return;
        };
        match method {
            "textDocument/publishDiagnostics" => inner.published(params),
            "window/logMessage" | "window/showMessage" => {
                let text = params.get("message").and_then(Value::as_str).unwrap_or_default();
                tracing::debug!(server = inner.config.name, text, "message");
                if params.get("type").and_then(Value::as_u64) == Some(1) {
                    inner.mood.complained(text);
                }
            }
            "eslint/status" => inner.mood.note_state(params.get("state").and_then(Value::as_u64)),
            "experimental/serverStatus" => {
                inner.mood.note_rest(params.get("quiescent").and_then(Value::as_bool) == Some(true));
                inner.bump();
            }
            _ => {}
        }
    }

    fn request(&self, method: &str, params: &Value) -> Reply {
        let Some(inner) = self.server.upgrade() else { return Err(RpcError::method_not_found(method)) };
        match method {
            "workspace/configuration" => Ok(configuration(&inner, params)),
            "workspace/workspaceFolders" => Ok(folders(&inner)),
            "workspace/applyEdit" => Ok(inner.capture(params)),
            "eslint/noLibrary" | "eslint/noConfig" | "eslint/probeFailed" => {
                inner.mood.cannot_check(method);
                Ok(json!({}))
            }
            // The refresh too: pyright exits where it is refused, and nothing kept here needs refreshing.
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/diagnostic/refresh" => Ok(Value::Null),
            _ => Err(RpcError::method_not_found(method)),
        }
    }
}

fn configuration(inner: &Inner, params: &Value) -> Value {
    let items = params.get("items").and_then(Value::as_array).into_iter().flatten();
    items.map(|item| inner.config.section(item.get("section").and_then(Value::as_str).unwrap_or_default())).collect()
}
