//! An edit in very many places at once: the text, the marks and the cursor, one undo step, few passes over the buffer.

use serde_json::{Value, json};

use crate::support::nvim::Nvim;
use crate::support::project::Project;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_hunks_are_few_and_move_no_mark_that_they_do_not_touch() {
    let text: String = (0..3000).map(|n| format!("line {n} of old\n")).collect();
    let project = Project::new(&[("a.txt", &text)]);
    let nvim = Nvim::start(&project, "{}", &[]).await;
    nvim.edit("a.txt").await;
    // Every third line is changed, and the first of all gets a line above it.
    let mut hunks: Vec<Value> = vec![json!([0, 0, 0, 0, ["above", ""]])];
    for row in (1..3000).step_by(3) {
        let end = format!("line {row} of old").len();
        hunks.push(json!([row, end - 3, row, end, ["new"]]));
    }
    let wanted: String =
        (0..3000).map(|n| format!("line {n} of {}\n", if n % 3 == 1 { "new" } else { "old" })).collect();
    let code = format!(
        "vim.api.nvim_win_set_cursor(0, {{ 1502, 3 }})
        vim.api.nvim_buf_set_mark(0, 'a', 303, 2, {{}})
        vim.api.nvim_buf_set_mark(0, 'b', 2, 1, {{}})
        local passes = 0
        vim.api.nvim_buf_attach(0, false, {{ on_lines = function() passes = passes + 1 end }})
        local hunks = vim.json.decode([==[{}]==])
        local path = vim.api.nvim_buf_get_name(0)
        local result, failure
        local edit = {{ op = 'change', path = path, version = vim.b.changedtick, hunks = hunks, newline = true }}
        require('sextant.apply').apply({{ edits = {{ edit }}, save = 'if_clean' }}, function(err, done)
          result, failure = done, err
        end)
        vim.wait(10000, function() return result or failure end, 5)
        local function mark(name) return vim.api.nvim_buf_get_mark(0, name) end
        return {{ failure = failure and vim.inspect(failure), saved = result and result[1].saved, passes = passes,
          cursor = vim.api.nvim_win_get_cursor(0), a = mark('a'), b = mark('b') }}",
        json!(hunks)
    );
    let out: Value = nvim.lua(&code).await;
    assert_eq!((&out["failure"], &out["saved"]), (&Value::Null, &json!(true)), "{out}");
    assert_eq!(nvim.text().await, format!("above\n{wanted}"));
    assert_eq!(project.read("a.txt"), format!("above\n{wanted}"));
    assert!(out["passes"].as_u64().is_some_and(|passes| passes < 40), "{out}");
    assert_eq!((&out["cursor"], &out["a"], &out["b"]), (&json!([1503, 3]), &json!([304, 2]), &json!([3, 1])));
    nvim.command("undo").await;
    assert_eq!(nvim.text().await, text, "one step");
}
