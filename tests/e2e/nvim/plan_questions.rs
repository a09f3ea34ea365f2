//! A question of a running plan in 80x24: all of it in sight, gone with its answer, and no key that blocks the work.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
/// Functions of the file, each the symbol of a step.
const STEPS: usize = 12;

fn text() -> String {
    let more: String = (0..STEPS).map(|n| format!("\n\ndef h{n}() -> int:\n    return {n}\n")).collect();
    format!("{TEXT}{more}")
}

/// A plan with a step for each function.
fn plan() -> Reply {
    let step = |n: usize| json!({"title": format!("change h{n}"), "symbols": [format!("a.py::h{n}")], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = (0..STEPS).map(step).collect();
    Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}))
}

fn replace(n: usize) -> Reply {
    let (old, new) = (format!("h{n}() -> int:\n    return {n}\n"), format!("h{n}() -> int:\n    return -{n}\n"));
    step("edit_file", json!({"path": "a.py", "old_string": old, "new_string": new}), false)
}

fn run(command: &[&str]) -> Reply {
    step("run_command", json!({"command": command}), true)
}

/// A plan of many steps, in whose window the focus is.
async fn planned(script: Vec<Reply>) -> (Project, ModelServer, Nvim) {
    planned_with(script, |options| options).await
}

/// The same with more options.
async fn planned_with(script: Vec<Reply>, with: impl Fn(String) -> String) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", &text())]);
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::on_screen(&project, &with(options(&server)), &["ruff"]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentPlan change all").await;
    nvim.wait("SextantPlan").await;
    nvim.screen.shows("change h1").await;
    (project, server, nvim)
}

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

/// Runs the first step up to its question, with the cursor on the last step and the focus in the code.
async fn asked(nvim: &mut Nvim, server: &ModelServer, go: &Notify) {
    nvim.keys("s").await;
    server.requests_seen(2).await;
    nvim.screen.shows("running step 1 of 12").await;
    nvim.keys("G").await;
    nvim.screen.shows("change h11").await;
    nvim.command("wincmd p").await;
    go.notify_one();
    nvim.wait("SextantQuestion").await;
}

fn held(reply: Reply) -> (Reply, Arc<Notify>) {
    let go = Arc::new(Notify::new());
    (Reply::Held(Box::new(reply), Arc::clone(&go)), go)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_in_sight_without_the_focus_and_gone_at_once_with_its_answer() {
    let (first, asks) = held(run(&["touch", "made"]));
    let (last, go) = held(replace(0));
    let (project, server, mut nvim) = planned(vec![plan(), first, last]).await;
    asked(&mut nvim, &server, &asks).await;
    for part in ["touch made", "1  run it once", "2  allow exactly this", "3  no", "paused: question"] {
        nvim.screen.shows(part).await;
    }
    assert!(holds(&nvim, "vim.fn.expand('%:t') == 'a.py'").await, "the focus stays in the code");
    nvim.command("wincmd p").await;
    nvim.keys("1").await;
    server.requests_seen(3).await;
    assert!(project.root().join("made").exists());
    for gone in ["run it once", "paused: question", "1 2 … answer"] {
        nvim.screen.hides(gone).await;
    }
    nvim.screen.shows("running step 1 of 12 · waiting for the model").await;
    nvim.screen.shows("[>] change h0").await;
    // A second press is no count: the edit of the model comes through.
    nvim.keys("1").await;
    assert!(!nvim.prompts().await, "Neovim waits for a key");
    go.notify_one();
    nvim.finished().await;
    assert!(project.read("a.py").contains("return -0"));
    assert!(holds(&nvim, "require('sextant').status().state == 'waiting'").await, "a plan waits after one step");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_to_be_written_leaves_room_for_the_whole_question() {
    let lines: String = (0..40).map(|n| format!("    note{n} = {n}\n    print(note{n})\n")).collect();
    let body = format!("def h0() -> int:\n{lines}    return 0\n");
    let edit = json!({"symbol": "a.py::h0", "action": "replace", "content": body});
    let (edit, asks) = held(step("edit_symbol", edit, false));
    let before = |options: String| options.replacen('{', "{ review = 'before', ", 1);
    let (project, server, mut nvim) = planned_with(vec![plan(), edit], before).await;
    asked(&mut nvim, &server, &asks).await;
    for part in ["more lines; :AgentShow has all of it", "1  ", "2  "] {
        nvim.screen.shows(part).await;
    }
    nvim.command("AgentAnswer 1").await;
    nvim.finished().await;
    nvim.screen.hides("more lines; :AgentShow").await;
    assert!(project.read("a.py").contains("note39 = 39"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_plan_shows_what_it_waits_for() {
    let (changed, go) = held(plan());
    let (_project, _server, mut nvim) = planned(vec![plan(), replace(0), changed]).await;
    nvim.keys("s").await;
    nvim.finished().await;
    nvim.command("AgentPlan change: h2 first").await;
    nvim.screen.shows("planning again · waiting for the model ").await;
    nvim.screen.shows("<C-c> stop").await;
    nvim.screen.hides("a go on").await;
    assert!(holds(&nvim, "require('sextant').status().state == 'running'").await);
    go.notify_one();
    nvim.wait("SextantPlan").await;
    nvim.screen.hides("planning again").await;
    assert!(holds(&nvim, "require('sextant').status().state == 'waiting'").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_paused_plan_is_whole_beside_the_list_of_its_errors() {
    let broken = change("a.py", "h0() -> int:\n    return 0\n", "h0() -> int:\n    return missing + absent\n");
    let supervised = |options: String| options.replacen('{', "{ mode = 'supervised', ", 1);
    let (_project, _server, mut nvim) = planned_with(vec![plan(), step("edit_file", broken, false)], supervised).await;
    nvim.keys("s").await;
    nvim.wait("SextantQuestion").await;
    nvim.finished().await;
    assert!(holds(&nvim, "require('sextant.ui.room').list_window() ~= nil").await, "{}", nvim.screen.text());
    let question: String = nvim.lua("return require('sextant').status().question").await;
    let words = question.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["1  go on", "2  do this", "3  take this step back", "4  leave it and pause", "What now?"] {
        nvim.screen.shows(part).await;
    }
    let shown = nvim.screen.text().replace(['│', '┃'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&words), "{words}\n{}", nvim.screen.text());
    nvim.keys("4").await;
    nvim.finished().await;
    nvim.screen.hides("What now?").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_open_again_after_a_change_of_the_plan_that_failed() {
    let broken = change("a.py", "h0() -> int:\n    return 0\n", "h0() -> int:\n    return missing\n");
    let supervised = |options: String| options.replacen('{', "{ mode = 'supervised', ", 1);
    let refused = Reply::Status(400, Vec::new(), "{\"error\": \"no\"}".to_owned());
    let script = vec![plan(), step("edit_file", broken, false), refused];
    let (_project, _server, mut nvim) = planned_with(script, supervised).await;
    nvim.keys("s").await;
    nvim.wait("SextantQuestion").await;
    nvim.finished().await;
    nvim.command("cclose | AgentPlan").await;
    nvim.command("AgentPlan change: h2 first").await;
    nvim.failed().await;
    nvim.wait("SextantQuestion").await;
    assert!(holds(&nvim, "require('sextant').status().state == 'question'").await);
    for part in ["1  go on", "4  leave it and pause", "paused: question", "answered HTTP"] {
        nvim.screen.shows(part).await;
    }
    nvim.keys("4").await;
    nvim.finished().await;
    nvim.screen.hides("paused: question").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_runs_is_not_changed_and_its_title_says_that_it_runs() {
    let (first, go) = held(replace(0));
    let (_project, server, mut nvim) = planned(vec![plan(), first]).await;
    nvim.keys("s").await;
    server.requests_seen(2).await;
    nvim.screen.shows("running step 1 of 12").await;
    let words = "the plan runs; stop it first (:AgentStop)";
    nvim.keys_show("c", words).await;
    assert!(holds(&nvim, "vim.fn.mode() == 'n'").await, "it asks for no words");
    nvim.command_shows("messages clear | AgentPlan change: drop step 2", words).await;
    nvim.screen.shows("running step 1 of 12 · waiting for the model").await;
    go.notify_one();
    nvim.finished().await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_an_answer_has_let_go_on_asks_for_no_words_and_is_named_in_a_refusal() {
    let broken = change("a.py", "h0() -> int:\n    return 0\n", "h0() -> int:\n    return missing\n");
    let supervised = |options: String| options.replacen('{', "{ mode = 'supervised', ", 1);
    let script = vec![plan(), step("edit_file", broken, false), Reply::Stall("{".into())];
    let (_project, server, mut nvim) = planned_with(script, supervised).await;
    nvim.keys("s").await;
    nvim.wait("SextantQuestion").await;
    nvim.finished().await;
    nvim.command("cclose | AgentPlan").await;
    nvim.screen.shows("paused: question").await;
    // The plan has its answer, and does not run yet.
    nvim.keys_show("1c", "the plan runs; stop it first (:AgentStop)").await;
    assert!(holds(&nvim, "vim.fn.mode() == 'n'").await, "it asks for no words");
    server.requests_seen(3).await;
    nvim.screen.shows("running step 2 of 12").await;
    let failure = nvim.failed_task("AgentUndo").await;
    assert!(failure["message"].as_str().unwrap().ends_with("“the plan: Changes”"), "{failure}");
    nvim.screen.shows(" → :AgentStop").await;
    nvim.failed_task("AgentStop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_change_that_was_stopped_are_offered_again() {
    let script = vec![plan(), Reply::Stall("{".into()), plan(), plan()];
    let (_project, server, mut nvim) = planned(script).await;
    let input = "_G.offered = {}
        vim.ui.input = function(how, done) table.insert(_G.offered, how.default) done('h2 first') end
        return true";
    nvim.lua::<bool>(input).await;
    nvim.keys("c").await;
    server.requests_seen(2).await;
    nvim.failed_task("AgentStop").await;
    for _ in 0..2 {
        nvim.keys("c").await;
        nvim.wait("SextantPlan").await;
        nvim.screen.shows("Sextant plan · waiting for approval").await;
    }
    assert_eq!(nvim.lua::<Vec<String>>("return _G.offered").await, ["", "h2 first", ""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_long_plan_is_in_sight_where_its_window_has_followed_the_run() {
    let script = std::iter::once(plan()).chain((0..STEPS).map(replace)).collect();
    let (_project, _server, mut nvim) = planned(script).await;
    nvim.keys("a").await;
    let summary = nvim.finished().await;
    assert!(summary.starts_with("12 of 12 steps done."), "{summary}");
    assert!(holds(&nvim, "vim.fn.expand('%:t') == 'plan' and vim.fn.line('w0') == 1").await, "{}", nvim.screen.text());
    nvim.screen.shows("│12 of 12 steps done. changed a.py").await;
}
