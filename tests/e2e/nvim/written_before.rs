//! Files that another program has written between the start of a language server and the first command of Sextant.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::nvim::gone::{attached, publishing};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const A: &str =
    "from b import g\n\nx: int = \"\"\n\n\ndef f() -> int:\n    return g()\n\n\ndef h() -> int:\n    return 1\n";
const B: &str = "def g() -> int:\n    return 1\n";

/// Waits until Neovim shows this many diagnostics of the file in the window.
async fn shown(nvim: &Nvim, count: usize) {
    let has = format!("return (vim.wait(60000, function() return #vim.diagnostic.get(0) == {count} end, 5))");
    assert!(nvim.lua::<bool>(&has).await, "{}", nvim.lua::<usize>("return #vim.diagnostic.get(0)").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_judged_by_what_another_program_wrote_before_the_first_command() {
    let project = Project::new(&[("a.py", A), ("b.py", B)]);
    let server = ModelServer::start([step("edit_file", change("a.py", "return 1", "return g()"), false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    shown(&nvim, 1).await;
    project.write("b.py", "def g() -> str:\n    return \"\"\n");
    let summary = nvim.task("AgentAsk! change h").await;
    assert!(summary.contains("1 new diagnostic"), "{summary}\n{}", nvim.answer().await);
    // Each once: those of x, f and h.
    shown(&nvim, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_notified_of_what_was_written_after_its_start_and_of_nothing_else() {
    let project = Project::new(&[("a.py", A), ("b.py", B), ("c.py", B)]);
    let server = ModelServer::start([step("edit_file", change("a.py", "return 1", "return 2"), false)]).await;
    let mut script = publishing(&json!("scan"));
    script["log"] = json!("log");
    let mut nvim = attached(&project, &server, &script, "commands = {}").await;
    // The user's own text, which the client has.
    nvim.command("call append(line('$'), '# mine') | write").await;
    project.write("b.py", "def g() -> str:\n    return \"\"\n");
    nvim.task("AgentAsk! change h").await;
    let log = std::fs::read_to_string(project.beside("fake").join("log")).expect("a log");
    let sent = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let watched = sent.filter(|message| message["method"] == "workspace/didChangeWatchedFiles");
    let changes: Vec<Value> = watched.map(|message| message["params"]["changes"].clone()).collect();
    assert!(changes.len() == 1 && changes[0].as_array().is_some_and(|list| list.len() == 1), "{changes:?}");
    assert!(changes[0][0]["uri"].as_str().is_some_and(|uri| uri.ends_with("/b.py")), "{changes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_notified_of_settings_and_what_they_bring_is_not_the_edits() {
    let text = "def f(x: int) -> int:\n    return x\n\n\ndef g(y):\n    return y\n";
    let edits = [
        change("a.py", "return x", "return x + 1"),
        change("a.py", "return x + 1", "return x\n\n\ndef q(z):\n    return z"),
    ];
    let [first, second] = edits.map(|given| step("edit_file", given, false));
    let project = Project::new(&[("pyrightconfig.json", "{\"typeCheckingMode\": \"basic\"}\n"), ("a.py", text)]);
    let server = ModelServer::start([first, second]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    let summary = nvim.task("AgentAsk! change f").await;
    assert!(summary.contains("0 new"), "{summary}\n{}", nvim.answer().await);
    project.write("pyrightconfig.json", "{\"typeCheckingMode\": \"strict\"}\n");
    nvim.task("AgentAsk! change f").await;
    let (answer, shown) = (nvim.answer().await, nvim.quickfix().await);
    let has = |name: &str| shown.iter().any(|line| line.contains(&format!("\"{name}\"")));
    assert!(has("z") && !has("y"), "{shown:?}\n{answer}");
}
