//! What is told is seen: the end of a plan, another task's end beside it, and a page that is opened over it.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f() -> int:\n    return 1\n";

/// A plan of one step whose document is longer than a terminal of 24 lines shows.
fn long_plan() -> Reply {
    let step = json!({"title": "change f", "symbols": ["a.py::f"], "because": "asked", "expect": "changed"});
    Reply::Json(
        json!({"title": "One change", "reason": "so it was asked ".repeat(120), "steps": [step], "confidence": 1}),
    )
}

fn edit() -> Reply {
    step("edit_file", change("a.py", "return 1", "return 11"), false)
}

async fn with_a_plan(project: &Project, server: &ModelServer) -> Nvim {
    let mut nvim = Nvim::open_on_screen(project, &options(server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change it", "SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    nvim
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_plan_is_seen_above_a_document_that_is_longer_than_its_window() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([long_plan(), edit()]).await;
    let mut nvim = with_a_plan(&project, &server).await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    nvim.screen.shows("1 of 1 step done. changed a.py").await;
    assert!(!nvim.prompts().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_plan_is_said_to_a_reader_who_is_further_down() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([long_plan(), edit()]).await;
    let mut nvim = with_a_plan(&project, &server).await;
    nvim.keys("<Tab>Ga").await;
    nvim.finished().await;
    nvim.screen.shows("Sextant: 1 of 1 step done. changed a.py").await;
    assert!(!nvim.prompts().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_another_command_is_not_written_into_the_plan() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([long_plan()]).await;
    let mut nvim = with_a_plan(&project, &server).await;
    nvim.failed_task("AgentUndo").await;
    nvim.screen.shows("Sextant: there is nothing to undo").await;
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
    assert_eq!(lines[0], "# One change", "{lines:?}");
    nvim.command("wincmd p").await;
    server.push(Reply::Status(401, vec![], "{\"error\": {\"message\": \"no\"}}".into()));
    nvim.failed_task("AgentAsk say something").await;
    let all = "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false), '\\n')";
    let document: String = nvim.lua(all).await;
    assert!(!document.contains('✗'), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_asked_for_is_not_hidden_by_the_plan() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([long_plan()]).await;
    let nvim = with_a_plan(&project, &server).await;
    nvim.command_shows("AgentHistory", "# What was done and undone").await;
    nvim.screen.shows("Nothing was changed here yet").await;
    let here: String = nvim.lua("return vim.api.nvim_buf_get_name(0)").await;
    assert_eq!(here, "sextant://history");
    nvim.command_shows("AgentPlan", "Sextant plan · waiting for approval").await;
}
