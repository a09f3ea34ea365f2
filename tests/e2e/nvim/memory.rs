//! `:AgentStats` and `:AgentMemory`: windows of ours, and the undo that memory hears of.

use crate::nvim::ask::{options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

/// Waits for the window, reads and closes it.
pub async fn page(nvim: &Nvim, name: &str) -> String {
    let shown = format!(
        "return (vim.wait(60000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://{name}' end, 10))"
    );
    assert!(nvim.lua::<bool>(&shown).await, "the window of {name} is entered");
    let text = nvim.text().await;
    nvim.command("normal q").await;
    assert!(nvim.lua::<bool>(&format!("return vim.fn.bufwinid('sextant://{name}') == -1")).await);
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_and_undone_is_shown_with_its_figures() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let edit = change("a.py", "return 1", "return 2");
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let with = options(&server).replacen('{', "{ preferences = { style = 'short' }, ", 1);
    let mut nvim = Nvim::open(&project, &with, &[], "a.py").await;
    nvim.command("AgentStats").await;
    let before = page(&nvim, "statistics").await;
    assert!(before.contains("| success ") && !before.contains("not me"), "{before}");
    nvim.task("AgentAsk raise the number").await;
    nvim.task("AgentUndo because nobody asked for it").await;
    nvim.command("AgentStats").await;
    let after = page(&nvim, "statistics").await;
    assert!(after.contains("| success              |        0 % |"), "{after}");
    nvim.command("AgentHistory").await;
    let history = page(&nvim, "history").await;
    assert!(history.contains("- “raise the number” (undone)") && history.contains("← redo: all of it"), "{history}");
    nvim.command("AgentMemory").await;
    let kept = page(&nvim, "memory").await;
    assert!(kept.contains("- style: short"), "{kept}");
    assert!(kept.contains("[user_feedback] The user undid “raise the number”: nobody asked for it."), "{kept}");
    assert!(
        kept.contains("for raise number: “edit_file” good 0 of 1 time: undone by the user: nobody asked for it"),
        "{kept}"
    );
    assert!(kept.contains("- worked on most: a.py"), "{kept}");
}
