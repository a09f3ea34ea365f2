//! What a user hears whose windows of Sextant are closed: the wait, the end, a question, the short form of a message.

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

async fn started(script: Vec<Reply>) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(script).await;
    let nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.command("set laststatus=2 ruler showcmd").await;
    nvim.edit("a.py").await;
    (project, server, nvim)
}

const CLOSE: &str = "call win_execute(bufwinid('sextant://answer'), 'close')";

fn held(reply: Reply) -> (Reply, std::sync::Arc<tokio::sync::Notify>) {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    (Reply::Held(Box::new(reply), std::sync::Arc::clone(&go)), go)
}

async fn messages(nvim: &Nvim) -> String {
    nvim.lua("return vim.fn.execute('messages')").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reasoning_of_a_model_is_a_phase_of_its_own() {
    let answer =
        json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "one"}).to_string();
    let event = |delta: Value, why: Option<&str>| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]}))
    };
    let events = event(json!({"reasoning_content": "Hm, ", "content": ""}), None)
        + &event(json!({"reasoning_content": "f returns one.", "content": ""}), None)
        + &event(json!({"content": answer}), None)
        + &event(json!({}), Some("stop"))
        + "data: [DONE]\n\n";
    for shown in [false, true] {
        let project = Project::new(&[("a.py", TEXT)]);
        let server = ModelServer::start([Reply::Events(events.clone())]).await;
        let options = options(&server).replace("model = 'm',", &format!("model = 'm', show_reasoning = {shown},"));
        let mut nvim = Nvim::open_on_screen(&project, &options, &[], "a.py").await;
        let collect = "_G.seen = {}
            vim.api.nvim_create_autocmd('User', { pattern = { 'SextantStatus', 'SextantProgress' }, callback = function(args)
              local words = args.data.phase or args.data.value.message
              if words ~= _G.seen[#_G.seen] then table.insert(_G.seen, words) end
              local win = vim.fn.bufwinid('sextant://answer')
              local bar = win > 0 and vim.wo[win].winbar or ''
              if bar:find('thinking 0 s', 1, true) then _G.bar = bar end
            end })
            return true";
        nvim.lua::<bool>(collect).await;
        nvim.task("AgentAsk what does f return?").await;
        let seen: Vec<String> = nvim.lua("return _G.seen").await;
        let at = |word: &str| seen.iter().position(|known| known == word);
        assert!(at("thinking").is_some() && at("thinking") < at("answering"), "{seen:?}");
        assert!(seen.iter().any(|words| words.starts_with("thinking 0 s")), "{seen:?}");
        assert!(nvim.lua::<bool>("return _G.bar ~= nil").await, "the bar has it too: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_model_and_its_answer_are_announced_where_no_window_shows_them() {
    let ((answer, go), (edit, on)) =
        (held(says("It returns one.")), held(edit("return 1", "return undefined_name", false)));
    let (_project, server, mut nvim) = started(vec![answer, edit]).await;
    // The typed command stands on the command line.
    nvim.keys(":AgentAsk what does f return?<CR>").await;
    server.requests_seen(1).await;
    nvim.keys_show(":AgentShow<CR>q", "Sextant: waiting for the model").await;
    nvim.screen.shows("waiting for the model 2 s").await;
    let progress = "_G.count = 0
        vim.api.nvim_create_autocmd('User', { pattern = 'SextantProgress', callback = function() _G.count = _G.count + 1 end })
        return (vim.wait(30000, function() return _G.count >= 2 end, 10))";
    assert!(nvim.lua::<bool>(progress).await, "the events go on too");
    go.notify_one();
    nvim.finished().await;
    nvim.screen.shows(" · :AgentShow").await;
    nvim.command_shows("AgentShow", "It returns one.").await;
    // The outcome stays on a narrow command line, however long the figures are.
    nvim.command("AgentAsk! change f in a way that takes long").await;
    server.requests_seen(2).await;
    nvim.command(CLOSE).await;
    on.notify_one();
    nvim.finished().await;
    nvim.screen.shows("Sextant: Not done: 1 new error stays.").await;
    nvim.screen.shows(" · :AgentShow").await;
    assert!(!nvim.prompts().await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_in_the_messages_and_waits_audibly_without_its_window() {
    let ask = step("run_command", json!({"command": ["touch", "made"]}), true);
    let (_project, _server, mut nvim) = started(vec![ask, says("ok")]).await;
    nvim.command("AgentAsk! change f, then run the command that makes the file").await;
    let question = nvim.wait("SextantQuestion").await;
    let options: Vec<String> = serde_json::from_value(question["options"].clone()).expect("options");
    let text = question["text"].as_str().expect("a text").lines().next().expect("a line").to_owned();
    nvim.screen.shows("? Run `touch made`").await;
    let kept = "return (vim.wait(30000, function() return vim.fn.execute('messages'):find('Run `touch made`', 1, true) ~= nil end, 10))";
    assert!(nvim.lua::<bool>(kept).await, "{}", messages(&nvim).await);
    let said = messages(&nvim).await;
    for (at, option) in options.iter().enumerate() {
        assert!(said.contains(&format!("{}. {option}", at + 1)), "{said}");
    }
    assert_eq!(said.matches(&text).count(), 1, "{said}");
    assert!(!nvim.prompts().await, "{}", nvim.screen.text());
    nvim.command("AgentShow").await;
    nvim.keys_show("q", "Sextant: a question waits; :AgentShow shows it").await;
    let status: Value = nvim.lua("return require('sextant').status()").await;
    assert_eq!(status["question"], question["text"], "{status}");
    nvim.command_shows("AgentShow", "? Run `touch made`").await;
    nvim.keys("1").await;
    nvim.finished().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_does_not_fit_keeps_its_outcome_and_reason() {
    let (_project, _server, nvim) = started(vec![]).await;
    let messages = [
        (
            "nothing was rejected: the change of `src/shop/cart.py::Cart::show` was edited since",
            "show` was edited since",
        ),
        (
            "“make every price of the shop a whole number” waits, 0 of 2 steps done; :AgentResume goes on",
            "0 of 2 steps done",
        ),
        ("a task was interrupted, 1 of 2 done; :AgentResume goes on: “make every price whole”", ":AgentResume goes on"),
        (
            "http://localhost/v1/chat.json is not there, nor one/other, nor a/path/to/file.toml",
            "is not there, nor one/other",
        ),
    ];
    for (text, kept) in messages {
        nvim.lua::<bool>(&format!("require('sextant.ui.say').say({text:?}) return true")).await;
        nvim.screen.shows(kept).await;
    }
    assert!(!nvim.prompts().await, "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn rejections_that_wait_are_named_where_the_review_closes_and_after_the_turn() {
    let (rest, go) = held(edit("return 2", "return 22", false));
    let (_project, server, mut nvim) = started(vec![edit("return 1", "return 11", true), rest]).await;
    nvim.command("AgentAsk! change f and g").await;
    server.requests_seen(2).await;
    nvim.command_shows("AgentReview", "1/1 f").await;
    nvim.command_shows("AgentReview reject all because no", "1 unsent; `:AgentReview send`").await;
    go.notify_one();
    nvim.finished().await;
    nvim.screen.shows("1 remark unsent: :AgentReview send").await;
    server.push(says("understood"));
    nvim.task("AgentReview send").await;
    nvim.screen.hides("remark unsent").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_progress_of_a_task_ends_with_its_outcome() {
    let refused = Reply::Status(401, vec![], "{\"error\": {\"message\": \"no\"}}".into());
    let (_project, server, mut nvim) = started(vec![says("one"), refused, Reply::Stall("{".into())]).await;
    let ends = "_G.ends = {}
        vim.api.nvim_create_autocmd('User', { pattern = 'SextantProgress', callback = function(args)
          local value = args.data.value
          if value.kind == 'end' then table.insert(_G.ends, value.message) end
        end })
        return true";
    nvim.lua::<bool>(ends).await;
    nvim.task("AgentAsk explain f").await;
    nvim.failed_task("AgentAsk explain g").await;
    nvim.command("AgentAsk explain both").await;
    server.requests_seen(3).await;
    nvim.failed_task("AgentStop").await;
    assert_eq!(nvim.lua::<Vec<String>>("return _G.ends").await, ["done", "failed", "stopped"]);
}
