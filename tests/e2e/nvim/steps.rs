//! The plan window as a list of steps: folded details, the way to the code, skip, again, back to here, its room.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str =
    "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n\n\ndef h() -> int:\n    return 3\n";

fn plan() -> Reply {
    let step = |name: &str| {
        json!({"title": format!("change {name}"), "symbols": [format!("src/a.py::{name}")], "because": "asked",
            "expect": "changed"})
    };
    let steps = ["f", "g", "h"].map(step);
    Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}))
}

fn replace(old: &str, new: &str) -> Reply {
    step("edit_file", change("src/a.py", old, new), false)
}

async fn planned(server: &ModelServer, with: &str) -> (Project, Nvim) {
    let project = Project::new(&[("src/a.py", TEXT)]);
    let with = options(server).replacen('{', &format!("{{ {with}"), 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "src/a.py").await;
    nvim.command_until("AgentPlan change all", "SextantPlan").await;
    nvim.screen.shows("change h").await;
    (project, nvim)
}

async fn document(nvim: &Nvim) -> String {
    let lines: Vec<String> =
        nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
    lines.join("\n")
}

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_one_line_and_the_code_stays_in_sight() {
    let server = ModelServer::start([plan()]).await;
    let (_project, nvim) = planned(&server, "").await;
    let screen = nvim.screen.text();
    for part in ["- [ ] change f  f", "- [ ] change g  g", "in src/a.py", "? keys", "def f() -> int:", "return 2"] {
        assert!(screen.contains(part), "{part}:\n{screen}");
    }
    assert!(!screen.contains("because"), "the details are folded:\n{screen}");
    nvim.keys_show(":9<CR><Tab>", "because: asked").await;
    nvim.keys_show("<Tab>K", "Step 2").await;
    nvim.screen.shows("expect: changed").await;
    nvim.keys_show("q?", "take this step and all behind it back").await;
    nvim.keys("q<CR>").await;
    assert!(holds(&nvim, "vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'a.py'").await, "{}", nvim.screen.text());
    assert_eq!(nvim.lua::<usize>("return vim.fn.line('.')").await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_skipped_opened_again_and_taken_back_from_here() {
    let server = ModelServer::start([plan(), replace("return 1", "return 11"), replace("return 3", "return 33")]).await;
    let (project, mut nvim) = planned(&server, "").await;
    nvim.keys("/change g<CR>x").await;
    nvim.wait("SextantPlan").await;
    assert!(document(&nvim).await.contains("- [-] change g"), "{}", document(&nvim).await);
    nvim.keys("a").await;
    nvim.finished().await;
    assert_eq!(project.read("src/a.py"), TEXT.replace("return 1", "return 11").replace("return 3", "return 33"));
    nvim.keys("gg/change g<CR>R").await;
    nvim.finished().await;
    assert_eq!(project.read("src/a.py"), TEXT.replace("return 1", "return 11"), "the first step stays");
    let shown = document(&nvim).await;
    assert!(shown.contains("- [x] change f") && shown.contains("- [ ] change h"), "{shown}");
    nvim.keys("gg/change f<CR>r").await;
    nvim.finished().await;
    assert_eq!(project.read("src/a.py"), TEXT);
    assert!(document(&nvim).await.contains("- [ ] change f"), "{}", document(&nvim).await);
}

const UNFOLDED: &str = "local win = vim.fn.win_findbuf(vim.fn.bufnr('sextant://plan'))[1]
    return require('sextant.ui.plan_steps').unfolded(vim.api.nvim_win_get_buf(win), win)";

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_unfolds_stays_and_what_runs_folds_again_in_sight() {
    let (last, go) = (replace("return 3", "return 33"), std::sync::Arc::new(tokio::sync::Notify::new()));
    let script = [
        plan(),
        replace("return 1", "return 11"),
        replace("return 2", "return 22"),
        Reply::Held(Box::new(last), go.clone()),
    ];
    let server = ModelServer::start(script).await;
    let (_project, mut nvim) = planned(&server, "").await;
    nvim.keys_show(":9<CR><Tab>", "because: asked").await;
    nvim.keys_show("a", "running step 3 of 3").await;
    assert_eq!(nvim.lua::<Vec<u64>>(UNFOLDED).await, [2], "{}", nvim.screen.text());
    nvim.screen.shows("[>] change h").await;
    go.notify_one();
    nvim.finished().await;
    for part in ["3 of 3 steps done. changed src/a.py", "[x] change f", "[x] change g"] {
        nvim.screen.shows(part).await;
    }
    assert_eq!(nvim.lua::<Vec<u64>>(UNFOLDED).await, [2], "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_runs_while_the_user_types_shows_each_step_as_one_line() {
    let script = [plan(), replace("return 1", "return 11"), replace("return 2", "return 22"), Reply::Stall("{".into())];
    let server = ModelServer::start(script).await;
    let (_project, mut nvim) = planned(&server, "window = { plan = 'split' },").await;
    nvim.command("wincmd p").await;
    nvim.keys("O# mine").await;
    let approve = "require('sextant.rpc.channel').send('approve', { steps = 'all' }) return true";
    nvim.lua::<bool>(approve).await;
    server.requests_seen(4).await;
    for part in ["[x] change f", "[x] change g", "[>] change h"] {
        nvim.screen.shows(part).await;
    }
    nvim.screen.hides("symbols: ").await;
    assert_eq!(nvim.lua::<String>("return vim.api.nvim_get_mode().mode").await, "i");
    assert_eq!(nvim.lua::<String>("return vim.v.errmsg").await, "");
    nvim.keys("<Esc>").await;
    nvim.failed_task("AgentStop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_s_bar_shows_what_its_task_waits_for() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let held = |reply: Reply| Reply::Held(Box::new(reply), go.clone());
    let server = ModelServer::start([held(plan()), held(replace("return 1", "return 11"))]).await;
    let project = Project::new(&[("src/a.py", TEXT)]);
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "src/a.py").await;
    nvim.command_shows("AgentPlan change all", "planning · waiting for the model 1 s").await;
    nvim.screen.shows("s in all · ").await;
    go.notify_one();
    nvim.wait("SextantPlan").await;
    nvim.screen.hides("waiting for the model").await;
    nvim.screen.shows("Sextant plan · waiting for approval ─").await;
    nvim.keys_show("s", "running step 1 of 3 · waiting for the model 1 s").await;
    nvim.screen.shows(" tokens · <C-c> stop").await;
    go.notify_one();
    nvim.finished().await;
    nvim.screen.shows("waiting for approval, 1 of 3 steps done ─").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_result_leaves_the_steps_in_sight_and_is_shown_whole_by_a_key() {
    let server = ModelServer::start([plan()]).await;
    let (_project, nvim) = planned(&server, "").await;
    let ends = "local plan = require('sextant.ui.plan')
        plan.update({ phase = 'executing', markdown = plan.markdown(), root = '', steps = 3, done = 0, failed = 0 })
        return plan.note(('word '):rep(80) .. 'end')";
    assert!(nvim.lua::<bool>(ends).await, "the window holds it");
    for part in ["word … <Tab>", "change f", "change g", "change h"] {
        nvim.screen.shows(part).await;
    }
    nvim.keys_show("gg<Tab>", "word end").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_may_be_a_split_below_the_code() {
    let server = ModelServer::start([plan()]).await;
    let (_project, nvim) = planned(&server, "window = { plan = 'split' },").await;
    let floats: String = nvim.lua("return vim.api.nvim_win_get_config(0).relative").await;
    assert_eq!(floats, "");
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    nvim.screen.shows("<CR> approve and run · ? keys · q close").await;
    assert!(nvim.screen.text().contains("def f() -> int:"), "{}", nvim.screen.text());
    nvim.keys("q").await;
    assert!(holds(&nvim, "#vim.api.nvim_tabpage_list_wins(0) <= 2").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_evidence_of_a_step_is_of_its_own_symbols() {
    let text = "def f() -> None:\n    print(missing_one)\n\n\ndef g() -> None:\n    print(missing_two)\n";
    let project = Project::new(&[("a.py", text)]);
    let step = |name: &str| json!({"title": format!("change {name}"), "symbols": [format!("a.py::{name}")], "because": "F821", "expect": "changed"});
    let steps = [step("f"), step("g")];
    let plan = Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}));
    let server = ModelServer::start([plan]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.edit("a.py").await;
    assert!(holds(&nvim, "#vim.diagnostic.get(0) == 2").await);
    nvim.command("AgentPlan change both").await;
    nvim.wait("SextantPlan").await;
    nvim.keys("/change g<CR>K").await;
    nvim.screen.shows("Step 2").await;
    nvim.screen.shows("missing_two").await;
    let lines = "return vim.tbl_filter(function(line) return line:find('F821%]') ~= nil end, vim.api.nvim_buf_get_lines(0, 0, -1, false))";
    let listed: Vec<String> = nvim.lua(lines).await;
    assert!(listed.len() == 1 && listed[0].starts_with("6: "), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_plan_has_the_beginning_of_its_title_and_the_key_that_shows_all_keys() {
    let server = ModelServer::start([plan()]).await;
    let (_project, nvim) = planned(&server, "").await;
    nvim.resize(40, 14).await;
    nvim.screen.shows("Sextant plan · waiting f").await;
    nvim.screen.shows("<CR> approve and run · ? keys").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_estimate_of_a_request_stands_once_in_its_answer() {
    let server = ModelServer::start([plan()]).await;
    let (_project, nvim) = planned(&server, "").await;
    let answer = nvim.answer().await;
    assert_eq!(answer.matches("risk ").count(), 1, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_key_help_are_whole_in_a_narrow_window() {
    let server = ModelServer::start([plan()]).await;
    let (_project, nvim) = planned(&server, "").await;
    nvim.resize(40, 40).await;
    nvim.screen.shows("? keys").await;
    nvim.keys("?").await;
    nvim.screen.shows("elsewhere").await;
    for words in ["approve the plan", "behind it", "details", ":AgentPlan", "question"] {
        nvim.screen.shows(words).await;
    }
    let rows = "local c = vim.api.nvim_win_get_config(0) return c.row + c.height < vim.o.lines - 2 and vim.fn.line('w$') == vim.fn.line('$')";
    assert!(nvim.lua::<bool>(rows).await, "{}", nvim.screen.text());
}
