//! The engine asks the language server that the editor runs, through a real proxy before it.

use std::process::Command;

use serde_json::json;

use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::fake_config;

/// `sextant lsp` before a server, which starts the engine as it does for an editor. Nothing of it is looked for outside
/// of the project's own folders.
pub fn proxy(project: &Project, options: &[&str], server: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.arg("lsp").args(options);
    if !server.is_empty() {
        command.arg("--").args(server);
    }
    command
        .env("HOME", project.beside("home"))
        .env_remove("XDG_CONFIG_HOME")
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"));
    command
}

/// Once the engine has taken the proxy.
pub fn served(helix: &HelixClient) {
    helix.wait("the engine", |seen| {
        let said = |message: &serde_json::Value| {
            message["method"] == "window/logMessage"
                && message["params"]["message"].as_str().is_some_and(|text| text.contains(" serves "))
        };
        seen.messages.iter().any(said).then_some(())
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_asks_the_editors_own_server_of_an_edit_and_of_a_look() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let scan = json!([{"publish": {"items": "scan"}}]);
    let script = json!({
        "capabilities": {"textDocumentSync": {"openClose": true, "change": 1}},
        "on": {"textDocument/didOpen": scan, "textDocument/didChange": scan},
    });
    let server = fake_config(&project.beside("fake"), &script).command;
    let helix = HelixClient::start(HelixVersion::Release, &mut proxy(&project, &[], &server), project.root());
    let uri = helix.open("a.py", "python");
    served(&helix);
    let mut client = McpClient::open(&project, "probe", &[]).await;
    let edit = json!({"path": "a.py", "old_string": "x = 1", "new_string": "bad = 1"});
    let answer = client.call("edit_file", edit).await;
    assert_eq!(answer["structuredContent"]["ok"], true, "{answer}");
    assert!(answer.to_string().contains("this is bad"), "the server behind the proxy has seen it: {answer}");
    assert_eq!(helix.text(&uri), "bad = 1\n");
    assert_eq!(project.read("a.py"), "x = 1\n", "what is open is never written");
    helix.diagnostics(&uri, |shown| shown.iter().any(|one| one["message"] == "this is bad"));
    helix.command("agent.diagnostics", json!([]));
    let page = helix.wait("the page", |seen| seen.shown.last().cloned());
    helix.wait("what the server says", |seen| {
        seen.buffers[&page].text.contains("lsp:python3: 1 diagnostic\n").then_some(())
    });
    assert!(helix.text(&page).contains("a.py:1: error: this is bad [bad]"), "{}", helix.text(&page));
}
