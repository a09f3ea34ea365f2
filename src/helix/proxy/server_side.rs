//! Decides where each message of the server goes: almost always to the editor as it is.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::proxy::editor_side::Forward;
use crate::proxy::engine_client;
use crate::proxy::frame::RawMessage;
use crate::proxy::held_actions;
use crate::proxy::helix_code_actions;
use crate::proxy::initialize_patch::{self, Declared};
use crate::proxy::message_head::{Peeked, peek};
use crate::proxy::own_answers;
use crate::proxy::proxy_state::{EditorAsked, ProxyState, REPLAY_ID, SECOND_IDS, Table};
use sextant_diagnostics::server::content_length;

/// The most open progress that is remembered; a server with more of it is not waited for.
const PROGRESS: usize = 1000;

/// Notifications that the engine gets a copy of.
const COPIED: &[&str] =
    &["window/logMessage", "window/showMessage", "$/progress", "experimental/serverStatus", "eslint/status"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServerAnswer {
    result: Value,
    error: Value,
}

#[derive(Deserialize)]
struct ServerProgress {
    params: ProgressParams,
}

#[derive(Deserialize)]
struct ProgressParams {
    token: Value,
    #[serde(default)]
    value: Value,
}

/// Decides on a message, with its side effects.
pub(super) fn decide(shared: &ProxyState, table: &mut Table, message: &RawMessage) -> Forward {
    let body = message.body();
    match peek(body) {
        Some(Peeked { id: Some(id), method: Some(method) }) => request(table, id, &method, body),
        Some(Peeked { id: None, method: Some(method) }) => notification(table, &method, body),
        Some(Peeked { id: Some(id), method: None }) => answer(shared, table, id, body),
        _ => Forward::Raw,
    }
}

fn request(table: &mut Table, id: &str, method: &str, body: &[u8]) -> Forward {
    if method == "workspace/applyEdit" && engine_client::edits(table) {
        let by_editor = table.editor.asked.values().any(|asked| matches!(asked, EditorAsked::Command));
        if !by_editor {
            engine_client::hand_over(table, method, body, Some(id));
            return Forward::Nothing;
        }
    }
    let copied = matches!(
        method,
        "client/registerCapability" | "client/unregisterCapability" | "window/workDoneProgress/create"
    );
    if copied || method.ends_with("/refresh") {
        engine_client::hand_over(table, method, body, None);
    }
    *table.server.calls.wants.entry(id.to_owned()).or_default() += 1;
    Forward::Raw
}

fn notification(table: &mut Table, method: &str, body: &[u8]) -> Forward {
    if method == "textDocument/publishDiagnostics" {
        return match own_answers::published(table, body) {
            None => Forward::Raw,
            Some(bytes) if bytes.is_empty() => Forward::Nothing,
            Some(bytes) => Forward::Instead(bytes),
        };
    }
    if method == "$/progress"
        && let Ok(ServerProgress { params }) = serde_json::from_slice(body)
    {
        follow(&mut table.server.calls.progress, params.token, &params.value);
    }
    if COPIED.contains(&method)
        && let Some(second) = &table.second.sender
    {
        let _ = second.send(content_length::encode(body));
    }
    Forward::Raw
}

/// Keeps the tokens of progress that has begun and not ended.
pub(super) fn follow(open: &mut Vec<Value>, token: Value, value: &Value) {
    match value["kind"].as_str() {
        Some("begin") if open.len() < PROGRESS => open.push(token),
        Some("end") => open.retain(|known| *known != token),
        _ => {}
    }
}

fn answer(shared: &ProxyState, table: &mut Table, id: &str, body: &[u8]) -> Forward {
    let bare = id.trim_matches('"');
    if bare == REPLAY_ID {
        table.server.replay_due = true;
        return Forward::Nothing;
    }
    if let Some(ours) = bare.strip_prefix(SECOND_IDS) {
        engine_client::answered(table, ours, body);
        return Forward::Nothing;
    }
    let patched = match table.editor.asked.remove(id) {
        None | Some(EditorAsked::Other | EditorAsked::Command) => return Forward::Raw,
        Some(EditorAsked::Initialize) => return initialized(shared, table, id, body),
        Some(EditorAsked::Actions(asked)) => {
            if held_actions::holds(table, id, body) {
                return Forward::Nothing;
            }
            held_actions::answered(shared, table, &asked);
            let ours = helix_code_actions::actions(shared, table, &asked);
            if ours.is_empty() {
                return Forward::Raw;
            }
            let ServerAnswer { result, error } = read(body);
            if !error.is_null() {
                tracing::info!(%error, "no code actions of the server");
            }
            let theirs = result.as_array().cloned().unwrap_or_default();
            with_result(id, theirs.into_iter().chain(ours).collect())
        }
        Some(EditorAsked::Hover { uri, at }) => match own_answers::hover(table, &uri, at) {
            None => return Forward::Raw,
            Some(ours) => with_result(id, own_answers::hovered(&read(body).result, &ours)),
        },
        Some(EditorAsked::Pull { uri }) => match own_answers::pulled(table, &uri, body) {
            None => return Forward::Raw,
            Some(answer) => answer,
        },
    };
    Forward::Instead(content_length::encode(&serde_json::to_vec(&patched).unwrap_or_default()))
}

fn read(body: &[u8]) -> ServerAnswer {
    serde_json::from_slice(body).unwrap_or_default()
}

fn with_result(id: &str, result: Value) -> Value {
    let id: Value = serde_json::from_str(id).unwrap_or_default();
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn initialized(shared: &ProxyState, table: &mut Table, id: &str, body: &[u8]) -> Forward {
    let ServerAnswer { result, error } = read(body);
    if !error.is_null() || !result.is_object() {
        return Forward::Raw;
    }
    table.server.declared = Declared::of(&result);
    let _ = shared.encoding.set(initialize_patch::encoding(&result));
    let patched = with_result(id, initialize_patch::patched(&result, !shared.options.quiet));
    table.server.result = Some(result);
    engine_client::initialized(table);
    Forward::Instead(content_length::encode(&serde_json::to_vec(&patched).unwrap_or_default()))
}
