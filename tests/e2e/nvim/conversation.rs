//! Talking with the agent: answers by key and in words, requests that wait or steer, conversations that go on.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn edit(old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change("a.py", old, new), proceed)
}

fn run(command: &[&str]) -> Reply {
    step("run_command", json!({"command": command}), true)
}

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

fn last_prompt(server: &ModelServer) -> String {
    server.requests().last().expect("a request").body.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_a_number_in_the_window_or_in_words() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([run(&["touch", "made"]), run(&["touch", "other"]), says("done")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk run it", "SextantQuestion").await;
    nvim.command("AgentShow").await;
    assert!(holds(&nvim, "require('sextant').status().state == 'question'").await);
    let shown = nvim.answer().await;
    let first = shown.lines().find(|line| line.starts_with("  1. ")).expect("an option");
    nvim.keys("1").await;
    nvim.wait("SextantQuestion").await;
    assert!(project.root().join("made").exists());
    nvim.answered(&format!("> {}", first.trim())).await;
    let offered: Vec<String> = nvim.lua("return vim.fn.getcompletion('AgentAnswer ', 'cmdline')").await;
    assert!(offered[0].starts_with("1 ") && offered.len() == 3, "{offered:?}");
    nvim.task("AgentAnswer use the file that is there").await;
    assert!(!project.root().join("other").exists(), "words are no consent");
    assert!(last_prompt(&server).contains("use the file that is there"), "{}", last_prompt(&server));
    nvim.answered("> use the file that is there").await;
    // Without a question and at rest, a number is a count.
    nvim.keys("gg2j").await;
    assert_eq!(nvim.lua::<usize>("return vim.fn.line('.')").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_for_a_consent_shows_what_would_be_written() {
    let project = Project::new(&[("a.py", TEXT), ("conftest.py", "import os\n")]);
    let write = step("write_file", json!({"path": "conftest.py", "content": "import sys\n"}), true);
    let server = ModelServer::start([write, says("done")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk! set the tests up", "SextantQuestion").await;
    let shown = nvim.answered("+ import sys").await;
    assert!(shown.contains("```diff") && shown.contains("- import os"), "{shown}");
    nvim.screen.shows("1. ").await;
    nvim.task("AgentAnswer 3").await;
    nvim.answered("> 3. ").await;
    assert_eq!(project.read("conftest.py"), "import os\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_option_a_question_opens_a_list_once_nothing_is_typed() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([run(&["touch", "made"]), says("done")]).await;
    let with = options(&server).replacen('{', "{ questions = 'select', ", 1);
    let mut nvim = Nvim::on_screen(&project, &with, &["ruff"]).await;
    nvim.lua::<Value>(
        "vim.ui.select = function(items, _, choose) vim.g.offered = items; choose(items[1], 1) end
        return vim.empty_dict()",
    )
    .await;
    nvim.edit("a.py").await;
    nvim.task("AgentAsk run it").await;
    assert!(project.root().join("made").exists());
    let offered: Vec<String> = nvim.lua("return vim.g.offered").await;
    assert_eq!(offered.last().map(String::as_str), Some("answer in words …"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_for_the_running_task_and_can_be_taken_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([run(&["touch", "made"]), says("first done"), says("second done")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk do the first", "SextantQuestion").await;
    nvim.command("AgentAsk do the second").await;
    nvim.command_shows("AgentAsk do the third", "next: do the second and 1 more").await;
    nvim.command("AgentStop next").await;
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("do the third"));
    assert!(holds(&nvim, "#require('sextant').status().next == 1").await);
    nvim.task("AgentAnswer 3").await;
    assert_eq!(nvim.wait("SextantStarted").await["request"], "do the second");
    nvim.finished().await;
    let answer = nvim.answered("second done").await;
    let (first, second) = answer.split_once("# do the second").expect("both turns");
    assert!(first.starts_with("# do the first") && first.contains("first done"), "nobody has read it: {answer}");
    assert!(second.contains("second done"), "{answer}");
    assert_eq!(server.requests().len(), 3, "what was taken back is not asked");
    assert!(holds(&nvim, "#require('sextant').status().next == 0").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_takes_waiting_requests_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk do the first").await;
    server.requests_seen(1).await;
    nvim.command_shows("AgentAsk do the second", "next: do the second").await;
    nvim.command("AgentStop").await;
    assert!(nvim.failed().await["message"].as_str().unwrap().contains("do the second"));
    nvim.failed().await;
    assert!(holds(&nvim, "require('sextant').status().state == 'idle'").await);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_bang_steers_the_running_task() {
    let project = Project::new(&[("a.py", TEXT)]);
    let replies = [run(&["touch", "made"]), edit("return 1", "return 11", true), says("done")];
    let server = ModelServer::start(replies).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentAsk change f", "SextantQuestion").await;
    nvim.command("AgentAsk! and keep the name").await;
    nvim.answered("for the running task: and keep the name").await;
    nvim.task("AgentAnswer 3").await;
    let heard = server.requests()[1].body.to_string();
    assert!(heard.contains("The user adds, while you work: and keep the name"), "{heard}");
    assert_eq!(server.requests().len(), 3, "no task of its own began");
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_on_gives_the_model_the_conversation_and_asking_anew_does_not() {
    let project = Project::new(&[("a.py", TEXT)]);
    let look = step("read_symbol", json!({"symbol": "a.py::g"}), true);
    let server = ModelServer::start([look, says("g returns two"), says("as I said"), says("something else")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk what does g return").await;
    nvim.command("AgentShow").await;
    nvim.keys_show("i", "Ask about ").await;
    nvim.keys("are you sure<CR>").await;
    nvim.finished().await;
    let asked = server.requests()[2].said_by("user").to_owned();
    for part in ["The user asked: what does g return", "read_symbol ok: ", "You answered: g returns two"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let window = nvim.answered("as I said").await;
    assert!(window.starts_with("# what does g return") && window.contains("\n# are you sure\n"), "{window}");
    nvim.task("call win_gotoid(win_getid(1)) | AgentAsk something else").await;
    let asked = server.requests()[3].said_by("user").to_owned();
    assert!(!asked.contains("The conversation so far"), "{asked}");
    assert!(nvim.answered("something else").await.starts_with("# something else"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_of_another_neovim_is_found_and_goes_on() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("it is round"), says("other"), says("still round")]).await;
    let mut first = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    first.task("AgentAsk what shape is the moon").await;
    first.task("AgentAsk what is the time").await;
    drop(first);
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_shows("AgentLog", "what is the time").await;
    nvim.command_shows("AgentLog moon round", "with “moon round”").await;
    assert!(!nvim.screen.text().contains("what is the time"), "{}", nvim.screen.text());
    nvim.keys("<CR>").await;
    assert!(nvim.answered("it is round").await.starts_with("# what shape is the moon"));
    assert!(holds(&nvim, "vim.api.nvim_buf_get_name(0) == 'sextant://answer'").await);
    nvim.keys_show("i", "Ask about ").await;
    nvim.keys("and today?<CR>").await;
    nvim.finished().await;
    assert!(last_prompt(&server).contains("You answered: it is round"), "{}", last_prompt(&server));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_from_lua_calls_back_at_its_end_or_when_it_is_taken_back() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("it is so"), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    let ask = |text: &str| {
        format!(
            "vim.g.result = nil
            require('sextant').ask({{ text = '{text}', range = {{ 1, 2 }},
              callback = function(result) vim.g.result = result end }})
            return vim.empty_dict()"
        )
    };
    nvim.lua::<Value>(&ask("explain this")).await;
    assert!(holds(&nvim, "(vim.g.result or {}).ok == true").await, "{}", nvim.answer().await);
    nvim.finished().await;
    assert!(server.requests()[0].said_by("user").contains("a.py::f"), "the range is meant");
    nvim.command("AgentAsk wait").await;
    server.requests_seen(2).await;
    nvim.lua::<Value>(&ask("do the next")).await;
    nvim.screen.shows("next: do the next").await;
    nvim.command("AgentStop next").await;
    assert!(holds(&nvim, "(vim.g.result or {}).failure ~= nil").await);
    let result: Value = nvim.lua("return vim.g.result").await;
    assert_eq!(result["failure"]["kind"], "cancelled", "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_check_does_the_handshake_and_names_each_fix() {
    let project = Project::new(&[("a.py", TEXT)]);
    let with = "{ model = { provider = 'openai_compatible', model = 'm', base_url = 'http://127.0.0.1:9/v1' } }";
    let nvim = Nvim::open_on_screen(&project, with, &["basedpyright"], "a.py").await;
    assert!(holds(&nvim, "#vim.lsp.get_clients() == 1 and vim.lsp.get_clients()[1].initialized").await);
    nvim.command("checkhealth sextant").await;
    let health: String = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await;
    for part in [
        "handshake done in ",
        "127.0.0.1:9 cannot be reached",
        "correct `model.base_url` in setup()",
        "basedpyright (in 1 buffer): ",
        "memory and undo: ",
        "grammar markdown",
    ] {
        assert!(health.contains(part), "{part}: {health}");
    }
}
