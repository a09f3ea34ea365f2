//! Lets the engine be a client of the server, beside the editor: its socket, its requests, and its notifications.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc::unbounded_channel;

use crate::link::link_channel::of_this_user;
use crate::proxy::proxy_state::{ProxyState, REQUEST_FAILED, SECOND_IDS, SecondClient, Table};
use crate::proxy::shared_files;
use crate::proxy_sockets;
use sextant_base::lock::lock;
use sextant_diagnostics::server::content_length::{self, Frame};

/// The largest message, in bytes: the text of a whole file, twice.
const LIMIT: u64 = 64 * 1024 * 1024;
/// The pause of a listener that cannot accept (too many open files).
const PAUSE: Duration = Duration::from_millis(100);

/// LSP's `ContentModified`.
const CONTENT_MODIFIED: i64 = -32801;

/// A request of the engine to the server.
#[derive(Debug)]
pub(super) struct EngineAsk {
    /// Its own id.
    pub(super) id: Value,
    /// True if it is `workspace/executeCommand`.
    pub(super) command: bool,
    /// The file that it is about, and the editor's version of it, if the editor has it open.
    pub(super) subject: Option<(String, i64)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parsed {
    id: Option<Value>,
    method: Option<String>,
    params: Value,
    result: Value,
    error: Value,
}

/// Makes the socket, which only this user can reach.
pub(super) fn listen(path: &Path) -> std::io::Result<UnixListener> {
    path.parent().into_iter().for_each(proxy_sockets::sweep);
    if path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket()) {
        // The file is left from a process of the same number.
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Serves one engine after the other: a new connection takes the place of the one before.
pub(super) async fn serve(shared: Arc<ProxyState>, listener: UnixListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match of_this_user(&stream) {
                Ok(()) => drop(tokio::spawn(client(Arc::clone(&shared), stream))),
                Err(error) => tracing::warn!(%error, "a connection was refused"),
            },
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn client(shared: Arc<ProxyState>, stream: UnixStream) {
    let (reader, mut writer) = stream.into_split();
    let (sender, mut queue) = unbounded_channel::<Vec<u8>>();
    let connection = {
        let mut table = lock(&shared.table);
        shared_files::release(&mut table);
        let connection = table.second.connection + 1;
        table.second = SecondClient { sender: Some(sender), connection, ..SecondClient::default() };
        connection
    };
    let writing = tokio::spawn(async move {
        while let Some(message) = queue.recv().await {
            if writer.write_all(&message).await.is_err() {
                return;
            }
        }
    });
    let mut reader = BufReader::new(reader);
    while let Ok(Some(frame)) = content_length::read(&mut reader, LIMIT).await {
        let Frame::Body(body) = frame else { continue };
        if !heard(&shared, connection, &body) {
            break;
        }
    }
    let mut table = lock(&shared.table);
    if table.second.connection == connection {
        shared_files::release(&mut table);
        table.second = SecondClient { connection, ..SecondClient::default() };
    }
    drop(table);
    writing.abort();
}

/// False if the connection has ended, or another one has replaced it.
fn heard(shared: &ProxyState, connection: u64, body: &[u8]) -> bool {
    let Ok(parsed) = serde_json::from_slice::<Parsed>(body) else { return true };
    let texts = lock(&shared.texts);
    let table = &mut *lock(&shared.table);
    if table.second.connection != connection {
        return false;
    }
    match (parsed.method.as_deref(), &parsed.id) {
        (Some("initialize"), Some(id)) => {
            table.second.initialize = Some(id.clone());
            initialized(table);
        }
        (Some("shutdown"), Some(id)) => answer(table, id, Value::Null),
        (Some(_), Some(id)) => asked(table, id, parsed.method.as_deref().unwrap_or_default(), &parsed.params),
        (Some("exit"), None) => return false,
        (Some("$/cancelRequest"), None) => cancelled(table, &parsed.params["id"]),
        (Some("workspace/didChangeWatchedFiles"), None) => table.to_server(content_length::encode(body)),
        (Some(method), None) if method.starts_with("textDocument/did") => {
            shared_files::noted(&texts, table, method, &parsed.params, body);
        }
        (None, Some(id)) => replied(table, id, &parsed),
        // The settings are the editor's.
        _ => {}
    }
    true
}

fn asked(table: &mut Table, id: &Value, method: &str, params: &Value) {
    if !table.has_server() {
        return refuse(table, id, REQUEST_FAILED, "the language server is not running");
    }
    let Ok(subject) = shared_files::subject(table, params) else {
        return refuse(table, id, CONTENT_MODIFIED, "the editor has another text of it");
    };
    let second = &mut table.second;
    second.last += 1;
    let (number, connection) = (second.last, second.connection);
    let command = method == "workspace/executeCommand";
    second.asked.insert(number, EngineAsk { id: id.clone(), command, subject });
    let id = format!("{SECOND_IDS}{connection}:{number}");
    to_server(table, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
}

fn cancelled(table: &Table, id: &Value) {
    let second = &table.second;
    if let Some((number, _)) = second.asked.iter().find(|(_, ask)| ask.id == *id) {
        let id = format!("{SECOND_IDS}{}:{number}", second.connection);
        to_server(table, &json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}));
    }
}

/// The engine's answer to a request of the server; an answer goes on only if the server asked the engine alone.
fn replied(table: &mut Table, id: &Value, parsed: &Parsed) {
    let number = id.as_str().and_then(|id| id.strip_prefix("server:")?.parse::<u64>().ok());
    let Some(id) = number.and_then(|number| table.second.wants.remove(&number)) else { return };
    let id: Value = serde_json::from_str(&id).unwrap_or_default();
    let mut message = json!({"jsonrpc": "2.0", "id": id});
    match &parsed.error {
        Value::Null => message["result"] = parsed.result.clone(),
        error => message["error"] = error.clone(),
    }
    to_server(table, &message);
}

/// The server's answer to a request with one of Sextant's ids; `id` is the rest behind the prefix.
pub(super) fn answered(table: &mut Table, id: &str, body: &[u8]) {
    let Some((connection, number)) = id.split_once(':') else { return };
    if connection.parse() != Ok(table.second.connection) {
        return;
    }
    let Some(ask) = number.parse().ok().and_then(|number: u64| table.second.asked.remove(&number)) else { return };
    if !shared_files::still(table, ask.subject.as_ref()) {
        return refuse(table, &ask.id, CONTENT_MODIFIED, "the editor has changed it meanwhile");
    }
    let Ok(parsed) = serde_json::from_slice::<Parsed>(body) else {
        return refuse(table, &ask.id, REQUEST_FAILED, "the answer cannot be read");
    };
    let mut message = json!({"jsonrpc": "2.0", "id": ask.id});
    match parsed.error {
        Value::Null => message["result"] = parsed.result,
        error => message["error"] = error,
    }
    table.to_engine(&message);
}

/// Answers the engine's `initialize` as soon as the server's own answer is known.
pub(super) fn initialized(table: &mut Table) {
    if let Some(result) = table.server.result.clone().filter(|_| table.has_server()) {
        if let Some(id) = table.second.initialize.take() {
            answer(table, &id, result);
        }
    } else if let Some(why) = table.server.ended.clone()
        && let Some(id) = table.second.initialize.take()
    {
        refuse(table, &id, REQUEST_FAILED, &why);
    }
}

/// Hands a request of the server to the engine. `alone` is the id of a request whose answer from the engine counts.
pub(super) fn hand_over(table: &mut Table, method: &str, body: &[u8], alone: Option<&str>) {
    if table.second.sender.is_none() {
        return;
    }
    let Ok(parsed) = serde_json::from_slice::<Parsed>(body) else { return };
    table.second.last += 1;
    let number = table.second.last;
    if let Some(id) = alone {
        table.second.wants.insert(number, id.to_owned());
    }
    let id = format!("server:{number}");
    table.to_engine(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parsed.params}));
}

/// True if an edit that the server wants now can only come from a command of the engine.
pub(super) fn edits(table: &Table) -> bool {
    table.second.sender.is_some() && table.second.asked.values().any(|ask| ask.command)
}

/// Ends the engine's connection, since the server is gone; the engine comes again.
pub(super) fn server_died(table: &mut Table) {
    let SecondClient { connection, .. } = table.second;
    for file in table.files.values_mut() {
        file.engine = None;
    }
    table.second = SecondClient { connection, ..SecondClient::default() };
}

fn answer(table: &Table, id: &Value, result: Value) {
    table.to_engine(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn refuse(table: &Table, id: &Value, code: i64, message: &str) {
    let error = json!({"code": code, "message": message});
    table.to_engine(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
}

fn to_server(table: &Table, message: &Value) {
    table.to_server(content_length::encode(&serde_json::to_vec(message).unwrap_or_default()));
}
