//! Adds Sextant's diagnostics and hovers to the server's answers for the editor.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::link::EngineSays;
use crate::proxy::helix_code_actions::touch;
use crate::proxy::proxy_state::{AGENT_IDS, EngineTask, LastPublish, ProxiedFile, Table, key};
use crate::proxy::shared_files;
use sextant_base::positions::{Position, Range};
use sextant_diagnostics::server::content_length;

#[derive(Deserialize)]
struct PublishedFile {
    params: PublishParams,
}

#[derive(Deserialize)]
struct PublishParams {
    uri: String,
    #[serde(default)]
    version: Option<i64>,
    diagnostics: Box<RawValue>,
}

/// The replacement for a publish of the server: `None` for the publish itself, no bytes to send nothing.
pub(super) fn published(table: &mut Table, body: &[u8]) -> Option<Vec<u8>> {
    let Ok(PublishedFile { params: PublishParams { uri, version, diagnostics } }) = serde_json::from_slice(body) else {
        return None;
    };
    let key = key(&uri);
    let refreshes = refreshes(table);
    let file = table.files.entry(key.clone()).or_default();
    let during = file.editor.as_ref().map(|(_, version)| *version);
    let empty = diagnostics.get().trim_matches(|c: char| c.is_whitespace() || "[]".contains(c)).is_empty();
    let last = LastPublish { version, during, diagnostics: Arc::from(diagnostics) };
    let open = file.editor.is_some() || file.engine.is_some();
    // Without an entry, a file that no editor has open counts as empty anyway.
    file.published = (open || !empty).then(|| last.clone());
    let engine_alone = file.editor.is_none() && file.engine.is_some();
    let by_pull = file.pulls && refreshes;
    // If the editor does not pull, the publish is not looked into.
    file.passed = file.pulls.then(|| beside_pull(file).len());
    let twice = file.passed.is_some_and(|passed| passed < listed(file.published.as_ref()).len());
    let merged = (twice || !file.own.is_empty() && !by_pull).then(|| message(&uri, version, file, by_pull));
    shared_files::publish(table, &key, &last);
    table.sweep(&key);
    if engine_alone { Some(Vec::new()) } else { merged }
}

/// True if the editor can be asked to pull again. An editor that can gets Sextant's diagnostics in its pulls, and any
/// other by publishing: with both they would stand twice. The specification has the name `diagnostics`, Helix and
/// `lsp-types` have `diagnostic`.
pub(super) fn refreshes(table: &Table) -> bool {
    let can = &table.editor.client["capabilities"]["workspace"];
    ["diagnostics", "diagnostic"].iter().any(|name| can[name]["refreshSupport"] == true)
}

fn listed(published: Option<&LastPublish>) -> Vec<Value> {
    published.and_then(|last| serde_json::from_str(last.diagnostics.get()).ok()).unwrap_or_default()
}

/// The published diagnostics that are in no answer to a pull: with both they would stand twice. Some servers publish
/// everything that they also return to pulls. Others publish what takes long and is in no answer.
fn beside_pull(file: &ProxiedFile) -> Vec<Value> {
    let mut theirs = listed(file.published.as_ref());
    if file.pulls {
        let same = |one: &Value, other: &Value| ["range", "code", "message"].iter().all(|key| one[key] == other[key]);
        theirs.retain(|one| !file.pulled.iter().any(|other| same(one, other)));
    }
    theirs
}

/// `by_pull` is whether the editor gets Sextant's diagnostics in its pulls.
fn message(uri: &str, version: Option<i64>, file: &ProxiedFile, by_pull: bool) -> Vec<u8> {
    // The editor gets no report of a file that the engine alone has open.
    let engine_alone = file.editor.is_none() && file.engine.is_some();
    let mut all = if engine_alone { Vec::new() } else { beside_pull(file) };
    all.extend(file.own.iter().filter(|_| !by_pull).cloned());
    let mut params = json!({"uri": uri, "diagnostics": all});
    if let Some(version) = version {
        params["version"] = version.into();
    }
    let message = json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params});
    content_length::encode(&serde_json::to_vec(&message).unwrap_or_default())
}

/// Takes over the engine's message about a file.
pub(super) fn set(table: &mut Table, message: EngineSays) {
    let uri = match message {
        EngineSays::Diagnostics(given) => {
            table.file(&given.uri).own = given.diagnostics;
            show(table, &given.uri, false);
            given.uri
        }
        EngineSays::Actions(given) => {
            table.file(&given.uri).actions = given.items;
            given.uri
        }
        EngineSays::Hovers(given) => {
            table.file(&given.uri).hovers = given.items;
            given.uri
        }
        EngineSays::Request(_) | EngineSays::Notify(_) => return,
    };
    table.sweep(&key(&uri));
}

/// Shows Sextant's diagnostics of a file with the server's last ones. Those of an older text wait for the server's
/// next, but not for ever: `now` ends the wait.
pub(super) fn show(table: &mut Table, uri: &str, now: bool) {
    let Some(file) = table.known(uri) else { return };
    let (open, version) = match &file.editor {
        Some((open, version)) => (open.clone(), Some(*version)),
        None => (uri.to_owned(), None),
    };
    let older = file.published.as_ref().is_some_and(|last| last.version.or(last.during) != version);
    if file.pulls && refreshes(table) {
        table.agent.last += 1;
        let id = format!("{AGENT_IDS}{}", table.agent.last);
        table.editor.outlet.json(&json!({"jsonrpc": "2.0", "id": id, "method": "workspace/diagnostic/refresh"}));
    } else if older && version.is_some() && !now {
        table.task(EngineTask::Republish(open));
    } else {
        let bytes = message(&open, version, file, false);
        table.editor.outlet.raw(bytes);
    }
}

/// Removes the messages of an engine that is gone.
pub(super) fn clear(table: &mut Table) {
    let ours = |file: &ProxiedFile| !file.own.is_empty() || !file.actions.is_empty() || !file.hovers.is_empty();
    let keys: Vec<String> = table.files.iter().filter(|(_, file)| ours(file)).map(|(key, _)| key.clone()).collect();
    for key in keys {
        let Some(file) = table.files.get_mut(&key) else { continue };
        (file.actions, file.hovers) = (Vec::new(), Vec::new());
        if !std::mem::take(&mut file.own).is_empty() {
            show(table, &key, true);
        }
        table.sweep(&key);
    }
}

/// Adds Sextant's diagnostics to the answer to a pull; `None` if the answer needs no change.
pub(super) fn pulled(table: &mut Table, uri: &str, body: &[u8]) -> Option<Value> {
    let by_pull = refreshes(table);
    let mut answer: Value = serde_json::from_slice(body).ok()?;
    if answer["result"]["kind"] != "full" {
        return None;
    }
    let file = table.file(uri);
    file.pulled = answer["result"]["items"].as_array().cloned().unwrap_or_default();
    // Diagnostics that were passed on and are in the answer too are withdrawn.
    let beside = beside_pull(file).len();
    let had = file.passed.replace(beside).unwrap_or_else(|| listed(file.published.as_ref()).len());
    if let Some((open, version)) = file.editor.clone().filter(|_| had > beside) {
        let bytes = message(&open, Some(version), file, by_pull);
        table.editor.outlet.raw(bytes);
    }
    let file = table.file(uri);
    if !by_pull || file.own.is_empty() && file.pulled_own.is_empty() {
        return None;
    }
    answer["result"]["items"].as_array_mut()?.extend(file.own.iter().cloned());
    file.pulled_own = file.own.clone();
    Some(answer)
}

/// True if the editor may get the answer that nothing has changed since its last pull.
pub(super) fn pull_may_be_unchanged(file: &ProxiedFile) -> bool {
    file.own == file.pulled_own
}

/// Sextant's hover at a place, as Markdown.
pub(super) fn hover(table: &Table, uri: &str, at: Position) -> Option<String> {
    let here = Range { start: at, end: at };
    let ours = table.known(uri)?.hovers.iter().filter(|hover| touch(&hover.range, &here));
    let texts: Vec<&str> = ours.map(|hover| hover.markdown.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// A hover of the server with Sextant's behind it.
pub(super) fn hovered(theirs: &Value, ours: &str) -> Value {
    let alone = json!({"contents": {"kind": "markdown", "value": ours}});
    let mut hover = if theirs.is_object() { theirs.clone() } else { return alone };
    match &mut hover["contents"] {
        Value::Object(marked) if marked.contains_key("kind") => {
            let text = marked.get("value").and_then(Value::as_str).unwrap_or_default();
            let both = format!("{text}\n\n---\n\n{ours}");
            marked.insert("value".to_owned(), both.into());
        }
        Value::Array(parts) => parts.push(ours.into()),
        Value::Null => return alone,
        other => *other = json!([other.take(), ours]),
    }
    hover
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hover_of_any_form_is_kept_before_ours() {
        for (theirs, wanted) in [
            (json!({"kind": "markdown", "value": "a"}), json!({"kind": "markdown", "value": "a\n\n---\n\nb"})),
            (json!("a"), json!(["a", "b"])),
            (json!({"language": "py", "value": "a"}), json!([{"language": "py", "value": "a"}, "b"])),
            (json!(["a", "c"]), json!(["a", "c", "b"])),
        ] {
            assert_eq!(hovered(&json!({"contents": theirs, "range": 1}), "b"), json!({"contents": wanted, "range": 1}));
        }
        assert_eq!(hovered(&Value::Null, "b"), json!({"contents": {"kind": "markdown", "value": "b"}}));
    }
}
