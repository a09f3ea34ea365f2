//! An edit in very many places at once: the text, the marks and the cursor, one undo step, few passes over the buffer.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

fn numbered(changed: bool) -> String {
    let line = |n| format!("line {n} of {}\n", if changed && n % 3 == 1 { "new" } else { "old" });
    (0..3000).map(line).collect()
}

/// Marks, cursor and view of the current buffer, and how often it was told to have changed.
const STATE: &str = r"
local function mark(name) return vim.api.nvim_buf_get_mark(0, name) end
return { passes = vim.g.passes, cursor = vim.api.nvim_win_get_cursor(0), top = vim.fn.line('w0'), a = mark('a'),
  b = mark('b'), c = mark('c') }";

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_hunks_are_few_and_move_no_mark_that_they_do_not_touch() {
    let text = numbered(false);
    // Every third line is changed, the first of all gets a line above it, and one is replaced by two.
    let wanted = format!("above\n{}", numbered(true)).replace("line 2000 of old\n", "a\nb\n");
    let project = Project::new(&[("a.txt", &text)]);
    let content = json!({"path": "a.txt", "content": wanted});
    let server = ModelServer::start([step("write_file", content, false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.txt").await;
    let _: bool = nvim
        .lua(
            "vim.api.nvim_win_set_cursor(0, { 1502, 3 })
            vim.cmd('normal! zt')
            vim.api.nvim_buf_set_mark(0, 'a', 303, 2, {})
            vim.api.nvim_buf_set_mark(0, 'b', 2, 1, {})
            vim.api.nvim_buf_set_mark(0, 'c', 2900, 4, {})
            vim.g.passes = 0
            vim.api.nvim_buf_attach(0, false, { on_lines = function() vim.g.passes = vim.g.passes + 1 end })
            return true",
        )
        .await;
    nvim.task("AgentAsk! change every third line").await;
    assert_eq!(nvim.text().await, wanted);
    assert_eq!(project.read("a.txt"), wanted);
    let out: Value = nvim.lua(STATE).await;
    assert!(out["passes"].as_u64().is_some_and(|passes| (1..=26).contains(&passes)), "{out}");
    assert_eq!((&out["cursor"], &out["top"]), (&json!([1503, 3]), &json!(1503)), "{out}");
    assert_eq!((&out["a"], &out["b"], &out["c"]), (&json!([304, 2]), &json!([3, 1]), &json!([2902, 4])), "{out}");
    nvim.command("undo").await;
    assert_eq!(nvim.text().await, text, "one step");
}

/// A file after an edit that changes its first line, where `then` runs between that and the write of the file.
async fn edited(then: &str) -> (Project, Nvim) {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let edit = change("a.txt", "one", "ONE");
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.txt").await;
    let _: bool = nvim
        .lua(&format!(
            "vim.api.nvim_buf_attach(0, false, {{ on_lines = function()
              vim.schedule(function() {then} end)
              return true
            end }})
            return true"
        ))
        .await;
    nvim.task("AgentAsk! change it").await;
    (project, nvim)
}

/// Says in `_G.unsaved` whether the file is told to have changes that are not written.
const HELD: &str =
    "require('sextant.edit.buffers').held({ paths = { vim.api.nvim_buf_get_name(0) } }, function(_, held)
  _G.modified, _G.unsaved = vim.bo.modified, held[1].unsaved
end)";

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_types_while_an_edit_is_made_is_no_part_of_it() {
    let (project, mut nvim) = edited("vim.api.nvim_buf_set_lines(0, -1, -1, true, { 'typed' })").await;
    assert_eq!((nvim.text().await.as_str(), project.read("a.txt").as_str()), ("ONE\ntwo\ntyped\n", "one\ntwo\n"));
    nvim.task("AgentUndo").await;
    assert_eq!(nvim.text().await, "one\ntwo\ntyped\n", "what was typed stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_types_before_an_edit_is_written_is_told_as_unsaved() {
    let (_project, nvim) = edited(&format!("vim.api.nvim_buf_set_lines(0, -1, -1, true, {{ 'typed' }}) {HELD}")).await;
    let unsaved: bool = nvim.lua("return _G.unsaved").await;
    assert!(unsaved, "it is on no disk, and nobody will write it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_an_edit_is_about_to_write_is_told_to_nobody_as_unsaved() {
    let (project, nvim) = edited(HELD).await;
    let told: Value = nvim.lua("return { _G.modified, _G.unsaved }").await;
    assert_eq!(told, json!([true, false]), "between the change and the write");
    assert_eq!(project.read("a.txt"), "ONE\ntwo\n");
    let typed = format!("vim.api.nvim_buf_set_lines(0, 0, 1, true, {{ 'mine' }}) {HELD} return _G.unsaved");
    let unsaved: bool = nvim.lua(&typed).await;
    assert!(unsaved, "what the user types is");
}

/// The binary and `lua/sextant/edit/marks.lua` agree on what a row that is not told of means.
#[tokio::test(flavor = "multi_thread")]
async fn a_mark_in_a_replaced_line_is_left_to_neovim() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\nfour\n")]);
    let nvim = Nvim::open(&project, "{}", &[], "a.txt").await;
    let out: Value = nvim
        .lua(
            "for name, row in pairs({ a = 1, b = 2, c = 3, d = 4 }) do
              vim.api.nvim_buf_set_mark(0, name, row, 1, {})
            end
            vim.api.nvim_win_set_cursor(0, { 4, 2 })
            local buf = vim.api.nvim_get_current_buf()
            local restore = require('sextant.edit.marks').hold(buf, { 0, 0, 0, 2, 2, 1, 3, 3, 2 })
            vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one', 'x', 'y', 'three', 'z', 'four' })
            restore()
            local out = { cursor = vim.api.nvim_win_get_cursor(0) }
            for _, name in ipairs({ 'a', 'b', 'c', 'd' }) do
              out[name] = vim.api.nvim_buf_get_mark(0, name)[1]
            end
            return out",
        )
        .await;
    assert_eq!((&out["a"], &out["c"], &out["d"]), (&json!(1), &json!(4), &json!(6)), "{out}");
    assert_ne!(out["b"], json!(3), "its line is gone: {out}");
    assert_eq!(out["cursor"], json!([6, 2]), "{out}");
}
