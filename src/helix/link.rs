//! Defines the messages between a proxy and its engine: JSON-RPC in LSP's framing, over the engine's socket.

pub mod link_channel;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use sextant_base::positions::{Encoding, Position, Range};

/// The version of these messages. Both sides are the same program, unless one of them was replaced meanwhile.
pub const LINK_VERSION: u32 = 3;

/// The kind of Sextant's actions. Helix sorts by kind, and in one kind the actions that name a diagnostic come first:
/// so Sextant's stand directly behind the quick fixes, and before every other action.
pub const ACTION_KIND: &str = "quickfix";

/// The engine's socket, and the lock that only one engine of a workspace holds, in the folder of its sessions.
pub const ENGINE_SOCKET: &str = "engine.sock";
pub const ENGINE_LOCK: &str = "engine.lock";

/// The requests of an editor to the agent with `workspace/executeCommand`.
pub const COMMANDS: &[&str] = &[
    "agent.ask",
    "agent.ask-lines",
    "agent.ask-file",
    "agent.ask-workspace",
    "agent.ask-page",
    "agent.plan",
    "agent.approve",
    "agent.step",
    "agent.skip",
    "agent.retry",
    "agent.change",
    "agent.answer",
    "agent.apply",
    "agent.stop",
    "agent.undo",
    "agent.undo-rest",
    "agent.keep",
    "agent.redo",
    "agent.resume",
    "agent.discard",
    "agent.mode",
    "agent.diagnostics",
    "agent.stats",
    "agent.diff",
    "agent.history",
    "agent.why",
    "agent.show",
];

/// The messages of a proxy to the engine. All but the first and the last are notifications, in the order in which the
/// editor sent them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params")]
pub enum ProxySays {
    /// A request, and the first message of a link; answered with [`Welcome`].
    #[serde(rename = "sextant/hello")]
    Hello(Box<Hello>),
    #[serde(rename = "document/opened")]
    Opened(OpenedDocument),
    #[serde(rename = "document/changed")]
    Changed(ChangedDocument),
    #[serde(rename = "document/closed")]
    Closed(NamedDocument),
    #[serde(rename = "document/saved")]
    Saved(NamedDocument),
    #[serde(rename = "command")]
    Command(AgentCommand),
    /// The editor asks this proxy, which offers Sextant's actions, for the actions in a file.
    #[serde(rename = "actions/asked")]
    ActionsAsked(NamedDocument),
    /// It has the answer.
    #[serde(rename = "actions/answered")]
    ActionsAnswered(NamedDocument),
    /// A request: the place in the code that a page of Sextant's names. The answer is a location of LSP, or null.
    #[serde(rename = "page/definition")]
    Definition(PagePlace),
    /// A request of a proxy beside that one: answered when that one has answered the editor.
    #[serde(rename = "actions/turn")]
    ActionsTurn(NamedDocument),
}

/// The messages of the engine to a proxy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params")]
pub enum EngineSays {
    /// A request that the editor answers.
    #[serde(rename = "client/request")]
    Request(ForEditor),
    #[serde(rename = "client/notify")]
    Notify(ForEditor),
    /// Sextant's own diagnostics of a file, in LSP's form; an empty list removes them.
    #[serde(rename = "diagnostics/publish")]
    Diagnostics(OwnDiagnostics),
    /// The actions on offer in a file beside the server's.
    #[serde(rename = "actions/set")]
    Actions(OwnActions),
    #[serde(rename = "hovers/set")]
    Hovers(OwnHovers),
}

/// The interval at which a proxy without an engine looks for one that another proxy may have started.
pub const LOOK: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// [`LINK_VERSION`].
    pub version: u32,
    /// Canonical.
    pub root: PathBuf,
    #[serde(default)]
    pub editor_pid: Option<u32>,
    /// `None` for a proxy without a server.
    #[serde(default)]
    pub server: Option<ProxiedServer>,
    pub client: EditorName,
    /// The encoding of all positions that this link carries.
    pub encoding: Encoding,
    /// As the editor sent them.
    #[serde(default)]
    pub client_capabilities: Value,
    /// The user's `sextant` key of the initialization options.
    #[serde(default)]
    pub options: Value,
    /// True if the proxy had an engine before, which is gone. The editor's other proxies come back as well.
    #[serde(default)]
    pub again: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxiedServer {
    pub name: String,
    pub command: Vec<String>,
    /// The socket where the server can be asked as if it were one's own.
    pub socket: PathBuf,
    #[serde(default)]
    pub initialization_options: Value,
    /// The settings that the editor sent with `workspace/didChangeConfiguration`.
    #[serde(default)]
    pub settings: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EditorName {
    pub name: String,
    #[serde(default)]
    pub version: String,
}

/// The answer to [`Hello`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The name of the session.
    pub session: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedDocument {
    pub uri: String,
    pub language_id: String,
    pub version: i64,
    pub text: Arc<str>,
}

/// A document with its whole text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedDocument {
    pub uri: String,
    pub version: i64,
    pub text: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedDocument {
    pub uri: String,
}

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagePlace {
    pub uri: String,
    pub position: Position,
}

/// A command that the editor has already had its answer to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentCommand {
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
    /// The document that the editor named last.
    #[serde(default)]
    pub document: Option<String>,
}

/// A message that goes on to the editor as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForEditor {
    pub method: String,
    #[serde(default)]
    pub params: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnDiagnostics {
    pub uri: String,
    pub diagnostics: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnActions {
    pub uri: String,
    pub items: Vec<OwnAction>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnAction {
    /// The place of the offer; without one it is everywhere in the file.
    #[serde(default)]
    pub range: Option<Range>,
    pub title: String,
    pub kind: String,
    #[serde(default)]
    pub is_preferred: bool,
    /// One of [`COMMANDS`].
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnHovers {
    pub uri: String,
    pub items: Vec<OwnHover>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnHover {
    pub range: Range,
    pub markdown: String,
}
