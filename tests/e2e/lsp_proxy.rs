//! The proxy before real and scripted language servers, driven by a scripted Helix.

mod before;
mod changes;
mod death;
mod foresight;
mod misspelt;
mod offers;
mod order;
mod page_places;
mod same;
mod second;
mod unsaved_header;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::editors::lsp::link::link_channel::{self, LinkCall, LinkReceiver, LinkReply, LinkSender};
use sextant::editors::lsp::link::{ENGINE_LOCK, ENGINE_SOCKET, EngineSays, ForEditor, Hello, ProxySays};
use sextant::serve::discovery;
use tokio::net::UnixListener;

/// A folder for sessions and a project, and nothing of the user's.
pub struct Place {
    folder: tempfile::TempDir,
    pub root: PathBuf,
}

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        std::fs::create_dir(&root).expect("a project");
        std::fs::write(root.join("pyproject.toml"), "").expect("a mark");
        for (name, text) in files {
            std::fs::write(root.join(name), text).expect("a file");
        }
        let root = root.canonicalize().expect("a root");
        Self { folder, root }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `sextant lsp` before a server. Nothing of it is looked for outside of this place.
    pub fn proxy(&self, options: &[&str], server: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
        command.arg("lsp").args(options);
        if !server.is_empty() {
            command.arg("--").args(server);
        }
        command.env("XDG_RUNTIME_DIR", self.path()).env("XDG_STATE_HOME", self.path().join("state"));
        command
    }

    pub fn sessions(&self) -> PathBuf {
        discovery::of_workspace(&[self.path().join("sextant")], &self.root).expect("a folder for sessions")
    }
}

/// A scripted engine, which is there before the proxy looks for one.
pub struct FakeEngine {
    listener: UnixListener,
}

pub struct Linked {
    pub hello: Hello,
    pub sender: LinkSender<EngineSays>,
    from: LinkReceiver<ProxySays>,
    /// The id of the last request for a turn.
    pub turn: Option<u64>,
    /// What came while an answer was waited for.
    early: VecDeque<ProxySays>,
}

impl FakeEngine {
    pub fn new(place: &Place) -> Self {
        let folder = place.sessions();
        std::fs::write(folder.join(ENGINE_LOCK), "").expect("a lock");
        Self { listener: UnixListener::bind(folder.join(ENGINE_SOCKET)).expect("a socket") }
    }

    /// The next proxy, welcomed.
    pub async fn accept(&self) -> Linked {
        let (stream, _) = self.listener.accept().await.expect("a proxy");
        let (sender, mut from) = link_channel::open::<ProxySays, EngineSays>(stream).expect("of this user");
        let first = from.next().await.expect("a first message");
        let ProxySays::Hello(hello) = first.message else { panic!("not a hello") };
        sender.reply(first.id.expect("a request"), &Ok(json!({"session": "lsp-1"})));
        Linked { hello: *hello, sender, from, turn: None, early: VecDeque::new() }
    }
}

impl Linked {
    /// The next message that is not about the order of actions.
    pub async fn next(&mut self) -> ProxySays {
        loop {
            match self.any().await {
                ProxySays::ActionsAsked(_) | ProxySays::ActionsAnswered(_) => {}
                message => return message,
            }
        }
    }

    pub async fn any(&mut self) -> ProxySays {
        if let Some(early) = self.early.pop_front() {
            return early;
        }
        let next = tokio::time::timeout(Duration::from_secs(60), self.from.next()).await;
        let LinkCall { id, message } = next.expect("in time").expect("a message");
        self.turn = id.or(self.turn);
        message
    }

    pub async fn asked(&mut self, method: &str, params: Value) -> LinkReply {
        let asked = self.sender.request(&EngineSays::Request(ForEditor { method: method.into(), params }));
        tokio::pin!(asked);
        loop {
            tokio::select! {
                answer = &mut asked => return answer,
                call = self.from.next() => self.early.push_back(call.expect("a proxy").message),
                () = tokio::time::sleep(Duration::from_secs(60)) => panic!("no answer to {method}"),
            }
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked(method, params).await.expect("an answer")
    }
}

/// A scripted server: `tests/fixtures/fake_server.py` with a script.
pub fn fake(place: &Place, script: &Value) -> Vec<String> {
    crate::support::servers::fake_config(place.path(), script).command
}
