//! `D` in a diff of `:AgentDiff`: where Neovim's diff mode opens, and what it compares.

use crate::nvim::ask::options;
use crate::nvim::review::{TEXT, closed, counts, edit, reads};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;

#[tokio::test(flavor = "multi_thread")]
async fn the_diff_mode_opens_after_a_review_that_rejected_a_change() {
    let project = Project::new(&[("a.py", TEXT)]);
    // One change grows the text: its rejection moves the one below.
    let script = [edit("return 1", "x = 1\n    return x", true), edit("return 2", "return 22", false)];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("AgentReview").await;
    counts(&nvim, 0, 2).await;
    nvim.command("AgentReview reject hunk").await;
    counts(&nvim, 1, 2).await;
    nvim.command("AgentReview accept all").await;
    closed(&nvim).await;
    let reviewed = TEXT.replace("return 2", "return 22");
    reads(&nvim, &reviewed).await;
    nvim.command_shows("AgentDiff", "+++ b/a.py").await;
    nvim.keys("GD").await;
    let both = "return (vim.wait(60000, function() return vim.wo.diff end, 10))";
    assert!(nvim.lua::<bool>(both).await, "{}", nvim.screen.text());
    let sides: Vec<String> = nvim
        .lua(
            "return vim.tbl_map(function(win)
                local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
                return table.concat(lines, '\\n') .. '\\n'
            end, vim.api.nvim_tabpage_list_wins(0))",
        )
        .await;
    assert_eq!(sides, [TEXT.to_owned(), reviewed]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_diff_mode_opens_at_the_change_under_the_cursor_or_the_first_one() {
    let filler = |name: &str| format!("def {name}() -> int:\n{}    return 0\n", "    print()\n".repeat(30));
    let text = format!("{}\n\n{TEXT}\n\n{}", filler("before"), filler("behind"));
    let project = Project::new(&[("a.py", &text)]);
    let script = [
        edit("return 1", "return 11", true),
        edit("    print()\n    return 0\n\n\ndef f", "    return 0\n\n\ndef f", false),
    ];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change f and before").await;
    nvim.command("normal! G").await;
    let line = |words: &str| project.read("a.py").lines().position(|line| line.contains(words)).map(|at| at + 1);
    // The first change is the line that is gone, above the last one of its function.
    nvim.command_shows("AgentDiff", "+++ b/a.py").await;
    for (key, at) in [("gg", line("    return 0")), ("/+    return 11<CR>", line("return 11"))] {
        nvim.keys(&format!("{key}D")).await;
        let there = format!(
            "return (vim.wait(60000, function() return vim.wo.diff and vim.fn.line('.') == {} end, 10))",
            at.expect("a line")
        );
        assert!(nvim.lua::<bool>(&there).await, "{at:?}: {}", nvim.screen.text());
        let in_sight = "return vim.fn.foldclosed('.') == -1 and vim.fn.line('.') >= vim.fn.line('w0')";
        assert!(nvim.lua::<bool>(in_sight).await, "{}", nvim.screen.text());
        nvim.keys("q").await;
        let tabs = "return (vim.wait(60000, function() return #vim.api.nvim_list_tabpages() == 1 end, 10))";
        assert!(nvim.lua::<bool>(tabs).await, "{}", nvim.screen.text());
    }
}
