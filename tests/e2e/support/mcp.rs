//! A scripted client of `sextant mcp` over standard input and output.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::project::Project;
use crate::support::servers::tool;

/// Far beyond what anything here takes; what is still silent then hangs.
const PATIENCE: Duration = Duration::from_secs(150);

pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    /// The folders that it has open; `None` for a client that does not tell.
    roots: Option<Vec<PathBuf>>,
    /// Notifications that came while an answer was waited for.
    pub notes: Vec<Value>,
    /// How often the server has asked for the folders.
    pub asked_roots: usize,
}

/// The folder of the real language servers.
pub fn servers() -> String {
    tool("basedpyright-langserver");
    tool("ruff").parent().expect("a folder").display().to_string()
}

impl McpClient {
    /// Starts the server in a project.
    pub fn start(project: &Project, arguments: &[&str]) -> Self {
        Self::start_in(project, project.root(), arguments)
    }

    pub fn start_in(project: &Project, folder: &Path, arguments: &[&str]) -> Self {
        Self::start_binary(project, env!("CARGO_BIN_EXE_sextant"), folder, arguments)
    }

    /// The same with another build of the program.
    pub fn start_binary(project: &Project, program: &str, folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .arg("mcp")
            .args(arguments)
            .current_dir(folder)
            .env("XDG_CONFIG_HOME", project.beside("config"))
            .env("XDG_STATE_HOME", project.state_home())
            .env("XDG_RUNTIME_DIR", project.beside("runtime"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary");
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, stdin, lines, next: 0, roots: None, notes: Vec::new(), asked_roots: 0 }
    }

    /// A client of this name that has begun.
    pub async fn open(project: &Project, name: &str, arguments: &[&str]) -> Self {
        let mut client = Self::start(project, arguments);
        client.begin(name).await;
        client
    }

    /// The same with the real language servers, and patience for them.
    pub async fn with_servers(project: &Project, name: &str) -> Self {
        Self::open(project, name, &["--servers", &servers(), "--timeout-ms", "120000"]).await
    }

    pub async fn begin(&mut self, name: &str) -> Value {
        let capabilities = if self.roots.is_some() { json!({"roots": {"listChanged": true}}) } else { json!({}) };
        let about = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": name, "version": "1"}});
        let answer = self.request("initialize", about).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    /// Has these folders open from here on.
    pub fn set_roots(&mut self, roots: &[&Path]) {
        self.roots = Some(roots.iter().map(|root| (*root).to_owned()).collect());
    }

    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(bytes).await.expect("the server reads");
        stdin.flush().await.expect("the server reads");
    }

    /// The next message of the server; `None` when it has ended.
    pub async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("the server is silent");
        let line = line.expect("a pipe")?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// The next answer, and what came before it is dealt with.
    pub async fn answer(&mut self) -> Value {
        loop {
            let message = self.next().await.expect("the server has ended");
            if message["method"] == "roots/list" {
                self.asked_roots += 1;
                let roots = self.roots.iter().flatten();
                let roots: Vec<Value> =
                    roots.map(|root| json!({"uri": format!("file://{}", root.display())})).collect();
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}})).await;
            } else if message["method"].is_string() {
                self.notes.push(message);
            } else {
                return message;
            }
        }
    }

    /// Sends a request without waiting for its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// A call of a tool: its result.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// A call that works: its data, which has to agree with its text.
    pub async fn edit(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        let (data, text) = (result["structuredContent"].clone(), text(&result));
        for new in data["new_diagnostics"].as_array().expect("new_diagnostics") {
            let line = new["line"].to_string();
            assert!(text.contains(&line) && text.contains(new["severity"].as_str().expect("a word")), "{text}\n{data}");
        }
        data
    }

    /// A call that works: its text.
    pub async fn read(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        text(&result)
    }

    /// A call that is refused: its words.
    pub async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"]["ok"], false, "{result}");
        text(&result)
    }

    /// Closes the server's input and waits for its end.
    pub async fn end(mut self) -> ExitStatus {
        self.stdin = None;
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it does not end").expect("a status")
    }
}

/// The text of a result.
pub fn text(result: &Value) -> String {
    let parts = result["content"].as_array().expect("content").iter();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// All processes that a process has started, and theirs.
pub fn descendants(id: u32) -> Vec<u32> {
    let children = |id: u32| -> Vec<u32> {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
        let lists = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("children")));
        lists.flatten().flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect()
    };
    let mut found = children(id);
    let mut at = 0;
    while at < found.len() {
        let next = children(found[at]);
        found.extend(next);
        at += 1;
    }
    found
}

/// Waits until all of these processes have ended.
pub async fn gone(ids: &[u32]) {
    let ended = |id: &u32| {
        let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z")
    };
    let all = async {
        while !ids.iter().all(ended) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all).await.expect("a child is left");
}

/// Breaks the crate of [`Project::crates`](crate::support::project::Project::crates) that another one depends on, edits
/// that other one, and repairs the first. What nobody has compiled is not called clean.
#[allow(dead_code, reason = "not every suite uses it")]
pub async fn behind_a_broken_crate(client: &mut McpClient) {
    let edit = |path: &str, old: &str, new: &str| json!({"path": path, "old_string": old, "new_string": new});
    let (base, shop) = ("base/src/lib.rs", "shop/src/lib.rs");
    let moved = "let all = vec![1]; drop(all); drop(all); 1";
    let broken = client.edit("edit_file", edit(base, "    1", &format!("    {moved}"))).await;
    assert_eq!((&broken["new_diagnostics"][0]["code"], &broken["fixed"]), (&json!("E0382"), &json!(0)), "{broken}");
    let behind = client.edit("edit_file", edit(shop, "+ 1", &format!("+ {{ {moved} }}"))).await;
    assert_eq!((&behind["new_diagnostics"], &behind["fixed"]), (&json!([]), &json!(0)), "{behind}");
    assert_ne!(behind["diagnostics_status"], "complete", "{behind}");
    let repaired = client.edit("edit_file", edit(base, moved, "1")).await;
    assert_eq!(repaired["fixed"], 1, "{repaired}");
    assert_ne!(repaired["diagnostics_status"], "complete", "the other one is read for the first time: {repaired}");
    let last = client.edit("edit_file", edit(shop, "unused = 3", "unused = 4")).await;
    assert!(last["notes"].to_string().contains("E0382"), "{last}");
}
