//! A scripted editor that behaves as Helix does towards a language server: 25.07.1, or master of 2026.
//!
//! What it is told it does as Helix would: an edit of another version is refused, a `didChange` comes before the answer
//! to `workspace/applyEdit`, diagnostics of another version are dropped, and what it does not know it refuses.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sextant::base::path;
use sextant::base::positions::{Encoding, LineIndex, Range};

/// Generous: real servers start cold on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelixVersion {
    Release,
    Master,
}

#[derive(Clone, Debug)]
pub struct Buffer {
    pub version: i64,
    pub text: String,
}

#[derive(Debug, Default)]
pub struct Seen {
    /// Everything that came, in order.
    pub messages: Vec<Value>,
    /// The bytes of it.
    pub raw: Vec<Vec<u8>>,
    pub buffers: BTreeMap<String, Buffer>,
    /// What is shown of each file: the last list that was of the buffer's version, or of a file that is not open.
    pub diagnostics: BTreeMap<String, Vec<Value>>,
    pub said: Vec<String>,
    /// Files that were opened by `window/showDocument`.
    pub shown: Vec<String>,
    /// What `window/showMessageRequest` is answered with next; null when empty.
    pub choices: VecDeque<Value>,
    /// Its questions, with their options.
    pub asked: Vec<Value>,
    answers: BTreeMap<i64, Value>,
    last: i64,
    gone: bool,
}

struct Shared {
    version: HelixVersion,
    encoding: Mutex<Encoding>,
    full: Mutex<bool>,
    config: Value,
    seen: Mutex<Seen>,
    news: Condvar,
    input: Mutex<Option<ChildStdin>>,
    /// The bodies that were sent, in order.
    sent: Mutex<Vec<Vec<u8>>>,
}

/// What went to the server and what came, also when it has left.
pub struct Record(Arc<Shared>);

impl Record {
    pub fn sent(&self) -> Vec<Vec<u8>> {
        self.0.sent.lock().unwrap().clone()
    }

    pub fn received(&self) -> Vec<Vec<u8>> {
        self.0.seen.lock().unwrap().raw.clone()
    }
}

pub struct HelixClient {
    shared: Arc<Shared>,
    pub child: Child,
    pub root: PathBuf,
    pub capabilities: Value,
}

impl HelixClient {
    /// Starts a program as a language server in a folder, and does the handshake.
    pub fn start(version: HelixVersion, command: &mut Command, root: &Path) -> Self {
        Self::configured(version, command, root, Value::Null)
    }

    /// The same with a server's `config`, which is its initialization options and its settings.
    pub fn configured(version: HelixVersion, command: &mut Command, root: &Path, config: Value) -> Self {
        Self::of_process(std::process::id(), version, command, root, config)
    }

    /// The same as the process of this number, for an editor beside another one.
    pub fn of_process(process: u32, version: HelixVersion, command: &mut Command, root: &Path, config: Value) -> Self {
        let root = root.canonicalize().expect("a root");
        let command = command.current_dir(&root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a language server");
        let output = child.stdout.take().expect("its output");
        let shared = Arc::new(Shared {
            version,
            encoding: Mutex::default(),
            full: Mutex::default(),
            config,
            seen: Mutex::default(),
            news: Condvar::new(),
            input: Mutex::new(child.stdin.take()),
            sent: Mutex::default(),
        });
        let reading = Arc::clone(&shared);
        std::thread::spawn(move || listen(&reading, output));
        let mut client = Self { shared, child, root, capabilities: Value::Null };
        let answer = client.request("initialize", client.initialize(process));
        client.capabilities = answer["result"]["capabilities"].clone();
        let capabilities = &client.capabilities;
        let encoding = capabilities["positionEncoding"].as_str().map(Encoding::from_lsp).unwrap_or_default();
        *client.shared.encoding.lock().unwrap() = encoding;
        let sync = &capabilities["textDocumentSync"];
        *client.shared.full.lock().unwrap() = sync.as_u64().or(sync["change"].as_u64()) == Some(1);
        client.notify("initialized", json!({}));
        if !client.shared.config.is_null() {
            client.notify("workspace/didChangeConfiguration", json!({"settings": client.shared.config}));
        }
        client
    }

    fn initialize(&self, process: u32) -> Value {
        let uri = path::to_uri(&self.root).expect("absolute");
        let master = self.shared.version == HelixVersion::Master;
        let name = if master { "25.07.1 (0123abcd)" } else { "25.07.1 (079a789e)" };
        json!({
            "processId": process,
            "workspaceFolders": [{"name": "project", "uri": uri}],
            "rootPath": self.root, "rootUri": uri,
            "initializationOptions": self.shared.config,
            "capabilities": capabilities(master),
            "clientInfo": {"name": "helix", "version": name},
        })
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.shared.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends; the id.
    pub fn ask(&self, method: &str, params: Value) -> i64 {
        let id = {
            let mut seen = self.seen();
            seen.last += 1;
            seen.last
        };
        self.shared.send(&json!({"jsonrpc": "2.0", "method": method, "params": params, "id": id}));
        id
    }

    /// The whole answer.
    pub fn answer(&self, id: i64) -> Value {
        self.wait(&format!("an answer to {id}"), |seen| seen.answers.remove(&id))
    }

    pub fn request(&self, method: &str, params: Value) -> Value {
        self.answer(self.ask(method, params))
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.shared.seen.lock().unwrap()
    }

    /// Waits until something holds of what was seen.
    pub fn wait<T>(&self, what: &str, mut found: impl FnMut(&mut Seen) -> Option<T>) -> T {
        let (start, mut seen) = (Instant::now(), self.seen());
        loop {
            if let Some(found) = found(&mut seen) {
                return found;
            }
            assert!(!seen.gone, "the server is gone while waiting for {what}; it said {:?}", seen.said);
            assert!(start.elapsed() < PATIENCE, "no {what}; it said {:?}, showed {:?}", seen.said, seen.diagnostics);
            seen = self.shared.news.wait_timeout(seen, Duration::from_millis(500)).unwrap().0;
        }
    }

    pub fn uri(&self, file: &str) -> String {
        path::to_uri(&self.root.join(file)).expect("absolute")
    }

    /// Opens a file with its text on disk.
    pub fn open(&self, file: &str, language: &str) -> String {
        let text = std::fs::read_to_string(self.root.join(file)).expect("a file");
        let uri = self.uri(file);
        let buffer = Buffer { version: 0, text: text.clone() };
        self.seen().buffers.insert(uri.clone(), buffer);
        let item = json!({"uri": uri, "languageId": language, "version": 0, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
        uri
    }

    /// The user replaces a range of bytes.
    pub fn edit(&self, uri: &str, bytes: std::ops::Range<usize>, new: &str) -> i64 {
        let mut seen = self.seen();
        change(&self.shared, &mut seen, uri, &[(bytes, new.to_owned())])
    }

    /// The user replaces the first place of a text.
    pub fn replace(&self, uri: &str, old: &str, new: &str) -> i64 {
        let at = self.text(uri).find(old).unwrap_or_else(|| panic!("{old:?} is not in {uri}"));
        self.edit(uri, at..at + old.len(), new)
    }

    pub fn text(&self, uri: &str) -> String {
        self.seen().buffers[uri].text.clone()
    }

    pub fn save(&self, uri: &str) {
        let text = self.text(uri);
        std::fs::write(path::from_uri(uri).expect("a file"), &text).expect("saved");
        self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    }

    pub fn close(&self, uri: &str) {
        self.seen().buffers.remove(uri);
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }

    /// `:lsp-workspace-command`, which takes only what the server has declared.
    pub fn command(&self, name: &str, arguments: Value) -> Value {
        let known = self.capabilities["executeCommandProvider"]["commands"].as_array();
        assert!(known.is_some_and(|known| known.iter().any(|one| one == name)), "{name} is not declared: {known:?}");
        self.request("workspace/executeCommand", json!({"command": name, "arguments": arguments}))
    }

    /// What `space-a` offers there, with the diagnostics that are shown on these lines.
    pub fn actions(&self, uri: &str, lines: std::ops::Range<u64>) -> Vec<Value> {
        let on = |item: &&Value| {
            let line = |end: &str| item["range"][end]["line"].as_u64().unwrap_or_default();
            line("start") < lines.end.max(lines.start + 1) && line("end") >= lines.start
        };
        let shown = self.seen().diagnostics.get(uri).cloned().unwrap_or_default();
        let context: Vec<&Value> = shown.iter().filter(on).collect();
        let range = json!({"start": {"line": lines.start, "character": 0}, "end": {"line": lines.end, "character": 0}});
        let context = json!({"diagnostics": context, "triggerKind": 1});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
        let answer = self.request("textDocument/codeAction", params);
        let mut offered = answer["result"].as_array().cloned().unwrap_or_default();
        offered.sort_by_key(place_in_menu);
        offered
    }

    /// Takes an action as Helix does: resolved where something of it is missing, its command after its edit.
    pub fn take(&self, action: &Value) {
        let mut action = action.clone();
        let resolves = self.capabilities["codeActionProvider"]["resolveProvider"] == true;
        if resolves && (action["edit"].is_null() || action["command"].is_null()) {
            let answer = self.request("codeAction/resolve", action.clone());
            if !answer["result"].is_null() {
                action = answer["result"].clone();
            }
        }
        if !action["edit"].is_null() {
            let mut seen = self.seen();
            apply(&self.shared, &mut seen, &action["edit"]).expect("an edit of an action");
        }
        let command = if action["command"].is_string() { &action } else { &action["command"] };
        if !command.is_null() {
            let params = json!({"command": command["command"], "arguments": command["arguments"]});
            self.request("workspace/executeCommand", params);
        }
    }

    /// Diagnostics that are shown of a file, once they are as wanted.
    pub fn diagnostics(&self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        self.wait("diagnostics", |seen| seen.diagnostics.get(uri).filter(|shown| wanted(shown)).cloned())
    }

    /// What goes and comes, from the beginning.
    pub fn record(&self) -> Record {
        Record(Arc::clone(&self.shared))
    }

    /// `shutdown` and `exit`; how it ended.
    pub fn quit(mut self) -> std::process::ExitStatus {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.shared.input.lock().unwrap().take();
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What Helix sorts the actions of a server by: their category, those that name a diagnostic, the preferred ones.
fn place_in_menu(action: &Value) -> (u32, bool, bool) {
    let mut kind = action["kind"].as_str().unwrap_or_default().split('.');
    let category = match (kind.next(), kind.next()) {
        (Some("quickfix"), _) => 0,
        (Some("refactor"), Some("extract")) => 1,
        (Some("refactor"), Some("inline")) => 2,
        (Some("refactor"), Some("rewrite")) => 3,
        (Some("refactor"), Some("move")) => 4,
        (Some("refactor"), Some("surround")) => 5,
        (Some("source"), _) => 6,
        _ => 7,
    };
    let names = action["diagnostics"].as_array().is_some_and(|all| !all.is_empty());
    (category, !names, action["isPreferred"] != true)
}

impl Drop for HelixClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shared {
    fn send(&self, message: &Value) {
        let body = message.to_string();
        if let Some(input) = self.input.lock().unwrap().as_mut() {
            // A server that is gone is noticed where its output ends.
            self.sent.lock().unwrap().push(body.clone().into_bytes());
            let _ = write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| input.flush());
        }
    }
}

fn listen(shared: &Shared, output: impl Read) {
    let mut reader = BufReader::new(output);
    while let Some(body) = frame(&mut reader) {
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        let mut seen = shared.seen.lock().unwrap();
        seen.messages.push(message.clone());
        seen.raw.push(body);
        heard(shared, &mut seen, &message);
        drop(seen);
        shared.news.notify_all();
    }
    shared.seen.lock().unwrap().gone = true;
    shared.news.notify_all();
}

/// The next body.
pub fn frame(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().ok(),
            None if line == "\r\n" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn heard(shared: &Shared, seen: &mut Seen, message: &Value) {
    let (id, params) = (&message["id"], &message["params"]);
    match message["method"].as_str() {
        None => drop(seen.answers.insert(id.as_i64().expect("an id of ours"), message.clone())),
        Some("textDocument/publishDiagnostics") => {
            let uri = params["uri"].as_str().expect("a uri").to_owned();
            let version = seen.buffers.get(&uri).map(|buffer| buffer.version);
            if params["version"].as_i64().is_none_or(|of| version.is_none_or(|version| version == of)) {
                seen.diagnostics.insert(uri, params["diagnostics"].as_array().cloned().unwrap_or_default());
            }
        }
        Some("window/showMessage") => seen.said.push(params["message"].as_str().unwrap_or_default().to_owned()),
        Some(method) if !id.is_null() => {
            let answer = match answered(shared, seen, method, params) {
                Ok(result) => json!({"jsonrpc": "2.0", "result": result, "id": id}),
                Err(error) => json!({"jsonrpc": "2.0", "error": error, "id": id}),
            };
            shared.send(&answer);
        }
        Some(_) => {}
    }
}

fn answered(shared: &Shared, seen: &mut Seen, method: &str, params: &Value) -> Result<Value, Value> {
    let master = shared.version == HelixVersion::Master;
    Ok(match method {
        "client/registerCapability" | "client/unregisterCapability" | "window/workDoneProgress/create" => Value::Null,
        "workspace/configuration" => {
            let section = |item: &Value| {
                let name = item["section"].as_str().unwrap_or_default();
                let parts = name.split('.').filter(|part| !part.is_empty());
                parts.fold(shared.config.clone(), |value, part| value[part].clone())
            };
            params["items"].as_array().into_iter().flatten().map(section).collect()
        }
        "workspace/workspaceFolders" => Value::Null,
        "workspace/applyEdit" => match apply(shared, seen, &params["edit"]) {
            Ok(()) => json!({"applied": true}),
            Err(why) => json!({"applied": false, "failureReason": why, "failedChange": 0}),
        },
        "window/showDocument" => {
            let uri = params["uri"].as_str().unwrap_or_default().to_owned();
            if let Some(file) = path::from_uri(&uri).filter(|_| !seen.buffers.contains_key(&uri)) {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                let item = json!({"uri": uri, "languageId": "markdown", "version": 0, "text": text});
                let buffer = Buffer { version: 0, text };
                seen.buffers.insert(uri.clone(), buffer);
                shared.send(
                    &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}),
                );
            }
            seen.shown.push(uri);
            json!({"success": true})
        }
        "window/showMessageRequest" if master => {
            seen.asked.push(params.clone());
            seen.choices.pop_front().unwrap_or_default()
        }
        "workspace/diagnostic/refresh" if master => Value::Null,
        _ => return Err(json!({"code": -32601, "message": "Method not found"})),
    })
}

/// As Helix does: the versions first, then one file after the other.
fn apply(shared: &Shared, seen: &mut Seen, edit: &Value) -> Result<(), String> {
    let single = |(uri, edits): (&String, &Value)| json!({"textDocument": {"uri": uri}, "edits": edits});
    let changes: Vec<Value> = match edit["documentChanges"].as_array() {
        Some(changes) => changes.clone(),
        None => edit["changes"].as_object().into_iter().flatten().map(single).collect(),
    };
    for change_of in &changes {
        let uri = change_of["textDocument"]["uri"].as_str().ok_or("only edits are known here")?.to_owned();
        if !seen.buffers.contains_key(&uri) {
            let text = path::from_uri(&uri).and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
            let item = json!({"uri": uri, "languageId": "python", "version": 0, "text": text});
            let buffer = Buffer { version: 0, text };
            seen.buffers.insert(uri.clone(), buffer);
            shared.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}));
        }
        let buffer = &seen.buffers[&uri];
        if change_of["textDocument"]["version"].as_i64().is_some_and(|version| version != buffer.version) {
            return Err("document has changed".to_owned());
        }
        let (index, encoding) = (LineIndex::new(&buffer.text), *shared.encoding.lock().unwrap());
        let bytes = |edit: &Value| {
            let range: Range = serde_json::from_value(edit["range"].clone()).expect("a range");
            let new = edit["newText"].as_str().expect("a text").to_owned();
            (index.byte_range(&buffer.text, range, encoding), new)
        };
        let mut edits: Vec<_> = change_of["edits"].as_array().into_iter().flatten().map(bytes).collect();
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        change(shared, seen, &uri, &edits);
    }
    Ok(())
}

/// Changes a buffer, from its end to its beginning, and tells the server.
fn change(shared: &Shared, seen: &mut Seen, uri: &str, edits: &[(std::ops::Range<usize>, String)]) -> i64 {
    let encoding = *shared.encoding.lock().unwrap();
    let buffer = seen.buffers.get_mut(uri).expect("an open buffer");
    let mut changes = Vec::new();
    for (bytes, new) in edits {
        let index = LineIndex::new(&buffer.text);
        let at = |offset| index.position(&buffer.text, offset, encoding);
        let range = Range { start: at(bytes.start), end: at(bytes.end) };
        changes.push(json!({"range": range, "text": new}));
        buffer.text.replace_range(bytes.clone(), new);
    }
    if *shared.full.lock().unwrap() {
        changes = vec![json!({"text": buffer.text})];
    }
    buffer.version += 1;
    let version = buffer.version;
    let params = json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes});
    shared.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}));
    version
}

/// What Helix declares, as far as a server or the agent depends on it.
fn capabilities(master: bool) -> Value {
    let kinds = [
        "",
        "quickfix",
        "refactor",
        "refactor.extract",
        "refactor.inline",
        "refactor.rewrite",
        "source",
        "source.organizeImports",
    ];
    let operations = ["willCreate", "didCreate", "willRename", "didRename", "willDelete", "didDelete"];
    let mut all = json!({
        "workspace": {
            "configuration": true, "didChangeConfiguration": {"dynamicRegistration": false},
            "workspaceFolders": true, "applyEdit": true, "symbol": {"dynamicRegistration": false},
            "executeCommand": {"dynamicRegistration": false}, "inlayHint": {"refreshSupport": false},
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "abort", "normalizesLineEndings": false},
            "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": master},
            "fileOperations": operations.iter().map(|name| ((*name).to_owned(), Value::Bool(true)))
                .collect::<serde_json::Map<_, _>>(),
        },
        "textDocument": {
            "completion": {"completionItem": {"snippetSupport": true, "insertReplaceSupport": true,
                "deprecatedSupport": true, "tagSupport": {"valueSet": [1]},
                "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]}}},
            "hover": {"contentFormat": ["markdown"]},
            "signatureHelp": {"signatureInformation": {"documentationFormat": ["markdown"],
                "parameterInformation": {"labelOffsetSupport": true}, "activeParameterSupport": true}},
            "rename": {"dynamicRegistration": false, "prepareSupport": true, "honorsChangeAnnotations": false},
            "formatting": {"dynamicRegistration": false},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": kinds}},
                "isPreferredSupport": true, "disabledSupport": true, "dataSupport": true,
                "resolveSupport": {"properties": ["edit", "command"]}},
            "publishDiagnostics": {"versionSupport": true, "tagSupport": {"valueSet": [1, 2]}},
            "inlayHint": {"dynamicRegistration": false},
        },
        "window": {"workDoneProgress": true},
        "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    });
    if master {
        all["workspace"]["diagnostic"] = json!({"refreshSupport": true});
        all["textDocument"]["diagnostic"] = json!({"dynamicRegistration": false, "relatedDocumentSupport": true});
        all["window"]["showMessage"] = json!({"messageActionItem": {"additionalPropertiesSupport": true}});
        all["window"]["showDocument"] = json!({"support": true});
    }
    all
}
