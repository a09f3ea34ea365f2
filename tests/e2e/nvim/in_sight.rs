//! What a narrow and a large screen leave in sight: the code behind the plan's float, questions, headings, hints.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const SIZES: [(i64, i64); 2] = [(80, 24), (160, 48)];

/// Eighty lines: `f19` begins at line 77.
fn long_text() -> String {
    (0..20).map(|n| format!("def f{n}() -> int:\n    return {n}\n\n\n")).collect()
}

fn plan(title: &str, steps: &[(&str, &str)]) -> Reply {
    let step = |(title, symbol): &(&str, &str)| json!({"title": title, "symbols": [symbol], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = steps.iter().map(step).collect();
    Reply::Json(json!({"title": title, "reason": "", "steps": steps, "confidence": 1}))
}

fn edit(path: &str, old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change(path, old, new), proceed)
}

async fn started(
    files: &[(&str, &str)],
    script: Vec<Reply>,
    with: &str,
    size: (i64, i64),
) -> (Project, ModelServer, Nvim) {
    let project = Project::new(files);
    let server = ModelServer::start(script).await;
    let with = options(&server).replacen('{', &format!("{{ {with}"), 1);
    let nvim = Nvim::on_screen(&project, &with, &["ruff"]).await;
    nvim.resize(size.0, size.1).await;
    nvim.command("set laststatus=2 ruler showcmd").await;
    nvim.edit(files[0].0).await;
    (project, server, nvim)
}

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

/// Waits until the cursor is on a line of the code, and the line is above the plan's float with one line below it.
async fn is_uncovered(nvim: &Nvim, line: usize) {
    let row = "vim.fn.screenpos(0, vim.fn.line('.'), 1).row";
    let float = "vim.api.nvim_win_get_config(vim.fn.bufwinid('sextant://plan')).row";
    let here = format!("vim.bo.buftype == '' and vim.fn.line('.') == {line} and {row} > 0 and {row} < {float}");
    assert!(holds(nvim, &here).await, "line {line} is covered:\n{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_that_a_command_goes_to_is_beside_the_float_of_the_plan() {
    for size in SIZES {
        let text = long_text();
        let script = vec![
            edit("a.py", "return 16", "return undefined_name", true),
            edit("a.py", "return 17", "return 177", false),
            says("It is in `a.py::f18`."),
            plan("Changes", &[("change f19", "a.py::f19"), ("change f2", "a.py::f2")]),
        ];
        let (_project, _server, mut nvim) = started(&[("a.py", &text)], script, "", size).await;
        nvim.task("AgentAsk! change f16 and f17").await;
        nvim.task("AgentAsk where can I read more?").await;
        nvim.command("cclose").await;
        nvim.command_until("AgentPlan change f19 and f2", "SextantPlan").await;
        nvim.screen.shows("change f2").await;
        nvim.keys("/change f19<CR><CR>").await;
        is_uncovered(&nvim, 77).await;
        nvim.keys("gg").await;
        nvim.command("AgentReview").await;
        is_uncovered(&nvim, 66).await;
        nvim.screen.shows("1/2 f16").await;
        nvim.keys("]h").await;
        is_uncovered(&nvim, 70).await;
        nvim.screen.shows("2/2 f17").await;
        nvim.screen.shows("-    return 17").await;
        // The review opens where the cursor is on a change already.
        nvim.keys("gQzt").await;
        nvim.command("AgentReview").await;
        nvim.screen.shows("2/2 f17").await;
        nvim.keys("gg").await;
        nvim.command("AgentShow").await;
        nvim.keys("gg/f18<CR>gf").await;
        is_uncovered(&nvim, 73).await;
        nvim.keys("gg").await;
        nvim.task("AgentAsk where is f19").await;
        is_uncovered(&nvim, 77).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_options_stay_in_sight_beside_the_beginning_of_a_long_text() {
    let text = long_text();
    let lines: String = (0..30).map(|n| format!("    note{n} = {n}\n")).collect();
    let script = vec![edit("a.py", "    return 3\n", &format!("{lines}    return 3\n"), false)];
    let (_project, _server, mut nvim) = started(&[("a.py", &text)], script, "review = 'before', ", SIZES[0]).await;
    nvim.command("AgentAsk! change f3").await;
    nvim.wait("SextantQuestion").await;
    for part in [
        "? Write this edit of a.py?",
        "  1. ",
        " · 2. ",
        " · 3. ",
        "```diff",
        "· 1 to 3, or i for words, in this window",
    ] {
        nvim.screen.shows(part).await;
    }
    nvim.screen.shows("note0 = 0").await;
    assert!(!nvim.screen.text().contains("note20"), "{}", nvim.screen.text());
    // The output goes on at the end.
    nvim.command("AgentAnswer 1").await;
    nvim.finished().await;
    // The list of new diagnostics leaves room for the end alone.
    nvim.screen.shows("changed a.py. 30 new").await;
    assert!(nvim.answer().await.contains("> 1. "), "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_its_reasons_and_its_risk_and_repeats_no_folder() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let files = [("src/shop/cart.py", text), ("src/shop/money.py", text)];
    let steps = [("Change src/shop/cart.py twice", "src/shop/cart.py::f"), ("Tidy it", "src/shop/money.py::g")];
    let (_project, _server, mut nvim) = started(&files, vec![plan("", &steps)], "", SIZES[0]).await;
    nvim.command_until("AgentPlan! change all prices", "SextantPlan").await;
    let shown = [
        "# change all prices in src/shop/  · risk high: the whole workspace",
        "- [ ] Change cart.py twice  cart.py::f  · asked → changed",
        "- [ ] Tidy it  money.py::g  · asked → changed",
    ];
    for part in shown {
        nvim.screen.shows(part).await;
    }
    // The text for editing has none of it.
    nvim.keys_show("e", "makes this text the plan").await;
    let document: String = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    assert!(document.contains("- [ ] Change src/shop/cart.py twice") && !document.contains("risk"), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_review_are_whole_in_80_columns() {
    let name = "a_name_that_is_not_known_in_this_module_nor_beside_it";
    let class = "AClassWithALongNameThatFills";
    let text = format!("class {class}:\n    def a_method_with_a_long_name(self) -> int:\n        return 1\n");
    let script = vec![edit("a.py", "return 1", &format!("return {name}"), false)];
    let (_project, _server, mut nvim) = started(&[("a.py", &text)], script, "", SIZES[0]).await;
    nvim.task("AgentAsk! change it").await;
    nvim.command("cclose").await;
    nvim.command_shows("AgentReview", "▎new: ").await;
    nvim.screen.shows("F821").await;
    let screen = nvim.screen.text();
    let header = screen.lines().find(|row| row.contains("▎1/1")).unwrap_or_default();
    assert!(header.ends_with("a_method_with_a_long_name g? help"), "{screen}");
    let from = screen.lines().position(|row| row.contains("▎new: ")).expect("a row");
    let message: String = screen.lines().skip(from).take(3).collect();
    assert!(message.contains("nor_beside_it`") && message.contains("F821"), "{screen}");
}
