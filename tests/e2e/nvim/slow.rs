//! The first plan of the README in a Neovim whose type checker has just been started and is slow.

use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::{slow_runs, slow_tools, tool};

/// The plan's page after `:AgentPlan`, asked for as soon as the file is open.
async fn planned(project: &Project, tools: &std::path::Path) -> String {
    let mut nvim = Nvim::start(project, "{}", &["ruff"]).await;
    let server = tools.join("basedpyright-langserver");
    nvim.command(&format!(
        "lua vim.lsp.config('basedpyright', {{ cmd = {{ '{}', '--stdio' }}, filetypes = {{ 'python' }}, \
         root_markers = {{ 'pyproject.toml' }} }}); vim.lsp.enable('basedpyright')",
        server.display()
    ))
    .await;
    nvim.edit("src/shop/report.py").await;
    nvim.command_until("AgentPlan make this file type-clean", "SextantPlan").await;
    nvim.lua::<Vec<String>>("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)")
        .await
        .join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_starts_and_answers_late_makes_the_same_plan() {
    let quick = Project::shop();
    let wanted = planned(&quick, tool("ruff").parent().expect("a folder")).await;
    assert!(wanted.contains("import json") && wanted.contains("reportUndefinedVariable"), "{wanted}");
    let runs = slow_runs();
    for run in 1..=runs {
        let project = Project::shop();
        assert_eq!(planned(&project, &slow_tools(&project)).await, wanted, "run {run}");
    }
    println!("the same plan {runs} of {runs}");
}
