//! Shares one file between two clients: which has it open at the server, and whether the server's text is the engine's.
//!
//! A file open in the editor belongs to the editor: the engine's text of it goes nowhere, and is compared with the
//! server's.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::proxy::document_mirror::{MirroredText, MirroredTexts};
use crate::proxy::proxy_state::{EngineFile, LastPublish, ProxyState, Table, key};
use sextant_base::lock::lock;
use sextant_diagnostics::server::content_length;

/// Takes the mirror's new text of a document.
pub(super) fn compare(shared: &ProxyState, key: &str, known: &MirroredText) {
    agree(&mut lock(&shared.table), key, known);
}

fn agree(table: &mut Table, key: &str, known: &MirroredText) {
    let Some(file) = table.files.get_mut(key) else { return };
    let Some(engine) = file.engine.as_mut().filter(|_| file.editor.is_some()) else { return };
    engine.agreed = (*engine.text == *known.text).then_some(known.version);
    // The server will not report this text again if it has reported it already.
    let agreed = engine.agreed;
    let last = file.published.clone().filter(|last| agreed.is_some() && last.version.or(last.during) == agreed);
    if let Some(last) = last {
        publish(table, key, &last);
    }
}

/// Sends the engine the server's last publish, under the engine's own version, if it is for the engine's text.
pub(super) fn publish(table: &Table, key: &str, published: &LastPublish) {
    let Some(file) = table.files.get(key) else { return };
    let Some(engine) = &file.engine else { return };
    let version = match (published.version, &file.editor) {
        (None, _) => None,
        (Some(version), None) => Some(version),
        (Some(version), Some(_)) if engine.agreed == Some(version) => Some(engine.version),
        _ => return,
    };
    let mut params = json!({"uri": engine.uri, "diagnostics": &*published.diagnostics});
    if let Some(version) = version {
        params["version"] = version.into();
    }
    table.to_engine(&json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}));
}

/// A notification of the engine about a document.
pub(super) fn noted(texts: &MirroredTexts, table: &mut Table, method: &str, params: &Value, body: &[u8]) {
    let item = &params["textDocument"];
    let Some(uri) = item["uri"].as_str() else { return };
    let key = key(uri);
    let version = item["version"].as_i64().unwrap_or_default();
    let file = table.file(uri);
    match method {
        "textDocument/didOpen" => {
            let text = Arc::from(item["text"].as_str().unwrap_or_default());
            let language = item["languageId"].as_str().unwrap_or_default().to_owned();
            file.engine = Some(EngineFile { uri: uri.to_owned(), language, version, text, agreed: None });
        }
        "textDocument/didChange" => {
            let changes = params["contentChanges"].as_array();
            let text = changes.and_then(|changes| changes.last()?["text"].as_str());
            if let (Some(engine), Some(text)) = (&mut file.engine, text) {
                (engine.version, engine.text, engine.agreed) = (version, Arc::from(text), None);
            }
        }
        "textDocument/didClose" => file.engine = None,
        _ => {}
    }
    if file.editor.is_none() {
        table.to_server(content_length::encode(body));
    } else if let Some(known) = texts.open.get(&key) {
        agree(table, &key, known);
    }
    table.sweep(&key);
}

/// The editor opens a file: if the engine had opened it, it is closed first.
pub(super) fn editor_opens(table: &mut Table, uri: &str, version: i64) {
    let file = table.file(uri);
    let before = file.editor.replace((uri.to_owned(), version));
    file.pulled_own.clear();
    let Some(engine) = file.engine.as_mut().filter(|_| before.is_none()) else { return };
    engine.agreed = None;
    file.published = None;
    let closed = did_close(&engine.uri);
    table.to_server(closed);
}

/// The editor closes a file; the answer is the messages to send after that, if the engine still wants the file.
pub(super) fn editor_closes(table: &mut Table, uri: &str) -> Vec<Vec<u8>> {
    let file = table.file(uri);
    file.editor = None;
    (file.pulls, file.pulled_own, file.pulled, file.passed) = (false, Vec::new(), Vec::new(), None);
    let Some(engine) = file.engine.as_mut() else { return Vec::new() };
    engine.agreed = None;
    file.published = None;
    vec![did_open(engine)]
}

/// Closes every file that the engine had open, since it is gone.
pub(super) fn release(table: &mut Table) {
    let keys: Vec<String> = table.files.keys().cloned().collect();
    for key in keys {
        let Some(file) = table.files.get_mut(&key) else { continue };
        let Some(engine) = file.engine.take() else { continue };
        if file.editor.is_none() {
            table.to_server(did_close(&engine.uri));
        }
        table.sweep(&key);
    }
}

/// The file that a request of the engine is about; an error if the server has another text of it than the engine.
pub(super) fn subject(table: &Table, params: &Value) -> Result<Option<(String, i64)>, ()> {
    let command = params["arguments"][1]["file"].as_str().and_then(|path| sextant_base::path::to_uri(path.as_ref()));
    let Some(uri) = params["textDocument"]["uri"].as_str().map(str::to_owned).or(command) else { return Ok(None) };
    let key = key(&uri);
    let Some(file) = table.files.get(&key) else { return Ok(None) };
    match (&file.editor, &file.engine) {
        (Some((_, version)), Some(engine)) if engine.agreed != Some(*version) => Err(()),
        (Some((_, version)), _) => Ok(Some((key, *version))),
        (None, _) => Ok(None),
    }
}

/// True if the server still has the text that a request was about.
pub(super) fn still(table: &Table, subject: Option<&(String, i64)>) -> bool {
    let version = |key: &String| table.files.get(key)?.editor.as_ref().map(|(_, version)| *version);
    subject.is_none_or(|(key, asked)| version(key) == Some(*asked))
}

fn did_close(uri: &str) -> Vec<u8> {
    let params = json!({"textDocument": {"uri": uri}});
    message("textDocument/didClose", &params)
}

fn did_open(file: &EngineFile) -> Vec<u8> {
    let EngineFile { uri, language, version, text, .. } = file;
    let params = json!({"textDocument": {"uri": uri, "languageId": language, "version": version, "text": &**text}});
    message("textDocument/didOpen", &params)
}

/// The messages that open a document in a new process.
pub(super) fn reopened(known: &MirroredText) -> Vec<u8> {
    let MirroredText { uri, language, version, text } = known;
    let params = json!({"textDocument": {"uri": uri, "languageId": language, "version": version, "text": &**text}});
    message("textDocument/didOpen", &params)
}

fn message(method: &str, params: &Value) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    content_length::encode(&serde_json::to_vec(&message).unwrap_or_default())
}
