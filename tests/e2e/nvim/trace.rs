//! `:AgentTrace`: what led to the steps of the last task.

use crate::nvim::ask::{BOTH, options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_names_what_was_seen_and_what_was_done() {
    let project = Project::new(&[("a.py", "def f() -> str:\n    return gone\n")]);
    let edit = change("a.py", "gone", "\"here\"");
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), BOTH, "a.py").await;
    nvim.task("AgentAsk mend it").await;
    nvim.command("AgentTrace").await;
    // It comes with the next turns of the editor's own loop.
    let shown = "return (vim.wait(60000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://trace' end, 10))";
    assert!(nvim.lua::<bool>(shown).await, "the window is entered");
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
    let text = lines.join("\n");
    assert!(text.starts_with("# Trace: mend it\n\n## Step 1\n"), "{text}");
    assert!(text.contains("basedpyright and ruff in a.py::f") && text.contains("shown once (duplicates)"), "{text}");
    assert!(text.contains("- **acted** edit_file a.py"), "{text}");
    nvim.command("normal q").await;
    assert!(nvim.lua::<bool>("return vim.fn.bufwinid('sextant://trace') == -1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_a_client_has_its_syntax_checked() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let edit = change("a.py", "return 1", "return (1");
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let keeps = options(&server).replace("{ timeout_ms", "{ new_errors = 'keep', timeout_ms");
    let mut nvim = Nvim::open(&project, &keeps, &[], "a.py").await;
    let summary = nvim.task("AgentAsk break it").await;
    assert!(summary.contains("1 new diagnostic so far") && summary.contains("all but the syntax (a.py)"), "{summary}");
}
