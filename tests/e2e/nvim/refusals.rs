//! Refusals and questions: each can be read, and names the way on.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::scripted::calls;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn plan() -> Reply {
    let step = |name: &str| json!({"title": format!("change {name}"), "symbols": [format!("a.py::{name}")], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = ["f", "g"].into_iter().map(step).collect();
    Reply::Json(json!({"title": "Changes", "reason": "asked", "steps": steps, "confidence": 1}))
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_leaves_a_refusal_its_time_to_be_read() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([plan(), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("a").await;
    server.requests_seen(2).await;
    nvim.keys_show("e", "- [>] change f").await;
    // Progress goes to the command line where no window shows it.
    nvim.screen.shows("Sextant: step 1 of 2").await;
    let refused = "vim.cmd('%s/change g/change g with care/ | write')
        local line = require('sextant.neovim').command_line
        local is_shown = vim.wait(30000, function() return line():find('a task is running already', 1, true) ~= nil end, 5)
        require('sextant.status').phase('servers')
        vim.wait(100, function() return false end)
        return { is_shown, line() }";
    let (is_shown, line): (bool, String) = nvim.lua(refused).await;
    assert!(is_shown && line.contains("a task is running already"), "{is_shown}, {line}");
    nvim.failed_task("AgentStop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_question_is_refused_and_no_part_of_the_conversation() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("It is.")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk is it?").await;
    for _ in 0..2 {
        let failure = nvim.failed_task("AgentAnswer 2").await;
        assert_eq!(failure["message"], "no question is open");
        assert!(failure["hint"].as_str().unwrap().contains("the model asks one"), "{failure}");
        nvim.screen.shows("Sextant: no question is open").await;
    }
    assert!(!nvim.answer().await.contains("no question"), "{}", nvim.answer().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_the_model_without_options_is_open() {
    let project = Project::new(&[("a.py", TEXT)]);
    let ask = calls("", &[("ask_user", json!({"question": "And what should the name be?"}))]);
    let server = ModelServer::start([ask, calls("As you wish.", &[])]).await;
    let conversation =
        |options: String| options.replacen("max_attempts", "style = 'conversation', context = 64000, max_attempts", 1);
    let mut nvim = Nvim::open_on_screen(&project, &conversation(options(&server)), &["ruff"], "a.py").await;
    let asked = nvim.command_until("AgentAsk! name it", "SextantQuestion").await;
    assert_eq!(asked["options"], json!(["decide it yourself"]));
    nvim.screen.shows("question · 1, or i for words").await;
    nvim.command("AgentAnswer total_price").await;
    nvim.finished().await;
    assert!(server.requests()[1].body.to_string().contains("The user answers: total_price"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_plan_that_does_nothing_says_why() {
    let project = Project::new(&[("a.py", TEXT)]);
    let go = Arc::new(Notify::new());
    let server = ModelServer::start([Reply::Held(Box::new(plan()), Arc::clone(&go))]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentPlan change both").await;
    server.requests_seen(1).await;
    nvim.keys_show("a", "Sextant: there is no plan to run yet").await;
    go.notify_one();
    nvim.wait("SextantPlan").await;
    nvim.keys("/change f<CR>").await;
    nvim.keys_show("r", "Sextant: this step is open already").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_cut_twice_has_one_mark() {
    let project = Project::new(&[("a.py", TEXT)]);
    let nvim = Nvim::open(&project, "{}", &[], "a.py").await;
    for (text, width, cut) in
        [("“make th…” is", 10, "“make th…"), ("“make th…” is", 9, "“make th…"), ("abcdef", 4, "abc…")]
    {
        let made: String = nvim.lua(&format!("return require('sextant.ui.say').cut('{text}', {width})")).await;
        assert_eq!(made, cut);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bar_and_a_footer_without_room_keep_the_first_keys_whole() {
    let project = Project::new(&[("a.py", TEXT)]);
    for (more, columns, shown) in [
        ("", 60, " <CR> approve and run · s one step · ? keys · q close "),
        ("window = { plan = 'split' }, ", 80, "waiting for approval · <CR> approve and run · ? keys · q close"),
    ] {
        let server = ModelServer::start([plan()]).await;
        let with = options(&server).replacen('{', &format!("{{ {more}"), 1);
        let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "a.py").await;
        nvim.command_until("AgentPlan change both", "SextantPlan").await;
        nvim.screen.shows("<CR> approve and run").await;
        nvim.resize(columns, 24).await;
        nvim.screen.shows(shown).await;
        if !more.is_empty() {
            nvim.keys("e").await;
            nvim.screen.shows("as text · :w makes it the plan · :q closes").await;
            nvim.command("%s/change g/change g with care/ | write").await;
            nvim.screen.shows("Sextant: this text is the plan now").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_undo_names_its_outcome_and_the_way_out_in_any_width() {
    let project = Project::new(&[("a.py", &TEXT.replace("def f(", "def price_with_tax_and_a_long_name("))]);
    let edit = |old: &str, new: &str, proceed: bool| step("edit_file", change("a.py", old, new), proceed);
    let server = ModelServer::start([edit("return 1", "return 11", true), edit("return 2", "return 22", false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("set laststatus=2 ruler showcmd").await;
    nvim.task("AgentAsk! change f and g").await;
    nvim.command("wincmd t | only | %s/return 11/return 12/").await;
    for (columns, shown) in [
        (80, "Sextant: nothing was undone: price_with_tax_and_a_lon… → :AgentUndo!"),
        (
            160,
            "Sextant: nothing was undone: a.py::price_with_tax_and_a_long_name (line 2) was changed since \
             → :AgentUndo! takes back all the rest",
        ),
    ] {
        nvim.resize(columns, 24).await;
        nvim.failed_task("AgentUndo").await;
        nvim.screen.shows(shown).await;
    }
    nvim.task("AgentUndo!").await;
    nvim.command("%s/return 2/return 3/").await;
    let text = nvim.text().await;
    assert!(text.contains("return 12") && text.contains("return 3"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_undo_without_a_rest_names_the_command_that_leaves_it_as_it_is() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([step("edit_file", change("a.py", "return 1", "return 11"), false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("set laststatus=2 ruler showcmd").await;
    nvim.task("AgentAsk! change f").await;
    nvim.command("wincmd t | only | %s/return 11/return 12/").await;
    for (columns, shown) in [
        (80, "Sextant: nothing was undone: a.py::f was changed since → :AgentUndo!"),
        (160, "a.py::f (line 2) was changed since → `u` undoes your change first; :AgentUndo! leaves it"),
    ] {
        nvim.resize(columns, 24).await;
        nvim.failed_task("AgentUndo").await;
        nvim.screen.shows(shown).await;
    }
    nvim.task("AgentUndo!").await;
    assert!(nvim.text().await.contains("return 12"), "{}", nvim.text().await);
}
