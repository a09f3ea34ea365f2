//! The modes of a plan: planning again in one, pausing with a question in the other, never a change of mode.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn plan(symbols: &[&str]) -> Reply {
    let steps: Vec<Value> = symbols
        .iter()
        .map(|symbol| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed"}))
        .collect();
    Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}))
}

fn replace(old: &str, new: &str) -> Reply {
    step("edit_file", change("a.py", old, new), false)
}

async fn document(nvim: &Nvim) -> String {
    let lines: Vec<String> =
        nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
    lines.join("\n")
}

async fn planned(server: &ModelServer, mode: &str) -> (Project, Nvim) {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut nvim = Nvim::open(&project, &options(server), &["basedpyright"], "a.py").await;
    nvim.command(&format!("AgentMode {mode}")).await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    (project, nvim)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_planner_plans_anew_when_a_step_breaks_something() {
    let server = ModelServer::start([
        plan(&["f", "g"]),
        replace("return 1", "return \"one\""),
        plan(&["f"]),
        replace("return \"one\"", "return 11"),
    ])
    .await;
    let (project, mut nvim) = planned(&server, "planner").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("replanned 1 time"), "{summary}\n{}", document(&nvim).await);
    let plan = document(&nvim).await;
    assert!(plan.contains("- [!] change f") && plan.contains("- [x] change f"), "{plan}");
    assert!(!plan.contains("change g"), "the new plan takes the place of what was open: {plan}");
    assert!(nvim.answer().await.contains("too far from what the plan expects"), "{}", nvim.answer().await);
    assert!(project.read("a.py").contains("return 11"));
    assert!(
        server.requests()[2].said_by("user").contains("too far from what the plan expects"),
        "the model is told why"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_supervised_plan_pauses_asks_once_and_takes_the_step_back() {
    let server = ModelServer::start([plan(&["f", "g"]), replace("return 1", "return \"one\"")]).await;
    let (project, mut nvim) = planned(&server, "supervised").await;
    let asked = nvim.wait("SextantQuestion").await;
    assert!(asked["text"].as_str().unwrap().contains("too far from what the plan expects"), "{asked}");
    assert_eq!(asked["options"].as_array().unwrap().len(), 4, "{asked}");
    nvim.wait("SextantFinished").await;
    let shown = document(&nvim).await;
    assert!(shown.contains("3  take this step back and pause"), "{shown}");
    nvim.keys("g3").await;
    nvim.finished().await;
    assert_eq!(project.read("a.py"), TEXT, "the step is taken back");
    assert!(document(&nvim).await.contains("- [ ] change f"), "{}", document(&nvim).await);
    // The mode is still the user's: the same step, done right, and the rest run alone.
    server.push(replace("return 1", "return 11"));
    server.push(replace("return 2", "return 22"));
    nvim.keys("a").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("2 of 2 steps done"), "{summary}");
    nvim.command("AgentAnswer 1").await;
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("no question is open"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_symbol_is_gone_sets_off_a_new_plan() {
    let server = ModelServer::start([
        plan(&["f", "g"]),
        step(
            "edit_symbol",
            json!({"symbol": "a.py::f", "action": "replace", "content": "def f() -> int:\n    return 10\n"}),
            false,
        ),
    ])
    .await;
    let project = Project::new(&[("a.py", TEXT)]);
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("s").await;
    nvim.finished().await;
    // The user renames g before the second step.
    nvim.lua::<bool>("local b = vim.fn.bufnr('a.py'); local t = vim.api.nvim_buf_get_lines(b, 0, -1, false); for i, l in ipairs(t) do t[i] = l:gsub('def g', 'def h') end vim.api.nvim_buf_set_lines(b, 0, -1, false, t) return true").await;
    server.push(plan(&["h"]));
    server.push(replace("return 2", "return 20"));
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("replanned 1 time"), "{summary}");
    assert!(nvim.answer().await.contains("a.py::g is not there"), "{}", nvim.answer().await);
}

/// A plan of two steps that waits with a question about its first one.
async fn paused() -> (Project, ModelServer, Nvim) {
    let server = ModelServer::start([plan(&["f", "g"]), replace("return 1", "return \"one\"")]).await;
    let (project, mut nvim) = planned(&server, "supervised").await;
    nvim.wait("SextantQuestion").await;
    nvim.wait("SextantFinished").await;
    let asks: bool = nvim.lua("return require('sextant').status().state == 'question'").await;
    assert!(asks, "{}", document(&nvim).await);
    (project, server, nvim)
}

/// No door shows a question any more, and a line gives the reason.
async fn is_closed(nvim: &mut Nvim, why: &str) {
    let closed = "return (vim.wait(30000, function() local now = require('sextant').status() \
                  return now.question == nil and now.options == nil and now.state ~= 'question' end, 10))";
    assert!(nvim.lua::<bool>(closed).await, "{}", document(nvim).await);
    assert!(!document(nvim).await.contains("take this step back"), "{}", document(nvim).await);
    assert!(nvim.answer().await.contains(&format!("the question is closed: {why}")), "{}", nvim.answer().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_plan_closes_when_its_text_is_edited() {
    let (_project, _server, mut nvim) = paused().await;
    nvim.keys("e").await;
    nvim.command("%s/- \\[ \\] change g/- [ ] change g with care/").await;
    nvim.command_until("write", "SextantPlan").await;
    is_closed(&mut nvim, "the plan was edited").await;
    let state: String = nvim.lua("return require('sextant').status().state").await;
    assert_eq!(state, "waiting");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_plan_closes_when_the_plan_goes_on_without_an_answer() {
    let (project, server, mut nvim) = paused().await;
    server.push(replace("return 2", "return 22"));
    nvim.keys("a").await;
    nvim.finished().await;
    is_closed(&mut nvim, "the plan goes on").await;
    assert!(project.read("a.py").contains("return 22"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_plan_closes_with_the_undo_of_its_step() {
    let (project, _server, mut nvim) = paused().await;
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("a.py"), TEXT);
    is_closed(&mut nvim, "the steps of its plan have changed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_plan_closes_when_the_plan_is_discarded() {
    let (_project, _server, mut nvim) = paused().await;
    nvim.command("AgentResume!").await;
    let listed = "return (vim.wait(30000, function() return vim.api.nvim_get_current_line():find('1. “', 1, true) == 1 \
                  or vim.fn.search('^1\\\\. “') > 0 end, 10))";
    assert!(nvim.lua::<bool>(listed).await);
    nvim.keys("x").await;
    assert!(nvim.finished().await.contains("discarded"));
    is_closed(&mut nvim, "the plan was discarded").await;
}
