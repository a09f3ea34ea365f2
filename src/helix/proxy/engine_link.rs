//! Links to the engine of the workspace: finds or starts it, reports the editor's events, and finds it again.
//!
//! No message waits for any of this.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::Instant;

use crate::link::link_channel::{self, LinkCall, LinkError, LinkReceiver, LinkSender};
use crate::link::{
    AgentCommand, ENGINE_SOCKET, EditorName, EngineSays, ForEditor, Hello, LINK_VERSION, LOOK, NamedDocument,
    PagePlace, ProxiedServer, ProxySays,
};
use crate::proxy::document_mirror::{self, MirrorEvent};
use crate::proxy::engine_client;
use crate::proxy::held_actions;
use crate::proxy::own_answers;
use crate::proxy::proxy_state::{AGENT_IDS, EngineTask, ProxyState, Table};
use crate::proxy::server_process::{self, end_progress};
use crate::proxy::server_side::follow;
use crate::proxy_sockets;
use sextant_base::lock::lock;
use sextant_diagnostics::program;

/// The time limit for an engine to listen, and to answer the first message.
const START: Duration = Duration::from_secs(10);
const WELCOME: Duration = Duration::from_secs(10);
/// The pause between two attempts to reach an engine that is being started.
const AGAIN: Duration = Duration::from_millis(30);
/// The longest wait of Sextant's diagnostics for the server's of the same text.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest wait for the turn of an answer.
const TURN: Duration = Duration::from_secs(6);
/// Messages that are looked at together, to skip texts that are already old.
const BATCH: usize = 256;

struct Up {
    number: u64,
    sender: LinkSender<ProxySays>,
    from: LinkReceiver<EngineSays>,
}

#[derive(Default)]
struct Linking {
    /// The workspace's folder, and the root; `None` before the editor's `initialized`.
    home: Option<(PathBuf, PathBuf)>,
    up: Option<Up>,
    /// The number of links so far.
    number: u64,
    socket: Option<PathBuf>,
}

/// Runs until the end of the forward path, which holds the other end of `tasks`.
pub(super) async fn run(shared: Arc<ProxyState>, mut tasks: UnboundedReceiver<EngineTask>) {
    let mut linking = Linking::default();
    loop {
        tokio::select! {
            task = tasks.recv() => match task {
                Some(task) => linking.work(&shared, task).await,
                None => break,
            },
            call = next(&mut linking.up) => match call {
                Some(call) => linking.heard(&shared, call),
                None => linking.down(&shared),
            },
            () = tokio::time::sleep(LOOK), if linking.home.is_some() && linking.up.is_none() => {
                // The link was refused before: only a user's command asks again.
                let _ = linking.connect(&shared, false).await;
            }
        }
    }
}

async fn next(up: &mut Option<Up>) -> Option<LinkCall<EngineSays>> {
    match up {
        Some(up) => up.from.next().await,
        None => std::future::pending().await,
    }
}

impl Linking {
    async fn work(&mut self, shared: &Arc<ProxyState>, task: EngineTask) {
        match task {
            EngineTask::Begin => self.begin(shared).await,
            EngineTask::Command(command) => self.command(shared, command).await,
            EngineTask::Answer { link, id, reply } => {
                if let Some(up) = self.up.as_ref().filter(|up| up.number == link) {
                    up.sender.reply(id, &reply);
                }
            }
            EngineTask::Report(message) => {
                if let Some(up) = &self.up {
                    up.sender.notify(&message);
                }
            }
            EngineTask::Turn { id, uri } => self.turn(shared, id, uri),
            EngineTask::Definition { id, place } => self.definition(shared, id, place),
            EngineTask::Republish(uri) => {
                let shared = Arc::clone(shared);
                tokio::spawn(async move {
                    tokio::time::sleep(PATIENCE).await;
                    own_answers::show(&mut lock(&shared.table), &uri, true);
                });
            }
        }
    }

    async fn begin(&mut self, shared: &Arc<ProxyState>) {
        if self.home.is_some() {
            return;
        }
        let root = lock(&shared.table).editor.client["root"].as_str().map(PathBuf::from);
        let Some(root) = root else { return };
        let folder = match (shared.options.folder)(&root) {
            Ok(folder) => folder,
            Err(error) => {
                tracing::error!(%error, "there is no folder for sessions");
                return;
            }
        };
        let _ = shared.folder.set(folder.canonicalize().unwrap_or_else(|_| folder.clone()));
        if !shared.options.command.is_empty() {
            let socket = proxy_sockets::of_this_process(&folder);
            match engine_client::listen(&socket) {
                Ok(listener) => {
                    *lock(&shared.socket) = Some(socket.clone());
                    self.socket = Some(socket);
                    tokio::spawn(engine_client::serve(Arc::clone(shared), listener));
                }
                Err(error) => tracing::error!(%error, "the engine cannot ask the server"),
            }
        }
        self.home = Some((folder, root));
        if let Err(error) = self.connect(shared, true).await {
            tracing::warn!(%error, "no engine");
            say(shared, &error);
        }
    }

    async fn command(&mut self, shared: &Arc<ProxyState>, command: AgentCommand) {
        if self.up.is_none() {
            if self.number > 0 {
                lock(&shared.table).say(3, "sextant: the agent had ended and is started again");
            }
            if let Err(error) = self.connect(shared, true).await {
                return say(shared, &error);
            }
        }
        // The command goes behind every text that the editor has sent before.
        document_mirror::caught_up(shared, |texts, _| texts.tell(|| ProxySays::Command(command)));
    }

    /// Asks for the turn of an answer, and sends the answer then.
    fn turn(&self, shared: &Arc<ProxyState>, id: String, uri: String) {
        let message = ProxySays::ActionsTurn(NamedDocument { uri });
        let asked = self.up.as_ref().map(|up| up.sender.request(&message));
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            if let Some(asked) = asked {
                let _ = tokio::time::timeout(TURN, asked).await;
            }
            held_actions::release(&mut lock(&shared.table), &id);
        });
    }

    /// Asks for the place that a page names, and answers the editor with it.
    fn definition(&self, shared: &Arc<ProxyState>, id: String, place: PagePlace) {
        let asked = self.up.as_ref().map(|up| up.sender.request(&ProxySays::Definition(place)));
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let found = match asked {
                Some(asked) => tokio::time::timeout(TURN, asked).await.ok().and_then(Result::ok),
                None => None,
            };
            lock(&shared.table).answer(&id, &found.unwrap_or_default());
        });
    }

    /// Reaches the engine; starts one if `start` is set.
    async fn connect(&mut self, shared: &Arc<ProxyState>, start: bool) -> Result<(), LinkError> {
        let Some((folder, root)) = &self.home else {
            return Err(LinkError::new("the editor has not begun yet", ""));
        };
        let socket = folder.join(ENGINE_SOCKET);
        let stream = match UnixStream::connect(&socket).await {
            Ok(stream) => stream,
            Err(_) if start => started(&socket, root, shared.options.log.as_deref()).await?,
            Err(_) => return Err(LinkError::gone()),
        };
        let opened = link_channel::open::<EngineSays, ProxySays>(stream);
        let (sender, mut from) = opened.map_err(|error| LinkError::new(error.to_string(), "see who runs it"))?;
        let hello = Hello { again: self.number > 0, ..hello(shared, root.clone(), self.socket.clone()) };
        let asked = sender.request(&ProxySays::Hello(Box::new(hello)));
        // Messages of the engine before its answer are handled too.
        let mut early = Vec::new();
        let welcome = async {
            tokio::pin!(asked);
            loop {
                tokio::select! {
                    answer = &mut asked => return answer,
                    call = from.next() => match call {
                        Some(call) => early.push(call),
                        // An engine that refuses is gone right behind its answer.
                        None => return asked.as_mut().now_or_never().unwrap_or_else(|| Err(LinkError::gone())),
                    },
                }
            }
        };
        let silent = || LinkError::new("the agent does not answer", "end the process `sextant engine` and try again");
        let answer = tokio::time::timeout(WELCOME, welcome).await.unwrap_or_else(|_| Err(silent()))?;
        tracing::info!(session = %answer["session"], "linked to the engine");
        self.number += 1;
        let (texts, updates) = unbounded_channel();
        tokio::spawn(send_updates(updates, sender.clone()));
        {
            let table = &mut *lock(&shared.table);
            table.tell_mirror(MirrorEvent::LinkUp(texts));
            table.agent.linked = true;
        }
        self.up = Some(Up { number: self.number, sender, from });
        early.into_iter().for_each(|call| self.heard(shared, call));
        Ok(())
    }

    fn heard(&self, shared: &ProxyState, LinkCall { id, message }: LinkCall<EngineSays>) {
        let table = &mut *lock(&shared.table);
        match message {
            EngineSays::Request(ForEditor { method, params }) => {
                table.agent.last += 1;
                let number = table.agent.last;
                if let Some(id) = id {
                    table.agent.asked.insert(number, (self.number, id, method == "workspace/applyEdit"));
                }
                let id = format!("{AGENT_IDS}{number}");
                to_editor(table, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            }
            EngineSays::Notify(ForEditor { method, params }) => {
                if method == "$/progress" {
                    follow(&mut table.agent.progress, params["token"].clone(), &params["value"]);
                }
                to_editor(table, json!({"jsonrpc": "2.0", "method": method, "params": params}));
            }
            message => own_answers::set(table, message),
        }
    }

    fn down(&mut self, shared: &ProxyState) {
        self.up = None;
        tracing::warn!("the engine is gone");
        let table = &mut *lock(&shared.table);
        table.tell_mirror(MirrorEvent::LinkDown);
        table.agent.asked.clear();
        table.agent.linked = false;
        held_actions::release_all(table);
        own_answers::clear(table);
        let works = std::mem::take(&mut table.agent.progress);
        works.iter().for_each(|token| end_progress(table, token));
        // The line comes behind the end of the progress, which clears the status line. An engine that rests is started
        // again by the next command, and nothing is lost.
        if !works.is_empty() {
            table.say(1, "sextant: the agent ended early; agent.resume goes on, agent.undo takes it back");
        }
    }
}

/// Shows why there is no engine.
fn say(shared: &ProxyState, error: &LinkError) {
    let hint = if error.hint().is_empty() { String::new() } else { format!("; {}", error.hint()) };
    lock(&shared.table).say(1, &format!("sextant: {error}{hint}"));
}

/// Some editors treat absent parameters and null parameters differently.
fn to_editor(table: &Table, mut message: Value) {
    if message["params"].is_null()
        && let Some(members) = message.as_object_mut()
    {
        members.shift_remove("params");
    }
    table.editor.outlet.json(&message);
}

fn hello(shared: &ProxyState, root: PathBuf, socket: Option<PathBuf>) -> Hello {
    let command = server_process::whole_command(&shared.options.command);
    let table = lock(&shared.table);
    let client = &table.editor.client;
    let name = |key: &str| client["clientInfo"][key].as_str().unwrap_or_default().to_owned();
    let request: Value =
        table.server.initialize.as_deref().and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default();
    let server = socket.filter(|_| table.server.ended.is_none()).map(|socket| ProxiedServer {
        name: shared.options.name(),
        command,
        socket,
        initialization_options: request["params"]["initializationOptions"].clone(),
        settings: table.server.settings.clone(),
    });
    Hello {
        version: LINK_VERSION,
        root,
        editor_pid: client["processId"].as_u64().and_then(|pid| u32::try_from(pid).ok()),
        server,
        client: EditorName { name: name("name"), version: name("version") },
        encoding: shared.encoding(),
        client_capabilities: client["capabilities"].clone(),
        options: table.editor.options.clone(),
        again: false,
    }
}

/// Starts an engine, which runs on its own, and waits until it listens. If another proxy has done so at the same
/// moment, the second engine ends by itself.
async fn started(socket: &Path, root: &Path, log: Option<&Path>) -> Result<UnixStream, LinkError> {
    let hint = "see the log of `sextant engine`, or start the editor again";
    let failed = |error: std::io::Error| LinkError::new(format!("the agent cannot be started: {error}"), hint);
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = program::command(&program).map_err(failed)?;
    command.arg("engine").arg("--root").arg(root);
    if let Some(log) = log {
        command.arg("--log").arg(log);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let until = Instant::now() + START;
    let mut ended = None;
    while Instant::now() < until {
        if let Ok(stream) = UnixStream::connect(socket).await {
            return Ok(stream);
        }
        // An engine that has ended leaves room for another one's, for a moment.
        match ended {
            None => ended = child.try_wait().ok().flatten().map(|status| (status, Instant::now())),
            Some((status, at)) if at.elapsed() > Duration::from_secs(1) => {
                return Err(LinkError::new(format!("the agent cannot be started: it ended with {status}"), hint));
            }
            Some(_) => {}
        }
        tokio::time::sleep(AGAIN).await;
    }
    Err(LinkError::new("the agent does not listen", hint))
}

/// Reports documents to the engine. If it is slower than the user types, only the newest text of a file is sent.
async fn send_updates(mut updates: UnboundedReceiver<ProxySays>, sender: LinkSender<ProxySays>) {
    let mut batch = Vec::new();
    while updates.recv_many(&mut batch, BATCH).await > 0 {
        for at in 0..batch.len() {
            if !is_old(&batch, at) {
                sender.notify(&batch[at]);
            }
        }
        batch.clear();
        sender.written().await;
    }
}

/// True if the next message about the file has a newer text of it.
fn is_old(batch: &[ProxySays], at: usize) -> bool {
    let ProxySays::Changed(old) = &batch[at] else { return false };
    let next = batch[at + 1..].iter().find(|message| match message {
        ProxySays::Changed(new) => new.uri == old.uri,
        _ => true,
    });
    matches!(next, Some(ProxySays::Changed(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::ChangedDocument;

    #[test]
    fn a_text_is_left_out_only_before_a_newer_one_of_its_file() {
        let changed =
            |uri: &str, version| ProxySays::Changed(ChangedDocument { uri: uri.into(), version, text: Arc::from("") });
        let saved = ProxySays::Saved(NamedDocument { uri: "a".into() });
        let batch = [changed("a", 1), changed("b", 1), changed("a", 2), saved, changed("a", 3)];
        let old: Vec<bool> = (0..batch.len()).map(|at| is_old(&batch, at)).collect();
        assert_eq!(old, [true, false, false, false, false]);
    }
}
