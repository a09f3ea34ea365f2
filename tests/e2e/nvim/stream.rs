//! A model that streams faster than a screen shows: Neovim stays free, a stop is a stop, and the editor ends.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::nvim::ask::options;
use crate::support::model_server::{Dealing, ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::scripted::calls;

const LINES: usize = 5000;
/// More than one frame has room for, however fast the machine: a stop can come in the middle of them.
const MANY: usize = 20_000;

/// Counts what is shown, and the longest time in which Neovim's loop had no turn.
const WATCH: &str = "
    _G.seen = { words = 0, longest = 0, began = vim.uv.hrtime() }
    local show = require('sextant.ui.show')
    local event = show.event
    show.event = function(text)
      if text:find('\"type\":\"words\"', 1, true) then _G.seen.words = _G.seen.words + 1 end
      return event(text)
    end
    local last, timer = vim.uv.hrtime(), vim.uv.new_timer()
    timer:start(1, 2, function()
      local now = vim.uv.hrtime()
      _G.seen.longest, last = math.max(_G.seen.longest, now - last), now
    end)
    return true";

async fn streaming(lines: usize) -> (Project, ModelServer, Nvim) {
    let text: String = (0..lines).map(|n| format!("- {n} *many* `x`\n")).collect();
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let answer = json!({"reasoning": "", "action": null, "continue": false, "confidence": 1, "answer": text});
    let server = ModelServer::dealing([Reply::Json(answer)], Dealing { characters: 6, bytes: 4096 }).await;
    let nvim = Nvim::open_on_screen(&project, &options(&server), &[], "a.py").await;
    assert!(nvim.lua::<bool>(WATCH).await);
    nvim.command("AgentAsk what is this?").await;
    (project, server, nvim)
}

async fn shown(nvim: &Nvim) -> usize {
    nvim.lua("local b = vim.fn.bufnr('sextant://answer') return b > 0 and vim.api.nvim_buf_line_count(b) or 0").await
}

/// Until so many lines are shown.
async fn reached(nvim: &Nvim, lines: usize) {
    let code = format!(
        "return (vim.wait(60000, function() local b = vim.fn.bufnr('sextant://answer')
           return b > 0 and vim.api.nvim_buf_line_count(b) > {lines} end, 5))"
    );
    assert!(nvim.lua::<bool>(&code).await, "it streams");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fast_model_is_shown_in_frames_and_whole() {
    let (_project, _server, mut nvim) = streaming(LINES).await;
    nvim.finished().await;
    let seen: Vec<f64> =
        nvim.lua("return { _G.seen.words, _G.seen.longest / 1e6, (vim.uv.hrtime() - _G.seen.began) / 1e9 }").await;
    let [words, longest, seconds] = seen[..] else { panic!("{seen:?}") };
    println!("{LINES} lines: {words} pieces in {seconds:.1} s, longest stall {longest:.1} ms");
    assert!(words <= 31.0 * seconds + 2.0, "{seen:?}");
    assert!(shown(&nvim).await > LINES, "nothing is lost");
    let last = format!("- {} *many* `x`", LINES - 1);
    assert!(nvim.answer().await.contains(&last));
    // At rest it is coloured.
    let coloured = "return vim.treesitter.highlighter.active[vim.fn.bufnr('sextant://answer')] ~= nil";
    assert!(nvim.lua::<bool>(coloured).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_the_middle_of_a_stream_is_at_rest_at_once() {
    let (_project, _server, mut nvim) = streaming(MANY).await;
    reached(&nvim, 200).await;
    let asked = Instant::now();
    nvim.failed_task("AgentStop").await;
    let took = asked.elapsed();
    let then = shown(&nvim).await;
    // Nothing comes behind the end.
    let after: usize = nvim
        .lua("vim.wait(400, function() return false end, 10) return vim.api.nvim_buf_line_count(vim.fn.bufnr('sextant://answer'))")
        .await;
    assert!(then < MANY, "the stop came in the middle: {then}");
    assert_eq!(then, after, "text goes on behind the stop");
    assert!(took < Duration::from_secs(1), "{took:?}");
    println!("from stop to rest: {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn neovim_ends_in_the_middle_of_a_stream() {
    let (_project, _server, mut nvim) = streaming(MANY).await;
    reached(&nvim, 200).await;
    let asked = Instant::now();
    nvim.lua::<bool>("vim.schedule(function() vim.cmd('qall!') end) return true").await;
    ended(&mut nvim, asked).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neovim_ends_with_its_terminal_behind_a_stop() {
    let (_project, _server, mut nvim) = streaming(LINES).await;
    reached(&nvim, 200).await;
    nvim.command("AgentStop").await;
    let asked = Instant::now();
    let hung_up = Command::new("kill").args(["-HUP", &nvim.id().to_string()]).status().expect("kill");
    assert!(hung_up.success());
    ended(&mut nvim, asked).await;
}

/// Holds an end that was asked for to its second.
async fn ended(nvim: &mut Nvim, asked: Instant) {
    let ended = tokio::time::timeout(Duration::from_secs(10), nvim.child().wait()).await;
    assert!(ended.is_ok(), "it does not end");
    let took = asked.elapsed();
    println!("to the end: {took:?}");
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_and_its_last_word_are_apart() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let read = calls("I do so.", &[("read_file", json!({"path": "a.py"}))]);
    let done = calls("I did so.", &[("done", json!({"answer": "Finished."}))]);
    let server = ModelServer::start([read, done]).await;
    let options = options(&server).replace("model = 'm',", "model = 'm', style = 'conversation', context = 64000,");
    let mut nvim = Nvim::open(&project, &options, &[], "a.py").await;
    nvim.task("AgentAsk what is this?").await;
    let answer = nvim.answered("Finished.").await;
    assert!(!answer.contains("so.Finished") && !answer.contains("so.I did"), "{answer}");
}
