//! The answer window: thinking aloud is folded, the bar names the phase, and at rest the answer is in sight.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::scripted::calls;
use crate::support::wires::{self, Wire};

const TEXT: &str = "def f() -> int:\n    return 1\n";
const DONE: &str =
    r#"{"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "It returns one."}"#;

/// Options with which the user sees the model's thinking.
fn thinking(server: &ModelServer) -> String {
    options(server).replace("model = 'm'", "model = 'm', show_reasoning = true")
}

async fn opened(script: Vec<Reply>, options: fn(&ModelServer) -> String) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(script).await;
    let nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.resize(80, 24).await;
    nvim.command("set laststatus=2 noruler").await;
    nvim.edit("a.py").await;
    (project, server, nvim)
}

/// Evaluates Lua in the answer window.
async fn inside(nvim: &Nvim, expression: &str) -> serde_json::Value {
    let code = format!(
        "local win = vim.fn.bufwinid('sextant://answer')
         return vim.api.nvim_win_call(win, function() return {expression} end)"
    );
    nvim.lua(&code).await
}

#[tokio::test(flavor = "multi_thread")]
async fn thinking_aloud_is_dimmed_and_folded_once_the_answer_begins() {
    let thought = Wire::Chat.reply(&wires::says(DONE).thinking("It has a body.\nThe body has one line."));
    let held = Arc::new(Notify::new());
    let second = Wire::Chat.reply(&wires::says(DONE).thinking("Again?"));
    let script = vec![thought, Reply::Held(Box::new(second), Arc::clone(&held))];
    let (_project, _server, mut nvim) = opened(script, thinking).await;
    nvim.task("AgentAsk what does f return?").await;
    nvim.screen.shows("thinking: 2 lines").await;
    let shown = nvim.screen.text();
    assert!(shown.contains("It returns one.") && !shown.contains("The body has one line."), "{shown}");
    let group = "(function()
        local space = vim.api.nvim_get_namespaces().sextant_thinking
        local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
        local mark = marks[1]
        return { #marks, mark[2], mark[4].end_row, mark[4].hl_group, vim.fn.hlexists('SextantThinking') }
    end)()";
    assert_eq!(inside(&nvim, group).await, serde_json::json!([1, 1, 2, "SextantThinking", 1]));
    let linked: String = nvim.lua("return vim.api.nvim_get_hl(0, { name = 'SextantThinking' }).link").await;
    assert_eq!(linked, "Comment");
    let own: String = nvim.lua("return vim.wo.foldmethod .. vim.wo.foldtext").await;
    assert_eq!(own, "manualfoldtext()", "the user's window keeps its folds");
    inside(&nvim, "vim.cmd('normal! 2Gzo')").await;
    nvim.screen.shows("The body has one line.").await;
    // A window that is opened again has its folds, and the next answer has its own alone.
    nvim.command("AgentShow").await;
    nvim.keys("q").await;
    nvim.command_shows("AgentShow", "It returns one.").await;
    assert_eq!(inside(&nvim, "{ vim.fn.foldlevel(2), vim.fn.foldlevel(4) }").await, serde_json::json!([1, 0]));
    nvim.command("wincmd t").await;
    nvim.command("AgentAsk what does f give?").await;
    nvim.answered("what does f give?").await;
    assert_eq!(inside(&nvim, "vim.fn.foldlevel(2)").await, 0);
    held.notify_one();
    nvim.finished().await;
    nvim.screen.shows("thinking: 1 line").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_waits_for_the_model_until_its_first_word() {
    let held = Arc::new(Notify::new());
    let empty = Wire::Chat.reply(&wires::says("").thinking("It is"));
    let script = vec![empty, Reply::Held(Box::new(says("one")), Arc::clone(&held))];
    let (_project, server, mut nvim) = opened(script, thinking).await;
    nvim.command("AgentAsk what does f return?").await;
    server.requests_seen(2).await;
    nvim.answered("the answer is empty").await;
    let waits = "return (vim.wait(10000, function() return require('sextant').status().phase == 'model' end, 10))";
    let phase: String = nvim.lua(&format!("(function() {waits} end)() return require('sextant').status().phase")).await;
    assert_eq!(phase, "model");
    held.notify_one();
    nvim.finished().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bar_is_cut_behind_its_phase() {
    let (_project, server, mut nvim) = opened(vec![Reply::Stall("{".into())], options).await;
    nvim.command("AgentAsk what does f return?").await;
    server.requests_seen(1).await;
    for request in ["explain at length what f does and why", "and then the other one"] {
        nvim.command(&format!("AgentAsk {request}")).await;
    }
    nvim.screen.shows(" waiting for the model ").await;
    nvim.screen.shows("and 1 more").await;
    nvim.screen.shows(" waiting for the model ").await;
    let bar: String = nvim.lua("return vim.wo[vim.fn.bufwinid('sextant://answer')].winbar").await;
    assert!(bar.contains(" s%< · "), "{bar}");
    nvim.failed_task("AgentStop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_opens_again_shows_the_present_phase() {
    let (_project, server, mut nvim) = opened(vec![Reply::Stall("{".into())], options).await;
    nvim.command("AgentAsk what does f return?").await;
    server.requests_seen(1).await;
    nvim.screen.shows(" waiting for the model ").await;
    nvim.command("call win_execute(bufwinid('sextant://answer'), 'close')").await;
    nvim.failed_task("AgentStop").await;
    nvim.command("AgentShow").await;
    let bar: String = nvim.lua("return vim.wo[vim.fn.bufwinid('sextant://answer')].winbar").await;
    assert!(bar.contains("idle, last task "), "{bar}");
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_list_the_answer_and_no_blank_line_is_in_sight() {
    let script = vec![says("- one\n- two\n- three"), says("- 1\n- 2\n- 3\n- 4\n- 5\n- 6")];
    let (_project, _server, mut nvim) = opened(script, options).await;
    nvim.task("AgentAsk what does f return?").await;
    let entries = "{ { path = 'a.py', line = 1, column = 1, kind = 'E', text = 'x' } }";
    let list = format!("{{ title = 't', root = vim.fn.getcwd(), open = true, entries = {entries} }}");
    nvim.command(&format!("lua require('sextant.ui.quickfix').show({list})")).await;
    let lines = "vim.api.nvim_buf_get_lines(0, vim.fn.line('w0') - 1, vim.fn.line('w$'), false)";
    let seen = inside(&nvim, lines).await.to_string();
    assert!(seen.contains(r#""- one","- two","- three""#), "{seen}\n{}", nvim.screen.text());
    let height = inside(&nvim, "vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].height").await;
    let height = usize::try_from(height.as_u64().unwrap()).unwrap();
    assert!(height < 6, "{}", nvim.screen.text());
    nvim.task("AgentAsk what does f give?").await;
    let last: Vec<String> = (7 - height..7).map(|number| format!("- {number}")).collect();
    assert_eq!(inside(&nvim, lines).await, serde_json::json!(last), "{}", nvim.screen.text());
    // The output goes on at the end.
    nvim.command_shows("lua require('sextant.ui.answer').line('a late line')", "a late line").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_list_the_outcome_of_a_change_is_in_sight_below_its_words() {
    let edit = step("edit_file", change("a.py", "return 1", "return absent + gone"), true);
    let words = || says("- 1\n- 2\n- 3\n- 4\n- 5\n- 6");
    let (_project, _server, mut nvim) = opened(vec![edit, words(), words()], options).await;
    nvim.task("AgentAsk change f").await;
    nvim.screen.shows("[Quickfix List]").await;
    let seen = inside(&nvim, "vim.api.nvim_buf_get_lines(0, vim.fn.line('w0') - 1, vim.fn.line('w$'), false)").await;
    assert!(seen.to_string().contains("2 new diagnostics"), "{seen}\n{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_list_the_last_row_has_the_outcome_of_each_undo_and_redo() {
    let edit = step("edit_file", change("a.py", "return 1", "return absent + gone"), true);
    let script = vec![edit, says("I leave them.")];
    let (_project, _server, mut nvim) = opened(script, options).await;
    nvim.task("AgentAsk change f").await;
    nvim.screen.shows("[Quickfix List]").await;
    for (command, outcome) in ["AgentUndo", "AgentRedo"].into_iter().zip(["undone “", "brought back “"]).cycle().take(6)
    {
        nvim.task(command).await;
        let last = inside(&nvim, "vim.fn.getline(vim.fn.line('w$'))").await;
        assert!(last.as_str().is_some_and(|row| row.starts_with(outcome)), "{command}: {last}\n{}", nvim.screen.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blank_lines_before_the_words_of_a_reply_are_left_out() {
    let (_project, _server, mut nvim) = opened(vec![says("\n\nIt returns one.")], options).await;
    nvim.task("AgentAsk what does f return?").await;
    let answer = nvim.answer().await;
    assert!(answer.starts_with("# what does f return?\nIt returns one.\n"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_quick_succession_stand_below_each_other_with_their_answers() {
    let (_project, _server, mut nvim) = opened(vec![says("ONE."), says("TWO."), says("THREE.")], options).await;
    nvim.lua::<bool>("for _, text in ipairs({ 'one?', 'two?', 'three?' }) do vim.cmd.AgentAsk(text) end return true")
        .await;
    for _ in 0..3 {
        nvim.finished().await;
    }
    let answer = nvim.answer().await;
    let parts = ["# one?", "ONE.", "# two?", "TWO.", "# three?", "THREE."].map(|part| answer.find(part));
    assert!(parts.iter().all(Option::is_some) && parts.is_sorted(), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_stays_where_its_file_is_created_and_taken_back() {
    let new = json!({"path": "new.py", "content": "x = 1\n"});
    let (_project, _server, mut nvim) = opened(vec![step("write_file", new, false)], options).await;
    nvim.task("AgentAsk! create new.py").await;
    nvim.edit("new.py").await;
    nvim.task("AgentUndo").await;
    let here: Vec<String> = nvim.lua("return { vim.fn.bufname(), tostring(vim.fn.winnr('$')) }").await;
    assert_eq!(here, ["a.py", "2"], "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_cannot_be_used_is_in_the_trace() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let sung = Reply::Text(format!("I would rather sing\nof {secret} than plan."));
    let (_project, _server, mut nvim) = opened(vec![sung; 12], options).await;
    for (request, said) in
        [("AgentPlan rename f", "no usable plan came back"), ("AgentAsk rename f", "gave up after 3")]
    {
        nvim.command("wincmd t").await;
        nvim.command(request).await;
        let (_, ended) = nvim.wait_for(&["SextantFailed", "SextantFinished"]).await;
        let ended = ended.to_string();
        assert!(ended.contains(said) && ended.contains("`:AgentTrace` shows the reply"), "{ended}");
        nvim.command("AgentTrace").await;
        let held = "return (vim.wait(10000, function()
            return vim.fn.bufname() == 'sextant://trace' and vim.fn.search('I would rather sing', 'nw') > 0 end, 10))";
        assert!(nvim.lua::<bool>(held).await, "{}", nvim.screen.text());
        let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
        let text = lines.join("\n");
        assert!(text.contains("    I would rather sing\n    of ") && text.contains(" than plan."), "{text}");
        assert!(!text.contains(&secret), "{text}");
        nvim.command("close").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_result_is_below_its_call_and_a_command_is_named() {
    let file = |path: &str| ("read_file", json!({"path": path}));
    let absent = ("run_command", json!({"command": ["no-such-program", "-q", "two words"]}));
    let looks = calls("", &[file("a.py"), file("b.py"), absent]);
    let done = calls("It is done.", &[("done", json!({"answer": "It is done."}))]);
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let server = ModelServer::start([looks, done]).await;
    let options = options(&server).replace("model = 'm',", "model = 'm', style = 'conversation', context = 64000,");
    let mut nvim = Nvim::start(&project, &options, &[]).await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk why does it sort at all?").await;
    nvim.wait("SextantQuestion").await;
    nvim.command("AgentAnswer 1").await;
    let summary = nvim.finished().await;
    let shown = nvim.answered("It is done.").await;
    let lines: Vec<&str> = shown.lines().collect();
    let at =
        |text: &str| lines.iter().position(|line| line.starts_with(text)).unwrap_or_else(|| panic!("{text}: {shown}"));
    let of = |text: &str| (lines[at(text)], lines[at(text) + 1]);
    assert_eq!(of("1. "), ("1. read_file a.py", "   2 lines"), "{shown}");
    assert_eq!(of("1.2 "), ("1.2 read_file b.py", "   1 line"), "{shown}");
    let (call, _) = of("1.3 ");
    assert_eq!(call, "1.3 run_command no-such-program -q \"two words\"", "{shown}");
    // The answer to its question comes before its result.
    let (_, result) = of("> 1. ");
    assert!(result.starts_with("   ✗ ") && result.contains("no-such-program"), "{shown}");
    assert!(!shown.contains("risk "), "an answer costs and breaks nothing: {shown}");
    // The bar has the tokens of the last answer too.
    let tokens: u64 = nvim.lua("return require('sextant').status().tokens").await;
    assert!(summary.contains(&format!("{tokens} tokens in")), "{tokens}: {summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_and_no_command_is_split_at_the_edge_of_a_window() {
    let wholes = [
        "src/services/diagnostics/collect-reports.lua:120:4",
        "`cargo build --locked --release --package sextant-cli`",
        ":AgentAnswer",
        "tests/fixtures/projects/a-long-name/with.dots/conftest.py",
    ];
    let text = format!(
        "The report of {} is the one; run {} and then {}. The file {} is next.",
        wholes[0], wholes[1], wholes[2], wholes[3]
    );
    let (_project, _server, mut nvim) = opened(vec![says(&text)], options).await;
    nvim.command("set breakindent showbreak=>>").await;
    nvim.task("AgentAsk what is where?").await;
    for columns in [80, 61, 100, 70] {
        nvim.resize(columns, 24).await;
        for whole in wholes {
            nvim.screen.shows(whole).await;
        }
    }
    assert_eq!(nvim.lua::<String>("return vim.o.breakat").await, " \t!@*-+;:,./?", "the user's option stays");
    // What is taken from the window is the text alone.
    nvim.command("AgentShow").await;
    nvim.keys("gg/The report<CR>yy").await;
    let yanked: String = nvim
        .lua("vim.wait(30000, function() return vim.fn.getreg('\"') ~= '' end, 10) return vim.fn.getreg('\"')")
        .await;
    assert_eq!(yanked, format!("{text}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_ended_below_a_page_comes_back_at_its_end() {
    let held = Arc::new(Notify::new());
    let text: String = (1..=30).map(|n| format!("line {n} of it\n\n")).collect();
    let script = vec![says("It returns one."), Reply::Held(Box::new(says(text)), Arc::clone(&held))];
    let (_project, server, mut nvim) = opened(script, options).await;
    nvim.task("AgentAsk what does f return?").await;
    nvim.command("AgentAsk explain more").await;
    server.requests_seen(2).await;
    nvim.screen.shows("# explain more").await;
    nvim.resize(80, 12).await;
    nvim.command("call win_gotoid(bufwinid('sextant://answer'))").await;
    nvim.command_shows("AgentTrace", "# Trace").await;
    let gone = "return (vim.wait(30000, function() return vim.fn.bufwinid('sextant://answer') == -1 end, 10))";
    assert!(nvim.lua::<bool>(gone).await, "{}", nvim.screen.text());
    held.notify_one();
    nvim.finished().await;
    nvim.keys("q").await;
    nvim.screen.shows("line 30 of it").await;
}
