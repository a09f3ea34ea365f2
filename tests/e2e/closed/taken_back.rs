//! An undo and a redo are answered like an edit: with what comes back in files that nobody has open.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::outcome;
use crate::mcp::replace;
use crate::support::mcp::{McpClient, servers};
use crate::support::project::Project;

/// A command of the shell that finds the real language servers.
fn sextant(project: &Project, arguments: &[&str]) -> Value {
    let config = project.beside("config").join("sextant");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("config.toml"), "[diagnostics]\ntimeout_ms = 60000\n").expect("a file");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(arguments)
        .arg("--json")
        .current_dir(project.root())
        .env("PATH", format!("{}:{path}", Path::new(&servers()).display()))
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .output()
        .expect("the binary");
    outcome(&output)["outcome"].clone()
}

fn new(undone: &Value) -> Vec<&str> {
    let new = undone["new_diagnostics"].as_array().unwrap_or_else(|| panic!("{undone}"));
    new.iter().filter_map(Value::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_names_the_errors_that_come_back_in_closed_files_and_a_redo_none() {
    let project = Project::new(&[
        ("items.py", "def other() -> int:\n    return 1\n"),
        ("user.py", "from items import make\n\nprint(make())\n"),
        ("importer.py", "import made\n\nprint(made)\n"),
    ]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let made = "def make() -> int:\n    return 2\n\n\ndef other() -> int:";
    client.edit("edit_file", replace("items.py", "def other() -> int:", made)).await;
    client.edit("write_file", json!({"path": "made.py", "content": "x = 1\n"})).await;
    assert!(client.end().await.success());
    let undone = sextant(&project, &["undo"]);
    let found = new(&undone);
    assert_eq!((found.len(), &undone["diagnostics_status"]), (2, &json!("complete")), "{undone}");
    let importer = found.iter().any(|line| line.contains("importer.py:1"));
    assert!(importer && found.iter().any(|line| line.contains("user.py:1")), "{undone}");
    let summary = undone["summary"].as_str().unwrap_or_default();
    assert!(summary.contains("2 new diagnostics") && summary.contains("user.py:1"), "{undone}");
    let redone = sextant(&project, &["redo"]);
    assert_eq!((new(&redone).len(), &redone["diagnostics_status"]), (0, &json!("complete")), "{redone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_calls_unknown_the_files_in_its_reach_that_it_has_not_looked_at() {
    let project = Project::new(&[
        ("items.py", "def other() -> int:\n    return 1\n"),
        (".gitignore", "made/\n"),
        ("made/user.py", "from items import make\n\nprint(make())\n"),
    ]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let made = "def make() -> int:\n    return 2\n\n\ndef other() -> int:";
    client.edit("edit_file", replace("items.py", "def other() -> int:", made)).await;
    assert!(client.end().await.success());
    let undone = sextant(&project, &["undo"]);
    let summary = undone["summary"].as_str().unwrap_or_default();
    assert_eq!(undone["diagnostics_status"], "partial", "{undone}");
    assert!(summary.contains("not known") && summary.contains("made/user.py"), "{undone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_does_not_wait_long_for_a_server_that_starts() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    client.edit("edit_file", replace("a.py", "x = 1", "x = 2")).await;
    assert!(client.end().await.success());
    let config = project.beside("slow").join("sextant");
    std::fs::create_dir_all(&config).expect("a folder");
    // One that works is not taken for a dead one.
    let slow = "[diagnostics]\ntimeout_ms = 500\nstart_timeout_ms = 600000\n\n[[servers]]\nname = \"slow\"\n\
        command = [\"sh\", \"-c\", \"while :; do :; done\"]\nlanguages = [\"python\"]\n";
    std::fs::write(config.join("config.toml"), slow).expect("a file");
    let mut undo = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"));
    undo.args(["undo", "--json"]).current_dir(project.root()).env("XDG_CONFIG_HOME", project.beside("slow"));
    undo.env("XDG_STATE_HOME", project.state_home()).kill_on_drop(true);
    let output =
        tokio::time::timeout(Duration::from_secs(120), undo.output()).await.expect("an end").expect("the binary");
    let undone = outcome(&output)["outcome"].clone();
    assert_eq!((project.read("a.py").as_str(), &undone["ok"]), ("x = 1\n", &json!(true)), "{undone}");
    assert!(undone["summary"].as_str().is_some_and(|summary| summary.contains("not known")), "{undone}");
}
