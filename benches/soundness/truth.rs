//! The truth: a second instance of the same server is shown each text as a new document and left in peace.
//!
//! It speaks the protocol by itself and waits long; nothing of the product is in it. Every server publishes
//! to a client that cannot pull, so that publishes are all there is to read.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::job::Item;
use crate::subjects::Subject;

/// Documents that are open at once.
const CHUNK: usize = 20;
/// Silence after every document has been published.
const QUIET: Duration = Duration::from_millis(2500);
/// Silence after which a document that was never published counts as clean.
const SILENT: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_secs(60);

struct Server {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
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

    /// Answers the server's requests; true for a publish, which is kept.
    async fn take(&mut self, message: Value, published: &mut HashMap<String, Vec<Item>>) -> bool {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let asked = message["params"]["items"].as_array().map_or(0, Vec::len);
            let result =
                if method == "workspace/configuration" { json!(vec![Value::Null; asked]) } else { Value::Null };
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
    let mut server = Server { _child: child, input, output };
    let uri = format!("file://{}", root.display());
    let params = json!({"processId": std::process::id(), "rootUri": uri, "rootPath": root, "capabilities": capabilities,
        "workspaceFolders": [{"uri": uri, "name": "project"}], "initializationOptions": {}});
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    let mut ignored = HashMap::new();
    loop {
        let message = server.read().await;
        if message["id"] == 1 && message.get("method").is_none() {
            break;
        }
        server.take(message, &mut ignored).await;
    }
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}})).await;
    server
}

/// The server's diagnostics of each text, in the order of the texts.
pub async fn of(subject: &Subject, root: &Path, capabilities: &Value, texts: &[String]) -> Vec<Vec<Item>> {
    let name = |i: usize| root.join(format!("case_{i}.{}", subject.language.extension()));
    for (i, text) in texts.iter().enumerate() {
        std::fs::write(name(i), text).expect("a file");
    }
    let mut server = start(subject, root, capabilities).await;
    let mut published = HashMap::new();
    let uris: Vec<String> = (0..texts.len()).map(|i| format!("file://{}", name(i).display())).collect();
    for (chunk, part) in uris.chunks(CHUNK).enumerate() {
        for (i, uri) in part.iter().enumerate() {
            let document = json!({"uri": uri, "languageId": subject.language.id(), "version": 1, "text": texts[chunk * CHUNK + i]});
            server
                .send(
                    &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
                )
                .await;
        }
        let mut last = tokio::time::Instant::now();
        loop {
            let all = part.iter().all(|uri| published.contains_key(uri));
            let patience = if all {
                QUIET
            } else if chunk == 0 {
                START
            } else {
                SILENT
            };
            match tokio::time::timeout_at(last + patience, server.read()).await {
                Ok(message) => {
                    if server.take(message, &mut published).await {
                        last = tokio::time::Instant::now();
                    }
                }
                Err(_) => break,
            }
        }
        let found: Vec<_> = part.iter().map(|uri| (uri.clone(), published.get(uri).cloned())).collect();
        for uri in part {
            let params = json!({"textDocument": {"uri": uri}});
            server.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didClose", "params": params})).await;
        }
        // The empty list of a closed document is not a report on its text.
        for (uri, items) in found {
            published.insert(format!("kept {uri}"), items.unwrap_or_default());
        }
    }
    uris.iter().map(|uri| published.remove(&format!("kept {uri}")).unwrap_or_default()).collect()
}
