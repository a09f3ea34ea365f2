//! What a side of the product must be able to do for a scenario, and what all of them share.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::serve::discovery::find_sessions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::Notify;

use crate::conformance::scenario::{Asked, Scenario, ServerKind};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::servers::{fake_config, fake_process, python_servers};

/// Milliseconds that diagnostics may take: real servers start cold on a busy machine.
pub const PATIENCE_MS: u64 = 60_000;

/// How a piece of work ended, as the user is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    Ok,
    /// It came to an end, and something is left.
    NotOk,
    Failed,
    /// A plan waits for the user.
    Planned,
}

#[derive(Clone, Debug)]
pub struct End {
    pub kind: EndKind,
    pub said: String,
}

/// Something that is shown as introduced, at `path:line`.
pub type Introduced = (String, String);

#[async_trait]
pub trait Client: Send {
    async fn open(&mut self, file: &str);
    /// The user changes a file from its text to this one.
    async fn type_text(&mut self, file: &str, over: &str, text: &str);
    async fn ask(&mut self, asked: &Asked);
    async fn plan(&mut self, asked: &Asked);
    /// The plan's text. Where it follows what runs, it is waited for until it has these parts.
    async fn plan_text(&mut self, has: &[String]) -> String;
    /// The user has changed the plan to this, and saved it.
    async fn edit_plan(&mut self, markdown: &str);
    async fn approve(&mut self, one_step: bool);
    async fn undo(&mut self);
    async fn redo(&mut self);
    async fn stop(&mut self);
    async fn save_all(&mut self);
    /// Waits for the end of what was begun last.
    async fn end(&mut self) -> End;
    async fn text(&mut self, file: &str) -> String;
    /// What is shown as introduced, once it is as many.
    async fn introduced(&mut self, count: usize) -> Vec<Introduced>;
}

/// The workspace of a scenario, its model, and the server that every side is configured with.
pub struct World {
    pub project: Project,
    pub model: ModelServer,
    pub server: ServerConfig,
    pub kind: ServerKind,
    /// Lets the next answer go that the model holds back.
    pub held: Vec<Arc<Notify>>,
}

impl World {
    pub async fn new(scenario: &Scenario) -> Self {
        let files: Vec<(&str, &str)> =
            scenario.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let project = Project::new(&files);
        let mut held = Vec::new();
        let replies: Vec<Reply> = scenario
            .model
            .iter()
            .map(|answer| {
                if !answer.held {
                    return answer.reply();
                }
                let go = Arc::new(Notify::new());
                held.push(Arc::clone(&go));
                Reply::Held(Box::new(answer.reply()), go)
            })
            .collect();
        let model = ModelServer::start(replies).await;
        let server = server(scenario.server, &project);
        Self { project, model, server, kind: scenario.server, held }
    }

    /// The options that every side gets, in the words of the configuration file.
    pub fn options(&self) -> Value {
        json!({
            "model": {"provider": "openai_compatible", "model": "m", "base_url": self.model.url(), "max_attempts": 2},
            "diagnostics": {"timeout_ms": PATIENCE_MS, "start_timeout_ms": 120_000},
        })
    }

    /// The session that runs in the workspace.
    pub fn door(&self) -> Door {
        let folder = self.project.beside("runtime").join("sextant");
        Door { folder, root: self.project.root().to_owned() }
    }
}

/// The way in to the session of a workspace that any other program has.
pub struct Door {
    folder: PathBuf,
    root: PathBuf,
}

impl Door {
    pub async fn ask(&self, method: &str, params: Value) -> Value {
        let found = find_sessions::of_root(std::slice::from_ref(&self.folder), &self.root).entries;
        let entry = found.into_iter().next().expect("a session");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut stream = UnixStream::connect(entry.socket).await.expect("a connection");
        let head = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).expect("a body");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }
}

fn server(kind: ServerKind, project: &Project) -> ServerConfig {
    let name = match kind {
        ServerKind::Ruff => "ruff",
        ServerKind::Basedpyright => "basedpyright",
        ServerKind::Fake => return fake(project),
    };
    python_servers(project.root()).into_iter().find(|server| server.name == name).expect("a server")
}

fn fake(project: &Project) -> ServerConfig {
    let script = json!({
        "capabilities": {"textDocumentSync": {"openClose": true, "change": 1, "save": true}},
        "on": {
            "textDocument/didOpen": [{"publish": {"items": "scan"}}],
            "textDocument/didChange": [{"publish": {"items": "scan"}}],
        },
    });
    ServerConfig { languages: vec!["python".into()], ..fake_config(&project.beside("fake"), &script) }
}

/// Ends the fake server's newest process without a word.
pub fn kill_fake(project: &Project) {
    rustix::process::kill_process(fake_process(project), rustix::process::Signal::KILL).expect("it runs");
}
