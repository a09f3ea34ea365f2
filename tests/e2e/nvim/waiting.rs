//! Several plans wait in Neovim: they are listed, and each is resumed or discarded from the list.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

fn plan(title: &str) -> Reply {
    let one = json!({"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"});
    Reply::Json(json!({"title": title, "reason": "asked", "steps": [one], "confidence": 1}))
}

async fn text_of(nvim: &Nvim, buffer: &str) -> String {
    let lines = format!("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://{buffer}'), 0, -1, false)");
    nvim.lua::<Vec<String>>(&lines).await.join("\n")
}

/// Waits until a window of Sextant's holds a text.
async fn holds(nvim: &Nvim, buffer: &str, text: &str) {
    let lua = format!(
        "return (vim.wait(30000, function() local buf = vim.fn.bufnr('sextant://{buffer}') return buf > 0 and \
         table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n'):find({text:?}, 1, true) ~= nil end, 10))"
    );
    assert!(nvim.lua::<bool>(&lua).await, "{}", text_of(nvim, buffer).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_what_waits_resumes_and_discards() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let edit = step("edit_file", change("a.py", "return 1", "return 2"), false);
    let server = ModelServer::start([plan("First"), plan("Second"), plan("Third"), edit]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["ruff"], "a.py").await;
    for request in ["one", "two", "three"] {
        nvim.command_until(&format!("AgentPlan change f, number {request}"), "SextantPlan").await;
    }
    let waiting = |count: usize| {
        format!("return (vim.wait(30000, function() return require('sextant').status().waiting == {count} end, 10))")
    };
    assert!(nvim.lua::<bool>(&waiting(3)).await, "the status counts them");
    nvim.keys("q").await;
    for (typed, offered) in [
        ("AgentResume ", &["1 Third in a.py", "2 Second in a.py", "3 First in a.py"][..]),
        ("AgentResume 2", &["2 Second in a.py"]),
        ("Agent resume thi", &["1 Third in a.py"]),
        ("AgentResume 1 Th", &[]),
    ] {
        let found: Vec<String> = nvim.lua(&format!("return vim.fn.getcompletion('{typed}', 'cmdline')")).await;
        assert_eq!(found, offered, "{typed}");
    }
    nvim.command("AgentResume!").await;
    holds(&nvim, "waiting", "3. “First in a.py”: waiting for approval, 0 of 1 step done, just now").await;
    nvim.keys("/Second<CR>x").await;
    assert!(nvim.finished().await.contains("discarded “Second in a.py”"));
    assert!(nvim.lua::<bool>(&waiting(2)).await, "one fewer");
    holds(&nvim, "waiting", "2. “First in a.py”").await;
    assert!(!text_of(&nvim, "waiting").await.contains("Second"), "it is discarded");
    nvim.keys("/First<CR><CR>").await;
    nvim.wait("SextantPlan").await;
    let shown = text_of(&nvim, "plan").await;
    assert!(shown.starts_with("# First"), "{shown}");
    let summary = nvim.finished().await;
    assert!(summary.starts_with("the plan waits for approval, 0 of 1 step done"), "{summary}");
    nvim.keys("<CR>").await;
    nvim.finished().await;
    assert!(project.read("a.py").contains("return 2"));
    let offered: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentResume third', 'cmdline')").await;
    assert_eq!(offered, ["1 Third in a.py"]);
    nvim.command_until(&format!("AgentResume {}", offered[0]), "SextantPlan").await;
    let shown = text_of(&nvim, "plan").await;
    assert!(shown.starts_with("# Third"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_plan_is_refused_with_a_reason_and_nothing_waits() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let empty = |reason: &str| Reply::Json(json!({"title": "", "reason": reason, "steps": [], "confidence": 0.9}));
    let server = ModelServer::start([empty(""), empty(""), empty(""), empty("f is as it should be")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentPlan tidy f").await;
    let failure = nvim.failed().await;
    assert!(failure["message"].as_str().unwrap().contains("it has no step, and no reason for that"), "{failure}");
    let is_idle = "return (vim.wait(30000, function() return require('sextant').status().state == 'idle' end, 10))";
    assert!(nvim.lua::<bool>(is_idle).await, "nothing waits");
    // A reason is an answer: it is shown, and still nothing waits.
    nvim.command("AgentPlan tidy f once more").await;
    nvim.wait("SextantPlan").await;
    nvim.screen.shows("Sextant: f is as it should be").await;
    assert!(nvim.lua::<bool>(is_idle).await, "nothing waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_names_the_workspace_of_a_plan_and_goes_once_one_is_chosen() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server = ModelServer::start([plan("First"), plan("Second")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change f", "SextantPlan").await;
    nvim.command_until("AgentPlan! change all", "SextantPlan").await;
    nvim.keys("q").await;
    for session in ["own", "another"] {
        nvim.command("AgentResume!").await;
        holds(&nvim, "waiting", "1. “Second in the workspace”").await;
        holds(&nvim, "waiting", "2. “First in a.py”").await;
        if session == "own" {
            drop(nvim);
            nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
        }
    }
    nvim.keys("/First<CR><CR>").await;
    nvim.wait("SextantPlan").await;
    nvim.screen.shows("# First").await;
    let is_gone = "return (vim.wait(30000, function() return vim.fn.bufwinid('sextant://waiting') == -1 end, 10))";
    assert!(nvim.lua::<bool>(is_gone).await, "{}", nvim.screen.text());
}
