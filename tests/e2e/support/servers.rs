//! Language servers for the tests: the real ones, found or named as missing, and the scripted fake.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::{DiagnosticsProvider, FileText, Report};
use sextant::diagnostics::server::LanguageServer;
use sextant::diagnostics::server::detect_servers;
use sextant::diagnostics::server::server_config::ServerConfig;

use crate::support::project::Project;

/// Generous: real servers start cold on a busy machine.
pub const PATIENCE_MS: u64 = 120_000;

/// The folders that tools are looked for in.
fn folders() -> Vec<PathBuf> {
    let own = std::env::var_os("SEXTANT_TOOLS").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    own.into_iter().chain(std::env::split_paths(&path)).collect()
}

/// The tool's path; fails with its name where it is not installed.
pub fn tool(name: &str) -> PathBuf {
    let found = folders().into_iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{name} is needed: set SEXTANT_TOOLS to the folder that has it, or put it on PATH"))
}

/// The folder of the servers of each language; fails with the name of the one that is missing there.
pub fn language_tools(name: &str) -> PathBuf {
    let beside = |tools: PathBuf| tools.join("../../languages/bin");
    let folder = std::env::var_os("SEXTANT_TOOLS").map(PathBuf::from).map(beside).unwrap_or_default();
    assert!(folder.join(name).is_file(), "{name} is needed: run make tools, and set SEXTANT_TOOLS to .tools/venv/bin");
    folder
}

/// Lua that names the Rust toolchain's folders, which a Neovim with another home does not find.
#[allow(dead_code, reason = "not every suite uses it")]
pub fn rust_toolchain() -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let folder = |name: &str, usual: &str| std::env::var_os(name).map_or_else(|| home.join(usual), PathBuf::from);
    let (cargo, rustup) = (folder("CARGO_HOME", ".cargo"), folder("RUSTUP_HOME", ".rustup"));
    format!("vim.env.CARGO_HOME, vim.env.RUSTUP_HOME = {cargo:?}, {rustup:?} return true")
}

/// basedpyright and ruff as they are detected.
pub fn python_servers(root: &Path) -> Vec<ServerConfig> {
    tool("basedpyright-langserver");
    tool("ruff");
    let mut found = detect_servers::detect(root, &folders(), None);
    found.retain(|server| server.languages == ["python"]);
    let names: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["basedpyright", "ruff"]);
    found
}

/// Seconds that a slow server is late by.
const DELAY: u32 = 8;

/// A folder with ruff as it is, and a basedpyright that starts 8 seconds late and answers about fixes as late.
pub fn slow_tools(project: &Project) -> PathBuf {
    let folder = project.beside("slow");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/slow_server.py");
    let (python, server) = (tool("python3"), tool("basedpyright-langserver"));
    let wrapper = folder.join("basedpyright-langserver");
    let text = format!(
        "#!/bin/sh\nexec '{}' '{}' {DELAY} '{}' \"$@\"\n",
        python.display(),
        script.display(),
        server.display()
    );
    std::fs::write(&wrapper, text).expect("a wrapper");
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).expect("a program");
    symlink(tool("ruff"), folder.join("ruff")).expect("a link");
    folder
}

/// How often a plan is made with the slow server: `SEXTANT_SLOW_RUNS`, or once.
pub fn slow_runs() -> u32 {
    std::env::var("SEXTANT_SLOW_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1)
}

pub const OPEN: &str = "textDocument/didOpen";
pub const CHANGE: &str = "textDocument/didChange";
pub const CLOSE: &str = "textDocument/didClose";
pub const SAVE: &str = "textDocument/didSave";
pub const PULL: &str = "textDocument/diagnostic";

/// A step of a script: a list for the text, of this version.
pub fn push(version: &str) -> Value {
    json!({"publish": {"version": version, "items": "scan"}})
}

/// The capabilities of a server that answers pulls.
pub fn pulling() -> Value {
    json!({"diagnosticProvider": {"interFileDependencies": true, "workspaceDiagnostics": false}})
}

/// A step of a script: rust-analyzer's word on whether it has loaded.
pub fn loaded(yes: bool) -> Value {
    json!({"notify": ["experimental/serverStatus", {"health": "ok", "quiescent": yes}]})
}

/// A step of a script: a message about the run of rust-analyzer's compiler.
pub fn compiler_run(kind: &str) -> Value {
    json!({"notify": ["$/progress", {"token": "rust-analyzer/flycheck/0", "value": {"kind": kind, "title": "t"}}]})
}

/// The fake server, with its script in this folder.
pub fn fake_config(folder: &Path, script: &Value) -> ServerConfig {
    let file = folder.join("script.json");
    std::fs::write(&file, script.to_string()).expect("a script");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let command = [tool("python3"), program, file].map(|part| part.display().to_string()).to_vec();
    let settings = serde_json::json!({"fake": {"level": 3}});
    ServerConfig { name: "fake".into(), command, settings, publishes_once: true, ..ServerConfig::default() }
}

/// The fake server with a script, over a folder of its own.
pub struct Fake {
    pub folder: tempfile::TempDir,
    pub server: LanguageServer,
}

impl Fake {
    pub fn new(script: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = LanguageServer::new(fake_config(folder.path(), script), folder.path());
        Self { folder, server }
    }

    /// Asks about one file, `a.py`.
    pub async fn ask(&self, text: &str, budget_ms: u64) -> Report {
        let mut reports = self.server.fetch(&[a(text)], Deadline::after_ms(budget_ms)).await;
        assert_eq!(reports.len(), 1);
        reports.remove(0)
    }

    /// Lets the script go on where it waits for the name.
    pub fn go(&self, name: &str) {
        std::fs::write(self.folder.path().join(name), "").expect("a signal");
    }

    /// Waits for late answers.
    pub async fn late(&self) -> Vec<Report> {
        let mut news = self.server.news();
        let arrival = async {
            loop {
                let late = self.server.late();
                if !late.is_empty() {
                    return late;
                }
                news.changed().await.expect("the server is there");
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), arrival).await.expect("a late answer")
    }

    /// Ends the server and reads what it received.
    pub async fn log(&self) -> Vec<Value> {
        self.server.shutdown(Deadline::after_ms(5_000)).await;
        let text = std::fs::read_to_string(self.folder.path().join("log")).expect("the script has a log");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

pub fn a(text: &str) -> FileText {
    FileText { path: "a.py".into(), text: text.into() }
}

/// The zero-based lines of the diagnostics.
pub fn lines(report: &Report) -> Vec<u32> {
    report.diagnostics.iter().map(|item| item.location.range().expect("a range").start.line).collect()
}

/// The process of the fake server that was started last.
pub fn fake_process(project: &Project) -> rustix::process::Pid {
    let runs = std::fs::read_to_string(project.beside("fake").join("runs")).expect("it has run");
    let pid = runs.lines().last().and_then(|pid| pid.parse().ok()).expect("a process");
    rustix::process::Pid::from_raw(pid).expect("a process")
}
