//! Keeps the state of the proxy: the open requests with their callers, and the open files with their clients.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, OnceLock};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::link::link_channel::LinkReply;
use crate::link::{AgentCommand, OwnAction, OwnHover, PagePlace, ProxySays};
use crate::message_line;
use crate::proxy::ProxyOptions;
use crate::proxy::document_mirror::{MirrorEvent, MirroredTexts};
use crate::proxy::engine_client::EngineAsk;
use crate::proxy::initialize_patch::Declared;
use crate::proxy::write_queue::Outlet;
use sextant_base::path;
use sextant_base::positions::{Encoding, Position, Range};

/// LSP's `RequestFailed`: the request was valid, and there is no server to answer it.
pub(super) const REQUEST_FAILED: i64 = -32803;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// The prefix of ids that are neither the editor's nor the server's own.
pub(super) const AGENT_IDS: &str = "agent:";
pub(super) const SECOND_IDS: &str = "sextant:";
pub(super) const REPLAY_ID: &str = "sextant:initialize";

/// The state that all threads of a proxy share. If both locks are needed, `texts` is locked before `table`; the forward
/// path locks `table` alone.
#[derive(Debug)]
pub(super) struct ProxyState {
    pub(super) options: ProxyOptions,
    pub(super) table: Mutex<Table>,
    pub(super) texts: Mutex<MirroredTexts>,
    /// Signalled when the mirror has processed an event.
    pub(super) mirrored: Condvar,
    pub(super) encoding: OnceLock<Encoding>,
    /// Ends the pause before a restart.
    pub(super) leaving: (Mutex<bool>, Condvar),
    /// The server's process; 0 if there is none.
    pub(super) process: AtomicU32,
    /// The folder of the workspace's sessions, without symbolic links; Sextant's pages are in it.
    pub(super) folder: OnceLock<PathBuf>,
    /// The socket of the engine's requests to the server, to be removed at the end.
    pub(super) socket: Mutex<Option<PathBuf>>,
}

impl ProxyState {
    pub(super) fn encoding(&self) -> Encoding {
        self.encoding.get().copied().unwrap_or_default()
    }

    /// True for a page of Sextant's, which holds no code.
    pub(super) fn is_page(&self, uri: &str) -> bool {
        path::from_uri(uri).is_some_and(|file| file.parent() == self.folder.get().map(PathBuf::as_path))
    }
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) editor: EditorSide,
    pub(super) server: ServerSide,
    pub(super) second: SecondClient,
    pub(super) agent: AgentCalls,
    pub(super) files: HashMap<String, ProxiedFile>,
    pub(super) mirror: Sender<MirrorEvent>,
    /// The number of events that the mirror was sent.
    pub(super) received: u64,
    pub(super) engine: UnboundedSender<EngineTask>,
}

#[derive(Debug)]
pub(super) struct EditorSide {
    pub(super) outlet: Outlet,
    /// Its requests that wait for an answer, by the id as it stands in the text.
    pub(super) asked: HashMap<String, EditorAsked>,
    /// Its name and capabilities, from `initialize`.
    pub(super) client: Value,
    pub(super) options: Value,
    /// The document that it named last.
    pub(super) document: Option<String>,
    /// Answers about actions that wait for their turn, by the id of the request; `None` before the server's answer.
    pub(super) held: HashMap<String, Option<Vec<u8>>>,
}

/// A request of the editor that the server has.
#[derive(Debug)]
pub(super) enum EditorAsked {
    Initialize,
    Actions(Box<AskedActions>),
    Hover { uri: String, at: Position },
    Pull { uri: String },
    Command,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct AskedActions {
    pub(super) uri: String,
    pub(super) range: Range,
    pub(super) diagnostics: Vec<Value>,
    pub(super) only: Vec<String>,
    /// Asked for by the editor itself, and not by the user.
    pub(super) automatic: bool,
}

#[derive(Debug, Default)]
pub(super) struct ServerSide {
    /// `None` if there is no process, or while it is gone.
    pub(super) outlet: Option<Outlet>,
    /// True if it has had its `initialize` (from the editor, or again after a restart) and everything since.
    pub(super) live: bool,
    /// True if a server is wanted at all.
    pub(super) configured: bool,
    /// The reason why there is no server and will be none.
    pub(super) ended: Option<String>,
    /// The request as the editor sent it, without Sextant's options.
    pub(super) initialize: Option<Vec<u8>>,
    /// The server's own answer to it.
    pub(super) result: Option<Value>,
    pub(super) declared: Declared,
    /// Notifications that a new process gets too: settings, folders.
    pub(super) replayed: Vec<(String, Vec<u8>)>,
    pub(super) settings: Value,
    pub(super) calls: ServerCalls,
    pub(super) replay_due: bool,
}

/// The requests and progress that the server has begun with the editor.
#[derive(Debug, Default)]
pub(super) struct ServerCalls {
    /// Its requests that the editor has, and the number of outstanding answers to requests of an earlier process.
    pub(super) wants: HashMap<String, u32>,
    pub(super) stale: HashMap<String, u32>,
    /// Progress that has begun and not ended, by token.
    pub(super) progress: Vec<Value>,
}

/// The engine as a client of the server.
#[derive(Debug, Default)]
pub(super) struct SecondClient {
    pub(super) sender: Option<UnboundedSender<Vec<u8>>>,
    /// The number of its connection; ids of an earlier connection are void.
    pub(super) connection: u64,
    pub(super) last: u64,
    /// Its own ids by the number in Sextant's.
    pub(super) asked: HashMap<u64, EngineAsk>,
    /// Its `initialize`, if the server's answer to it is not known yet.
    pub(super) initialize: Option<Value>,
    /// Requests of the server that it answers, by their id at the engine.
    pub(super) wants: HashMap<u64, String>,
}

/// Requests of the agent that the editor answers.
#[derive(Debug, Default)]
pub(super) struct AgentCalls {
    pub(super) last: u64,
    /// True while the engine can be asked.
    pub(super) linked: bool,
    /// The link and the id there, and whether it edits.
    pub(super) asked: HashMap<u64, (u64, u64, bool)>,
    pub(super) progress: Vec<Value>,
}

/// One file, by its URI as `key` writes it.
#[derive(Debug, Default)]
pub(super) struct ProxiedFile {
    /// The URI as the editor writes it, and the version, while it has it open.
    pub(super) editor: Option<(String, i64)>,
    pub(super) engine: Option<EngineFile>,
    pub(super) published: Option<LastPublish>,
    pub(super) own: Vec<Value>,
    pub(super) actions: Vec<OwnAction>,
    pub(super) hovers: Vec<OwnHover>,
    /// True if the editor pulls here, and how many of Sextant's diagnostics it got last.
    pub(super) pulls: bool,
    pub(super) pulled_own: Vec<Value>,
    /// The server's last answer to a pull, and how many of its published ones the editor has; `None` for all.
    pub(super) pulled: Vec<Value>,
    pub(super) passed: Option<usize>,
}

/// A file that the engine has open.
#[derive(Clone, Debug)]
pub(super) struct EngineFile {
    pub(super) uri: String,
    pub(super) language: String,
    pub(super) version: i64,
    pub(super) text: Arc<str>,
    /// The editor's version of the same text.
    pub(super) agreed: Option<i64>,
}

/// The server's last publish of a file.
#[derive(Clone, Debug)]
pub(super) struct LastPublish {
    pub(super) version: Option<i64>,
    /// The version that the server had when the publish came.
    pub(super) during: Option<i64>,
    pub(super) diagnostics: Arc<RawValue>,
}

/// The work for the engine beside the forward path.
#[derive(Debug)]
pub(super) enum EngineTask {
    /// The editor has sent `initialized`.
    Begin,
    Command(AgentCommand),
    /// A message without an answer.
    Report(ProxySays),
    /// Ask for the turn of the answer with this id, which is about the actions in a file.
    Turn {
        id: String,
        uri: String,
    },
    /// Ask for the place in the code that a page names, and answer the request with this id.
    Definition {
        id: String,
        place: PagePlace,
    },
    /// The editor's answer to a request of this link.
    Answer {
        link: u64,
        id: u64,
        reply: LinkReply,
    },
    /// Publish diagnostics of a file again, a little later.
    Republish(String),
}

/// A URI as a key: each program escapes characters of its own choice.
pub(super) fn key(uri: &str) -> String {
    path::from_uri(uri).and_then(|path| path::to_uri(&path)).unwrap_or_else(|| uri.to_owned())
}

impl Table {
    pub(super) fn file(&mut self, uri: &str) -> &mut ProxiedFile {
        self.files.entry(key(uri)).or_default()
    }

    pub(super) fn known(&self, uri: &str) -> Option<&ProxiedFile> {
        self.files.get(&key(uri))
    }

    /// Forgets a file without any remaining state.
    pub(super) fn sweep(&mut self, key: &str) {
        let empty = |file: &ProxiedFile| {
            let open = file.editor.is_some() || file.engine.is_some();
            let ours = !file.own.is_empty() || !file.actions.is_empty() || !file.hovers.is_empty();
            !open && !ours && file.published.is_none()
        };
        if self.files.get(key).is_some_and(empty) {
            self.files.remove(key);
        }
    }

    pub(super) fn tell_mirror(&mut self, event: MirrorEvent) {
        self.received += 1;
        let _ = self.mirror.send(event);
    }

    pub(super) fn task(&self, task: EngineTask) {
        let _ = self.engine.send(task);
    }

    /// Sends to the server, if there is one that may get messages.
    pub(super) fn to_server(&self, bytes: Vec<u8>) {
        if let Some(outlet) = self.server.outlet.as_ref().filter(|_| self.server.live) {
            outlet.raw(bytes);
        }
    }

    pub(super) fn has_server(&self) -> bool {
        self.server.live && self.server.outlet.is_some()
    }

    /// Answers the editor. The id is as it stood in its request.
    pub(super) fn answer(&self, id: &str, result: &Value) {
        let id: Value = serde_json::from_str(id).unwrap_or_default();
        self.editor.outlet.json(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(super) fn refuse(&self, id: &str, code: i64, message: &str) {
        let id: Value = serde_json::from_str(id).unwrap_or_default();
        let error = json!({"code": code, "message": message});
        self.editor.outlet.json(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    pub(super) fn to_engine(&self, message: &Value) {
        if let Some(second) = &self.second.sender {
            let bytes = serde_json::to_vec(message).unwrap_or_default();
            let _ = second.send(sextant_diagnostics::server::content_length::encode(&bytes));
        }
    }

    /// One line for the user. The types are LSP's: 1 is an error, 3 is for information.
    pub(super) fn say(&self, kind: u8, message: &str) {
        let params = json!({"type": kind, "message": message_line::fit(message, "")});
        self.editor.outlet.json(&json!({"jsonrpc": "2.0", "method": "window/showMessage", "params": params}));
    }
}
