//! How sure a diagnostic is does not depend on the door: what Neovim's list says, a shell's events say too.

use crate::cli::{outcome, sextant};
use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f() -> str:\n    return \"x\"\n";

/// Adds an unused import, a string that formats nothing, and a name that nobody defines.
fn edit() -> Reply {
    let new = "    import os\n\n    return f\"x\" + missing\n";
    step("edit_file", change("a.py", "    return \"x\"\n", new), false)
}

/// What is said in `f`, in an order of its own; how sure it is stands behind what is surer or less sure than most.
fn said(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut said: Vec<String> =
        lines.into_iter().filter_map(|line| Some(line.split_once("f: ")?.1.to_owned())).collect();
    said.sort();
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diagnostic_is_as_sure_in_neovim_as_in_a_shell() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([edit()]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright", "ruff"], "a.py").await;
    nvim.task("AgentAsk make it wrong").await;
    let there = said(nvim.quickfix().await);

    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([edit()]).await;
    let url = server.url();
    let arguments =
        ["ask", "make it wrong", "--file", "a.py", "--json", "--model", "openai_compatible:m", "--base-url", &url];
    let output = tokio::task::block_in_place(|| sextant(&project, &arguments));
    outcome(&output);
    let events = String::from_utf8_lossy(&output.stdout).into_owned();
    let here = events
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|event| event["type"] == "introduced")
        .flat_map(|event| event["entries"].as_array().cloned().unwrap_or_default())
        .filter_map(|entry| entry["text"].as_str().map(str::to_owned));
    let here = said(here);

    assert_eq!(there.len(), 3, "{there:#?}\n{events}");
    assert_eq!(there, here, "{events}");
    let sure = |code: &str| there.iter().any(|line| line.contains(code) && line.contains("confidence high"));
    assert!(sure("reportUndefinedVariable") && sure("F401"), "two say so: {there:#?}");
    assert!(!sure("F541"), "one says so: {there:#?}");
}
