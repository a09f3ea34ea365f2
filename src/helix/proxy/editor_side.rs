//! Decides where each message of the editor goes: almost always to the server as it is.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::link::link_channel::LinkError;
use crate::link::{AgentCommand, COMMANDS, PagePlace};
use crate::proxy::document_mirror::MirrorEvent;
use crate::proxy::engine_client;
use crate::proxy::frame::RawMessage;
use crate::proxy::held_actions;
use crate::proxy::helix_code_actions;
use crate::proxy::initialize_patch;
use crate::proxy::message_head::{Peeked, peek};
use crate::proxy::own_answers;
use crate::proxy::proxy_state::{
    AGENT_IDS, AskedActions, EditorAsked, EngineTask, METHOD_NOT_FOUND, ProxyState, REQUEST_FAILED, Table,
};
use crate::proxy::shared_files;
use sextant_base::positions::{Position, Range};
use sextant_diagnostics::server::content_length;

/// Requests that an editor sends by itself, for files that the user does not look at.
const UNASKED: &[&str] = &["diagnostic", "inlayHint", "documentColor", "documentLink", "foldingRange", "codeLens"];

/// The fate of the message itself.
#[derive(Debug)]
pub(super) enum Forward {
    Raw,
    Instead(Vec<u8>),
    /// The message as it is, and these behind it.
    Then(Vec<Vec<u8>>),
    Nothing,
}

#[derive(Deserialize)]
struct EditorNotice<P> {
    params: P,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AboutDocument {
    text_document: Item,
    #[serde(default)]
    position: Option<Position>,
}

#[derive(Deserialize)]
struct Item {
    uri: String,
    #[serde(default)]
    version: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ActionParams {
    text_document: Item,
    range: Range,
    #[serde(default)]
    context: ActionContext,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ActionContext {
    diagnostics: Vec<Value>,
    only: Option<Vec<String>>,
    trigger_kind: Option<u64>,
}

#[derive(Deserialize)]
struct CommandParams {
    command: String,
    #[serde(default)]
    arguments: Vec<Value>,
}

#[derive(Deserialize)]
struct ActionItem {
    #[serde(default)]
    command: Value,
}

fn params<P: DeserializeOwned>(body: &[u8]) -> Option<P> {
    serde_json::from_slice::<EditorNotice<P>>(body).ok().map(|sent| sent.params)
}

/// Decides on a message, with its side effects; messages that the table sends before stand before it.
pub(super) fn decide(shared: &ProxyState, table: &mut Table, message: &RawMessage) -> Forward {
    let body = message.body();
    match peek(body) {
        Some(Peeked { id: Some(id), method: Some(method) }) => request(shared, table, id, &method, body),
        Some(Peeked { id: None, method: Some(method) }) => notification(table, &method, body),
        Some(Peeked { id: Some(id), method: None }) => answer(table, id, body),
        _ => Forward::Raw,
    }
}

fn request(shared: &ProxyState, table: &mut Table, id: &str, method: &str, body: &[u8]) -> Forward {
    let asked = match method {
        "initialize" => return initialize(shared, table, id, body),
        "workspace/executeCommand" => {
            let known = params::<CommandParams>(body).filter(|params| COMMANDS.contains(&params.command.as_str()));
            if let Some(CommandParams { command, arguments }) = known {
                table.answer(id, &Value::Null);
                let command = AgentCommand { command, arguments, document: table.editor.document.clone() };
                table.task(EngineTask::Command(command));
                return Forward::Nothing;
            }
            EditorAsked::Command
        }
        "textDocument/codeAction" => {
            let Some(asked) = actions(body) else { return Forward::Raw };
            in_document(table, &asked.uri);
            if !table.has_server() || !table.server.declared.actions {
                let ours = helix_code_actions::actions(shared, table, &asked);
                table.answer(id, &Value::Array(ours));
                held_actions::alone(shared, table, &asked);
                return Forward::Nothing;
            }
            held_actions::asked(shared, table, id, &asked);
            EditorAsked::Actions(Box::new(asked))
        }
        "codeAction/resolve" => match resolved(table, body) {
            Some(same) => {
                table.answer(id, &same);
                return Forward::Nothing;
            }
            None => EditorAsked::Other,
        },
        "textDocument/hover" => match hover(table, id, body) {
            Ok(asked) => asked,
            Err(answered) => return answered,
        },
        "textDocument/definition" => match definition(shared, table, id, body) {
            true => return Forward::Nothing,
            false => EditorAsked::Other,
        },
        "textDocument/diagnostic" => return pull(table, id, body),
        "shutdown" if !table.has_server() => {
            table.answer(id, &Value::Null);
            return Forward::Nothing;
        }
        method => {
            let name = method.strip_prefix("textDocument/");
            if name.is_some_and(|name| !UNASKED.contains(&name) && !name.starts_with("semanticTokens"))
                && let Some(AboutDocument { text_document, .. }) = params(body)
            {
                in_document(table, &text_document.uri);
            }
            EditorAsked::Other
        }
    };
    ask(table, id, method, asked)
}

fn ask(table: &mut Table, id: &str, method: &str, asked: EditorAsked) -> Forward {
    if table.has_server() {
        table.editor.asked.insert(id.to_owned(), asked);
        return Forward::Raw;
    }
    match &table.server.ended {
        Some(why) => table.refuse(id, REQUEST_FAILED, why),
        None if table.server.configured => table.refuse(id, REQUEST_FAILED, "the language server is started again"),
        None => table.refuse(id, METHOD_NOT_FOUND, &format!("{method} is not supported")),
    }
    Forward::Nothing
}

fn initialize(shared: &ProxyState, table: &mut Table, id: &str, body: &[u8]) -> Forward {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let given = &request["params"];
    table.editor.client = json!({"clientInfo": given["clientInfo"], "capabilities": given["capabilities"],
        "processId": given["processId"], "root": initialize_patch::root(given)});
    let ours = initialize_patch::without_ours(&request);
    let (options, rest) = ours.map_or((Value::Null, None), |(options, rest)| (options, Some(rest)));
    table.editor.options = options;
    let bytes = rest.map(|rest| serde_json::to_vec(&rest).unwrap_or_default());
    table.server.initialize = Some(bytes.clone().unwrap_or_else(|| body.to_vec()));
    table.editor.asked.insert(id.to_owned(), EditorAsked::Initialize);
    if table.server.configured && table.server.ended.is_none() {
        // A server that is just being started gets the message later.
        return bytes.map_or(Forward::Raw, |bytes| Forward::Instead(content_length::encode(&bytes)));
    }
    alone(shared, table);
    Forward::Nothing
}

/// Answers the editor's `initialize` if there is no server to do so.
pub(super) fn alone(shared: &ProxyState, table: &mut Table) {
    let waits = table.editor.asked.iter().find(|(_, asked)| matches!(asked, EditorAsked::Initialize));
    let Some(id) = waits.map(|(id, _)| id.clone()) else { return };
    table.editor.asked.remove(&id);
    let result = initialize_patch::standalone(&table.editor.client);
    let _ = shared.encoding.set(initialize_patch::encoding(&result));
    table.answer(&id, &initialize_patch::patched(&result, !shared.options.quiet));
    if let Some(why) = table.server.ended.clone() {
        table.say(1, &format!("sextant: {why}"));
    }
}

fn actions(body: &[u8]) -> Option<AskedActions> {
    let ActionParams { text_document, range, context } = params(body)?;
    let ActionContext { diagnostics, only, trigger_kind } = context;
    let automatic = trigger_kind == Some(2);
    Some(AskedActions { uri: text_document.uri, range, diagnostics, only: only.unwrap_or_default(), automatic })
}

/// A code action that is Sextant's, or that no server can resolve, as it is.
fn resolved(table: &Table, body: &[u8]) -> Option<Value> {
    let action: Value = params(body)?;
    let item = ActionItem::deserialize(&action).ok()?;
    let command = item.command["command"].as_str().or(item.command.as_str()).unwrap_or_default();
    (COMMANDS.contains(&command) || !table.has_server() || !table.server.declared.resolves).then_some(action)
}

fn hover(table: &mut Table, id: &str, body: &[u8]) -> Result<EditorAsked, Forward> {
    let Some(AboutDocument { text_document, position: Some(at), .. }) = params(body) else {
        return Ok(EditorAsked::Other);
    };
    in_document(table, &text_document.uri);
    let ours = own_answers::hover(table, &text_document.uri, at);
    if table.has_server() && table.server.declared.hover {
        return Ok(if ours.is_some() { EditorAsked::Hover { uri: text_document.uri, at } } else { EditorAsked::Other });
    }
    table.answer(id, &ours.map_or(Value::Null, |ours| own_answers::hovered(&Value::Null, &ours)));
    Err(Forward::Nothing)
}

/// True for a request that is answered here: about a page of Sextant's, or about a document without a server.
fn definition(shared: &ProxyState, table: &mut Table, id: &str, body: &[u8]) -> bool {
    let Some(AboutDocument { text_document: Item { uri, .. }, position: Some(position) }) = params(body) else {
        return false;
    };
    in_document(table, &uri);
    if table.agent.linked && shared.is_page(&uri) {
        table.task(EngineTask::Definition { id: id.to_owned(), place: PagePlace { uri, position } });
        return true;
    }
    let is_alone = !table.has_server() && !table.server.configured;
    if is_alone {
        table.answer(id, &Value::Null);
    }
    is_alone
}

fn pull(table: &mut Table, id: &str, body: &[u8]) -> Forward {
    let Some(AboutDocument { text_document: Item { uri, .. }, .. }) = params(body) else { return Forward::Raw };
    let refreshes = own_answers::refreshes(table);
    let file = table.file(&uri);
    file.pulls = true;
    let may_be_unchanged = !refreshes || own_answers::pull_may_be_unchanged(file);
    let forward = ask(table, id, "textDocument/diagnostic", EditorAsked::Pull { uri });
    if may_be_unchanged || !matches!(forward, Forward::Raw) {
        return forward;
    }
    let Ok(mut request) = serde_json::from_slice::<Value>(body) else { return Forward::Raw };
    if let Some(params) = request["params"].as_object_mut() {
        params.shift_remove("previousResultId");
    }
    Forward::Instead(content_length::encode(&serde_json::to_vec(&request).unwrap_or_default()))
}

fn notification(table: &mut Table, method: &str, body: &[u8]) -> Forward {
    match method {
        "initialized" => table.task(EngineTask::Begin),
        "textDocument/didOpen" => {
            let Some(AboutDocument { text_document: Item { uri, version }, .. }) = params(body) else {
                return Forward::Raw;
            };
            shared_files::editor_opens(table, &uri, version.unwrap_or_default());
            by_user(table, &uri);
            table.tell_mirror(MirrorEvent::Opened(body.to_vec()));
        }
        "textDocument/didChange" => {
            let Some(AboutDocument { text_document: Item { uri, version }, .. }) = params(body) else {
                return Forward::Raw;
            };
            if let Some((_, known)) = &mut table.file(&uri).editor {
                *known = version.unwrap_or(*known);
            }
            by_user(table, &uri);
            table.tell_mirror(MirrorEvent::Changed(body.to_vec()));
            if !table.server.declared.changes {
                return Forward::Nothing;
            }
        }
        "textDocument/didClose" => {
            let Some(AboutDocument { text_document: Item { uri, .. }, .. }) = params(body) else { return Forward::Raw };
            let after = shared_files::editor_closes(table, &uri);
            table.tell_mirror(MirrorEvent::Closed(uri));
            return Forward::Then(after);
        }
        "textDocument/didSave" => {
            let Some(AboutDocument { text_document: Item { uri, .. }, .. }) = params(body) else { return Forward::Raw };
            table.tell_mirror(MirrorEvent::Saved(uri));
            if !table.server.declared.saves {
                return Forward::Nothing;
            }
        }
        "workspace/didChangeConfiguration" => {
            if let Some(mut settings) = params::<Value>(body) {
                table.server.settings = settings.get_mut("settings").map(Value::take).unwrap_or_default();
            }
            table.server.replayed.retain(|(known, _)| known != method);
            table.server.replayed.push((method.to_owned(), content_length::encode(body)));
        }
        "workspace/didChangeWorkspaceFolders" => {
            table.server.replayed.push((method.to_owned(), content_length::encode(body)))
        }
        _ => {}
    }
    Forward::Raw
}

/// Notes that the user is in a file, unless an edit of Sextant's has led there.
fn by_user(table: &mut Table, uri: &str) {
    let edits = table.agent.asked.values().any(|(_, _, edits)| *edits);
    if !edits {
        in_document(table, uri);
    }
}

fn in_document(table: &mut Table, uri: &str) {
    if table.editor.document.as_deref() != Some(uri) {
        table.editor.document = Some(uri.to_owned());
    }
}

fn answer(table: &mut Table, id: &str, body: &[u8]) -> Forward {
    if let Some(number) = id.trim_matches('"').strip_prefix(AGENT_IDS) {
        let waits = number.parse().ok().and_then(|number: u64| table.agent.asked.remove(&number));
        if let Some((link, id, _)) = waits {
            table.task(EngineTask::Answer { link, id, reply: reply(body) });
        }
        return Forward::Nothing;
    }
    if let Some(left) = table.server.calls.stale.get_mut(id) {
        *left -= 1;
        if *left == 0 {
            table.server.calls.stale.remove(id);
        }
        return Forward::Nothing;
    }
    if let Some(open) = table.server.calls.wants.get_mut(id) {
        *open -= 1;
        if *open == 0 {
            table.server.calls.wants.remove(id);
        }
    }
    // A server that has not had everything yet may already send a request.
    match table.server.outlet.as_ref().filter(|_| !table.server.live) {
        Some(outlet) => {
            outlet.raw(content_length::encode(body));
            Forward::Nothing
        }
        None => Forward::Raw,
    }
}

fn reply(body: &[u8]) -> Result<Value, LinkError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Reply {
        result: Value,
        error: Option<Box<RawValue>>,
    }
    let Ok(Reply { result, error }) = serde_json::from_slice(body) else {
        return Err(LinkError::new("the editor's answer cannot be read", ""));
    };
    let reason = |error: Box<RawValue>| serde_json::from_str(error.get());
    error.map_or(Ok(result), |error| Err(reason(error).unwrap_or_else(|_| LinkError::new("the editor refused it", ""))))
}

/// The answer to a request that cannot be handed on.
pub(super) fn orphaned(shared: &ProxyState, table: &mut Table, why: &str) {
    let asked = std::mem::take(&mut table.editor.asked);
    for (id, asked) in asked {
        match asked {
            EditorAsked::Initialize => drop(table.editor.asked.insert(id, asked)),
            EditorAsked::Actions(asked) => {
                table.refuse(&id, REQUEST_FAILED, why);
                held_actions::answered(shared, table, &asked);
            }
            _ => table.refuse(&id, REQUEST_FAILED, why),
        }
    }
    engine_client::server_died(table);
}

/// True if it is the editor's last message.
pub(super) fn leaves(message: &RawMessage) -> bool {
    let body = message.body();
    body.len() < 1024 && matches!(peek(body), Some(Peeked { id: None, method: Some(method) }) if method == "exit")
}
