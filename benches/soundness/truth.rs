//! The truth: a second instance of the same server is shown each text as a new document and left in peace.
//!
//! It speaks the protocol by itself and waits long; nothing of the product is in it. Nearly every server publishes
//! to a client that cannot pull, so that publishes are what is read; of the others each text is pulled.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::job::Item;
use crate::language::write;
use crate::subjects::Subject;

/// Documents that are open at once.
const CHUNK: usize = 20;
/// Silence after every document has been published.
const QUIET: Duration = Duration::from_millis(2500);
/// The same after a document that was open alone: nothing else holds the server up.
const QUIET_ALONE: Duration = Duration::from_millis(1000);
/// Silence after which a document that was never published counts as clean.
const SILENT: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_secs(60);

struct Server {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    settings: Value,
}

impl Server {
    async fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.input.write_all(text.as_bytes()).await.expect("the server reads");
        self.input.flush().await.expect("the server reads");
    }

    async fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).await.expect("the server writes") > 0, "the server ended");
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).await.expect("a body");
        serde_json::from_slice(&body).expect("a message")
    }

    fn section(&self, name: &Value) -> Value {
        let parts = name.as_str().unwrap_or_default().split('.').filter(|part| !part.is_empty());
        parts.fold(self.settings.clone(), |value, part| value[part].clone())
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// The answer to a request.
    async fn ask(&mut self, id: usize, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let message = self.read().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.take(message, &mut HashMap::new()).await;
        }
    }

    /// Hears publishes until nothing comes any more.
    async fn hear(
        &mut self,
        uris: &[String],
        quiet: Duration,
        silent: Duration,
        published: &mut HashMap<String, Vec<Item>>,
    ) {
        let mut last = tokio::time::Instant::now();
        loop {
            let all = uris.iter().all(|uri| published.contains_key(uri));
            let patience = if all { quiet } else { silent };
            let Ok(message) = tokio::time::timeout_at(last + patience, self.read()).await else { return };
            if self.take(message, published).await {
                last = tokio::time::Instant::now();
            }
        }
    }

    /// Answers the server's requests; true for a publish, which is kept.
    async fn take(&mut self, message: Value, published: &mut HashMap<String, Vec<Item>>) -> bool {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let asked = message["params"]["items"].as_array().into_iter().flatten();
            let result = match method {
                "workspace/configuration" => asked.map(|item| self.section(&item["section"])).collect(),
                _ => Value::Null,
            };
            self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
        }
        if message["method"] != "textDocument/publishDiagnostics" {
            return false;
        }
        let uri = message["params"]["uri"].as_str().unwrap_or_default().to_owned();
        published.insert(uri, items(&message["params"]["diagnostics"]));
        true
    }
}

/// A message without the parts that depend on the file's name or on the indexed share of the project.
pub fn common(message: &str) -> String {
    let mut text = message.replace(" (fix available)", "");
    while let Some(at) = text.find("case_") {
        let digits = text[at + 5..].bytes().take_while(u8::is_ascii_digit).count();
        text.replace_range(at..at + 5 + digits, "subject");
    }
    text
}

fn items(list: &Value) -> Vec<Item> {
    let number = |value: &Value| u32::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
    let mut items: Vec<Item> = list
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| item["severity"] != 4)
        .map(|item| Item {
            line: number(&item["range"]["start"]["line"]),
            column: number(&item["range"]["start"]["character"]),
            severity: u8::try_from(item["severity"].as_u64().unwrap_or(1)).unwrap_or(1),
            code: item["code"]
                .as_str()
                .map_or_else(|| item["code"].as_i64().map_or_else(String::new, |code| code.to_string()), str::to_owned),
            message: common(item["message"].as_str().unwrap_or_default()),
        })
        .collect();
    items.sort();
    items
}

async fn start(subject: &Subject, root: &Path, capabilities: &Value) -> Server {
    let command = subject.command().expect("found before");
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let input = child.stdin.take().expect("standard input");
    let output = BufReader::new(child.stdout.take().expect("standard output"));
    let settings = (subject.settings)(root);
    let mut server = Server { _child: child, input, output, settings: settings.clone() };
    let uri = format!("file://{}", root.display());
    let params = json!({"processId": std::process::id(), "rootUri": uri, "rootPath": root, "capabilities": capabilities,
        "workspaceFolders": [{"uri": uri, "name": "project"}], "initializationOptions": {}});
    server.ask(1, "initialize", params).await;
    server.notify("initialized", json!({})).await;
    if !settings.is_null() {
        server.notify("workspace/didChangeConfiguration", json!({"settings": settings})).await;
    }
    server
}

/// The server's diagnostics of each text, in the order of the texts.
pub async fn of(subject: &Subject, root: &Path, capabilities: &Value, texts: &[String]) -> Vec<Vec<Item>> {
    let name = |i: usize| root.join(subject.language.other_file(&format!("case_{i}")));
    for (i, text) in texts.iter().enumerate() {
        write(name(i), text).expect("a file");
    }
    let mut server = start(subject, root, capabilities).await;
    let mut published = HashMap::new();
    let uris: Vec<String> = (0..texts.len()).map(|i| format!("file://{}", name(i).display())).collect();
    let at_once = if subject.alone { 1 } else { CHUNK };
    for (chunk, part) in uris.chunks(at_once).enumerate() {
        for (i, uri) in part.iter().enumerate() {
            let document = json!({"uri": uri, "languageId": subject.language.id(), "version": 1, "text": texts[chunk * at_once + i]});
            server.notify("textDocument/didOpen", json!({"textDocument": document})).await;
            if subject.pulls {
                let id = 2 + chunk * at_once + i;
                let answer = server.ask(id, "textDocument/diagnostic", json!({"textDocument": {"uri": uri}})).await;
                assert_eq!(answer["result"]["kind"], "full", "{answer}");
                published.insert(uri.clone(), items(&answer["result"]["items"]));
            }
        }
        if !subject.pulls {
            let quiet = if subject.alone { QUIET_ALONE } else { QUIET };
            let silent = if chunk == 0 { START } else { SILENT };
            server.hear(part, quiet, silent, &mut published).await;
        }
        let found: Vec<_> = part.iter().map(|uri| (uri.clone(), published.get(uri).cloned())).collect();
        for uri in part {
            server.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
        }
        // The empty list of a closed document is not a report on its text.
        for (uri, items) in found {
            published.insert(format!("kept {uri}"), items.unwrap_or_default());
        }
    }
    uris.iter().map(|uri| published.remove(&format!("kept {uri}")).unwrap_or_default()).collect()
}
