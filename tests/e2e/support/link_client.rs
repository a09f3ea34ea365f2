//! The other side of an engine: a proxy with an editor behind it, as far as the engine can see them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sextant::base::path::to_uri;
use sextant::base::positions::{Encoding, LineIndex, Range};
use sextant::editors::lsp::link::link_channel::{self, LinkCall, LinkError, LinkReceiver, LinkSender};
use sextant::editors::lsp::link::{
    AgentCommand, ChangedDocument, ENGINE_SOCKET, EditorName, EngineSays, Hello, LINK_VERSION, NamedDocument,
    OpenedDocument, OwnAction, ProxiedServer, ProxySays,
};
use sextant::serve::discovery::of_workspace;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::support::project::Project;
use crate::support::servers::tool;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between two letters that a user types.
const LETTER: Duration = Duration::from_millis(50);

/// What an editor has been told, and its documents.
#[derive(Debug, Default)]
pub struct Told {
    pub texts: HashMap<String, (i64, String)>,
    pub messages: Vec<String>,
    pub progress: Vec<Value>,
    /// What Helix's status line has: the last message, unless the end of a progress has cleared it since.
    pub status: Option<String>,
    pub shown: Vec<String>,
    /// The line that the cursor was put into with each of them, from 0.
    pub lines: Vec<Option<u64>>,
    pub diagnostics: HashMap<String, Vec<Value>>,
    pub actions: HashMap<String, Vec<OwnAction>>,
    pub hovers: HashMap<String, usize>,
    pub edits: usize,
    /// Questions as messages, each as its titles.
    pub asked: Vec<Vec<String>>,
    /// The words above them.
    pub questions: Vec<String>,
    /// Refuses edits, as an editor does whose document has moved.
    pub refuses: bool,
    /// What the user types at the end in the moment in which the next edit is applied; the newer text alone is told.
    pub types: Option<String>,
    /// The title that a question is answered with.
    pub answer: Option<String>,
}

pub struct EditorLink {
    pub out: LinkSender<ProxySays>,
    pub told: Arc<Mutex<Told>>,
    news: watch::Receiver<u64>,
    root: PathBuf,
    listening: JoinHandle<()>,
}

/// The proxy is gone with it.
impl Drop for EditorLink {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Starts the engine of a project, as its first proxy does.
pub fn engine(project: &Project) -> Child {
    let folder = tool("ruff").parent().expect("a folder").to_owned();
    Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["engine", "--root"])
        .arg(project.root())
        .arg("--servers")
        .arg(folder)
        .arg("--log")
        .arg(project.beside("logs").join("engine.log"))
        .env("HOME", project.beside("home"))
        .env_remove("XDG_CONFIG_HOME")
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the engine starts")
}

pub fn hello(project: &Project, server: Option<ProxiedServer>, options: Value) -> Hello {
    Hello {
        version: LINK_VERSION,
        root: project.root().to_owned(),
        editor_pid: Some(std::process::id()),
        server,
        client: EditorName { name: "helix".into(), version: "25.07.1 (079a789e)".into() },
        encoding: Encoding::Utf16,
        client_capabilities: json!({"window": {"workDoneProgress": true, "showMessage": {}}}),
        options,
        again: false,
    }
}

impl EditorLink {
    /// Connects once the engine listens.
    pub async fn to(project: &Project) -> Self {
        Self::with(project, hello(project, None, Value::Null)).await.expect("it takes us")
    }

    pub async fn with(project: &Project, hello: Hello) -> Result<Self, LinkError> {
        let folder = of_workspace(&[project.beside("runtime").join("sextant")], project.root()).expect("a folder");
        let connecting = async {
            loop {
                match UnixStream::connect(folder.join(ENGINE_SOCKET)).await {
                    Ok(stream) => return stream,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        let stream = tokio::time::timeout(PATIENCE, connecting).await.expect("the engine listens");
        let (out, incoming) = link_channel::open::<EngineSays, ProxySays>(stream).expect("a link");
        let told = Arc::<Mutex<Told>>::default();
        let (moved, news) = watch::channel(0);
        let listening = tokio::spawn(listen(out.clone(), incoming, Arc::clone(&told), moved));
        if let Err(error) = out.request(&ProxySays::Hello(Box::new(hello))).await {
            listening.abort();
            return Err(error);
        }
        Ok(Self { out, told, news, root: project.root().to_owned(), listening })
    }

    pub fn uri(&self, path: &str) -> String {
        to_uri(&self.root.join(path)).expect("absolute")
    }

    /// Opens a file as it is on disk.
    pub fn open(&self, path: &str) {
        let text = std::fs::read_to_string(self.root.join(path)).expect("a file");
        self.open_uri(&self.uri(path), &text);
    }

    pub fn open_uri(&self, uri: &str, text: &str) {
        self.told.lock().unwrap().texts.insert(uri.to_owned(), (1, text.to_owned()));
        let language_id = if uri.ends_with(".py") { "python" } else { "markdown" }.to_owned();
        let opened = OpenedDocument { uri: uri.to_owned(), language_id, version: 1, text: text.into() };
        self.out.notify(&ProxySays::Opened(opened));
    }

    /// What the user types.
    pub fn type_text(&self, uri: &str, text: &str) {
        let version = {
            let mut told = self.told.lock().unwrap();
            let known = told.texts.get_mut(uri).expect("an open document");
            *known = (known.0 + 1, text.to_owned());
            known.0
        };
        self.out.notify(&ProxySays::Changed(ChangedDocument { uri: uri.to_owned(), version, text: text.into() }));
    }

    pub fn save(&self, uri: &str) {
        self.out.notify(&ProxySays::Saved(NamedDocument { uri: uri.to_owned() }));
    }

    pub fn close(&self, uri: &str) {
        self.told.lock().unwrap().texts.remove(uri);
        self.out.notify(&ProxySays::Closed(NamedDocument { uri: uri.to_owned() }));
    }

    pub fn command(&self, command: &str, arguments: Value, document: Option<&str>) {
        let arguments = arguments.as_array().expect("arguments").clone();
        let document = document.map(str::to_owned);
        let command = AgentCommand { command: command.to_owned(), arguments, document };
        self.out.notify(&ProxySays::Command(command));
    }

    pub fn text(&self, uri: &str) -> String {
        self.told.lock().unwrap().texts.get(uri).map(|(_, text)| text.clone()).unwrap_or_default()
    }

    /// Waits until what was told is so.
    pub async fn until<T>(&mut self, what: &str, found: impl Fn(&Told) -> Option<T>) -> T {
        let waiting = async {
            loop {
                self.news.borrow_and_update();
                if let Some(found) = found(&self.told.lock().unwrap()) {
                    return found;
                }
                self.news.changed().await.expect("the engine is there");
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(found) => found,
            Err(_) => panic!("{what} did not come: {:#?}", self.told.lock().unwrap()),
        }
    }

    /// The user types into a document, letter by letter, until what was told is so.
    pub async fn type_until(&mut self, uri: &str, what: &str, found: impl Fn(&Told) -> bool) {
        let start = std::time::Instant::now();
        while !found(&self.told.lock().unwrap()) {
            assert!(start.elapsed() < PATIENCE, "{what} did not come: {:#?}", self.told.lock().unwrap());
            let text = format!("{}x", self.text(uri));
            self.type_text(uri, &text);
            // The next letter comes with the next thing that is told, or in a moment.
            let _ = tokio::time::timeout(LETTER, self.news.changed()).await;
        }
    }

    /// Waits for a message that holds this, and forgets it and those before it.
    pub async fn message(&mut self, part: &str) -> String {
        let told = Arc::clone(&self.told);
        let find = |told: &Told| told.messages.iter().position(|message| message.contains(part));
        let at = self.until(&format!("a message with {part:?}"), find).await;
        told.lock().unwrap().messages.drain(..=at).next_back().expect("a message")
    }
}

async fn listen(
    out: LinkSender<ProxySays>,
    mut incoming: LinkReceiver<EngineSays>,
    told: Arc<Mutex<Told>>,
    moved: watch::Sender<u64>,
) {
    while let Some(LinkCall { id, message }) = incoming.next().await {
        match message {
            EngineSays::Request(request) => {
                let answer = answer(&out, &told, &request.method, &request.params);
                out.reply(id.expect("a request"), &answer);
            }
            EngineSays::Notify(notice) => {
                let mut told = told.lock().unwrap();
                match notice.method.as_str() {
                    "window/showMessage" => {
                        let message = notice.params["message"].as_str().expect("a text").to_owned();
                        told.status = Some(message.clone());
                        told.messages.push(message);
                    }
                    "$/progress" => {
                        told.progress.push(notice.params["value"].clone());
                        if notice.params["value"]["kind"] == "end" {
                            told.status = None;
                        }
                    }
                    _ => {}
                }
            }
            EngineSays::Diagnostics(own) => {
                told.lock().unwrap().diagnostics.insert(own.uri, own.diagnostics);
            }
            EngineSays::Actions(own) => {
                told.lock().unwrap().actions.insert(own.uri, own.items);
            }
            EngineSays::Hovers(own) => {
                told.lock().unwrap().hovers.insert(own.uri, own.items.len());
            }
        }
        moved.send_modify(|count| *count += 1);
    }
}

fn answer(
    out: &LinkSender<ProxySays>,
    told: &Arc<Mutex<Told>>,
    method: &str,
    params: &Value,
) -> Result<Value, LinkError> {
    let mut held = told.lock().unwrap();
    match method {
        "workspace/applyEdit" => {
            let edit = &params["edit"]["documentChanges"][0];
            let uri = edit["textDocument"]["uri"].as_str().expect("a document").to_owned();
            let refuses = held.refuses;
            let types = if refuses { None } else { held.types.take() };
            let (version, text) = held.texts.get_mut(&uri).expect("an open document");
            if edit["textDocument"]["version"] != *version || refuses {
                return Ok(json!({"applied": false, "failureReason": "document has changed"}));
            }
            for change in edit["edits"].as_array().expect("edits").iter().rev() {
                let range: Range = serde_json::from_value(change["range"].clone()).expect("a range");
                let bytes = LineIndex::new(text).byte_range(text, range, Encoding::Utf16);
                text.replace_range(bytes, change["newText"].as_str().expect("a text"));
            }
            *version += 1;
            if let Some(typed) = types {
                text.push_str(&typed);
                *version += 1;
            }
            let changed = ChangedDocument { uri, version: *version, text: text.as_str().into() };
            held.edits += 1;
            drop(held);
            out.notify(&ProxySays::Changed(changed));
            Ok(json!({"applied": true}))
        }
        "window/showDocument" => {
            let uri = params["uri"].as_str().expect("a document").to_owned();
            held.shown.push(uri.clone());
            held.lines.push(params["selection"]["start"]["line"].as_u64());
            if !held.texts.contains_key(&uri) {
                let file = sextant::base::path::from_uri(&uri).expect("a file");
                let text = std::fs::read_to_string(file).expect("a page");
                held.texts.insert(uri.clone(), (1, text.clone()));
                drop(held);
                let language_id = "markdown".to_owned();
                let opened = OpenedDocument { uri, language_id, version: 1, text: text.into() };
                out.notify(&ProxySays::Opened(opened));
            }
            Ok(json!({"success": true}))
        }
        "window/showMessageRequest" => {
            let titles = params["actions"].as_array().expect("actions").iter();
            let titles: Vec<String> = titles.map(|one| one["title"].as_str().expect("a title").to_owned()).collect();
            held.asked.push(titles);
            held.questions.push(params["message"].as_str().expect("a question").to_owned());
            Ok(held.answer.as_ref().map_or(Value::Null, |title| json!({"title": title})))
        }
        _ => Ok(Value::Null),
    }
}
