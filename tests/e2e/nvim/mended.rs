//! A repair that is done and verified ends there: the model is not asked once more, unless more was asked of it.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const BROKEN: &str = "def total(prices: list[int]) -> int:\n    return str(sum(prices))\n";

fn replace(old: &str, new: &str) -> Reply {
    step("edit_file", change("prices.py", old, new), true)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repair_ends_with_the_last_diagnostic_and_a_wish_beside_it_is_still_asked_for() {
    let project = Project::new(&[("prices.py", BROKEN)]);
    let right = || replace("str(sum(prices))", "sum(prices)");
    let done = json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "done"});
    let server = ModelServer::start([
        replace("str(sum(prices))", "str(prices)"),
        replace("str(prices)", "sum(prices)"),
        right(),
        Reply::Json(done),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "prices.py").await;
    let summary = nvim.task("AgentAsk fix the type error in total").await;
    assert!(summary.contains("0 new diagnostics, 1 fixed"), "{summary}");
    assert_eq!(server.requests().len(), 2, "the first edit mends nothing, after the second nothing is left");
    nvim.command("AgentTrace").await;
    let shown = "return (vim.wait(60000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://trace' end, 10))";
    assert!(nvim.lua::<bool>(shown).await, "the window is entered");
    let trace = nvim.text().await;
    assert!(trace.contains("repaired") && trace.contains("the model is not asked again"), "{trace}");
    nvim.command("close").await;
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("prices.py"), BROKEN);
    nvim.task("AgentAsk fix the type error in total and handle an empty list").await;
    assert_eq!(server.requests().len(), 4, "it may have more to do");
}
