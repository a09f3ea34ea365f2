//! The room on the screen: whatever windows of ours are open, the code keeps half of it, and what gave way comes back.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
const PAGES: [(&str, &str); 6] = [
    ("AgentHistory", "history"),
    ("AgentDiff", "diff"),
    ("AgentLog", "log"),
    ("AgentTrace", "trace"),
    ("AgentStats", "statistics"),
    ("AgentMemory", "memory"),
];

fn edit(old: &str, new: &str) -> Reply {
    step("edit_file", change("a.py", old, new), false)
}

fn two_steps() -> Reply {
    let step = |symbol: &str| json!({"title": format!("change {symbol}"), "symbols": [format!("a.py::{symbol}")], "because": "asked", "expect": "changed"});
    Reply::Json(json!({"title": "Two changes", "reason": "asked", "steps": [step("f"), step("g")], "confidence": 1}))
}

async fn started(script: Vec<Reply>, plan: &str) -> (Project, ModelServer, Nvim) {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start(script).await;
    let options = options(&server).replacen('{', &format!("{{ window = {{ plan = '{plan}' }}, "), 1);
    let nvim = Nvim::on_screen(&project, &options, &["ruff"]).await;
    nvim.resize(80, 24).await;
    nvim.command("set laststatus=2").await;
    nvim.edit("a.py").await;
    nvim.command("let g:code = win_getid()").await;
    (project, server, nvim)
}

/// Waits for windows with these names, the code's first, from top to bottom; asserts that each has its room.
async fn shows(nvim: &Nvim, names: &[&str]) {
    let shown = "vim.tbl_map(function(win)
        local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
        return vim.fn.win_gettype(win) == 'quickfix' and 'list' or vim.fs.basename(name)
    end, vim.tbl_filter(function(win)
        return vim.api.nvim_win_get_config(win).relative == ''
    end, vim.api.nvim_tabpage_list_wins(0)))";
    let code = "vim.api.nvim_win_get_height(vim.g.code) >= math.ceil(vim.o.lines / 2)";
    let is_so = format!("vim.deep_equal({shown}, vim.json.decode('{}')) and {code}", json!(names));
    let holds: bool = nvim.lua(&format!("return (vim.wait(20000, function() return {is_so} end, 10))")).await;
    let windows: Value = nvim.lua(&format!("return {shown}")).await;
    assert!(holds, "{windows} is not {names:?}, or the code is too low\n{}", nvim.screen.text());
    let least: usize = nvim
        .lua("return math.min(unpack(vim.tbl_map(vim.api.nvim_win_get_height, vim.api.nvim_tabpage_list_wins(0))))")
        .await;
    assert!(least >= 3, "{}", nvim.screen.text());
}

async fn is_in(nvim: &Nvim, name: &str) {
    let here: bool = nvim
        .lua(&format!("return (vim.wait(20000, function() return vim.fs.basename(vim.api.nvim_buf_get_name(0)) == '{name}' end, 10))"))
        .await;
    assert!(here, "not in {name}\n{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_page_the_code_keeps_half_of_the_screen_and_the_answer_comes_back() {
    let (_project, _server, mut nvim) = started(vec![edit("return 1", "return undefined_name")], "float").await;
    nvim.task("AgentAsk! change f").await;
    shows(&nvim, &["a.py", "answer", "list"]).await;
    for (command, name) in PAGES {
        nvim.command(command).await;
        is_in(&nvim, name).await;
        shows(&nvim, &["a.py", "list", name]).await;
    }
    nvim.keys("q").await;
    shows(&nvim, &["a.py", "list", "answer"]).await;
    is_in(&nvim, "a.py").await;
    // The one that was read in the answer's window reads on there.
    nvim.command("AgentShow").await;
    nvim.command("AgentDiff").await;
    is_in(&nvim, "diff").await;
    nvim.keys("q").await;
    is_in(&nvim, "answer").await;
    // `:only` is the user's word.
    nvim.command("AgentLog").await;
    is_in(&nvim, "log").await;
    nvim.command("call win_gotoid(g:code) | only").await;
    nvim.command("AgentHistory").await;
    shows(&nvim, &["a.py", "history"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_waits_for_the_page_that_the_user_reads() {
    let (_project, _server, mut nvim) =
        started(vec![edit("return 1", "return undefined_name"), says("It returns one.")], "float").await;
    nvim.task("AgentAsk! change f").await;
    nvim.command("AgentDiff").await;
    is_in(&nvim, "diff").await;
    nvim.task("AgentAsk what does f return?").await;
    shows(&nvim, &["a.py", "list", "diff"]).await;
    nvim.keys_show("q", "It returns one.").await;
    shows(&nvim, &["a.py", "list", "answer"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_in_a_split_leaves_the_code_its_half() {
    let script = vec![edit("return 1", "return undefined_name"), two_steps()];
    let (_project, _server, mut nvim) = started(script, "split").await;
    nvim.task("AgentAsk! change f").await;
    shows(&nvim, &["a.py", "answer", "list"]).await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.screen.shows("change g").await;
    shows(&nvim, &["a.py", "list", "plan"]).await;
    nvim.command("AgentLog").await;
    is_in(&nvim, "log").await;
    shows(&nvim, &["a.py", "list", "log"]).await;
    nvim.keys("q").await;
    is_in(&nvim, "plan").await;
    nvim.keys("q").await;
    shows(&nvim, &["a.py", "list", "answer"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_and_a_smaller_screen_leave_the_code_its_half() {
    let body: String = (0..12).map(|n| format!("    print(missing{n})\n")).collect();
    let script = vec![edit("    return 1\n", &format!("{body}    return 1\n"))];
    let (_project, _server, mut nvim) = started(script, "float").await;
    nvim.resize(80, 50).await;
    nvim.task("AgentAsk! change f").await;
    shows(&nvim, &["a.py", "answer", "list"]).await;
    let heights = "vim.tbl_map(vim.api.nvim_win_get_height, vim.api.nvim_tabpage_list_wins(0))";
    assert_eq!(nvim.lua::<Vec<usize>>(&format!("return vim.list_slice({heights}, 2)")).await, [11, 10]);
    nvim.resize(80, 24).await;
    shows(&nvim, &["a.py", "answer", "list"]).await;
    assert_eq!(nvim.lua::<Vec<usize>>(&format!("return vim.list_slice({heights}, 2)")).await, [4, 4]);
    nvim.command("cclose").await;
    shows(&nvim, &["a.py", "answer"]).await;
    let grows = format!("return (vim.wait(20000, function() return {heights}[2] == 9 end, 10))");
    assert!(nvim.lua::<bool>(&grows).await, "{}", nvim.screen.text());
}

/// The rows of the plan's float, from its upper border to its lower one, and those of the answer's window.
async fn rows(nvim: &Nvim) -> [[usize; 2]; 2] {
    nvim.lua(
        "local float, answer = vim.fn.bufwinid('sextant://plan'), vim.fn.bufwinid('sextant://answer')
        local config, top = vim.api.nvim_win_get_config(float), vim.api.nvim_win_get_position(answer)[1]
        return { { config.row, config.row + config.height + 1 }, { top, top + vim.api.nvim_win_get_height(answer) - 1 } }",
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_floats_lies_above_the_answer_and_leaves_the_code_in_sight() {
    let (_project, _server, mut nvim) = started(vec![says("It returns one."), two_steps()], "float").await;
    nvim.command("AgentAsk what does f return?").await;
    nvim.finished().await;
    nvim.command("AgentPlan change both").await;
    nvim.wait("SextantPlan").await;
    for part in ["change f", "change g", "waits for approval", "def f() -> int:", "return 2"] {
        nvim.screen.shows(part).await;
    }
    let [plan, answer] = rows(&nvim).await;
    assert!(plan[1] < answer[0] && plan[0] >= 11 && answer[1] - answer[0] == 2, "{}", nvim.screen.text());
    let text = nvim.screen.text();
    let in_answer: Vec<&str> = text.lines().skip(answer[0] + 1).take(2).collect();
    assert!(in_answer.iter().all(|row| !row.is_empty() && !row.starts_with('~')), "{text}");
    // The answer has its lines back.
    nvim.keys("q").await;
    let grows = "vim.fn.winheight(vim.fn.bufwinid('sextant://answer')) == 8";
    assert!(nvim.lua::<bool>(&format!("return (vim.wait(20000, function() return {grows} end, 10))")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_low_screen_one_window_gives_way_to_the_plan_that_floats() {
    let (_project, _server, mut nvim) = started(vec![says("It returns one."), two_steps()], "float").await;
    nvim.resize(40, 10).await;
    nvim.command("AgentAsk what does f return?").await;
    nvim.finished().await;
    nvim.screen.shows("It returns one.").await;
    nvim.command("AgentPlan change both").await;
    nvim.wait("SextantPlan").await;
    nvim.screen.shows("change g").await;
    let windows = |count: usize| {
        format!("return (vim.wait(20000, function() return #vim.api.nvim_tabpage_list_wins(0) == {count} end, 10))")
    };
    let answer = "return vim.fn.bufwinid('sextant://answer')";
    assert_eq!(nvim.lua::<i64>(answer).await, -1, "{}", nvim.screen.text());
    nvim.keys("q").await;
    assert!(nvim.lua::<bool>(&windows(2)).await && nvim.lua::<i64>(answer).await > 0, "{}", nvim.screen.text());
    // A larger screen has room for both, and a lower one has not.
    nvim.resize(80, 24).await;
    nvim.command("AgentPlan").await;
    assert!(nvim.lua::<bool>(&windows(3)).await, "{}", nvim.screen.text());
    nvim.resize(40, 10).await;
    assert!(nvim.lua::<bool>(&windows(2)).await, "{}", nvim.screen.text());
    is_in(&nvim, "plan").await;
    nvim.resize(80, 24).await;
    assert!(nvim.lua::<bool>(&windows(3)).await, "{}", nvim.screen.text());
    let [plan, answer] = rows(&nvim).await;
    assert!(plan[1] < answer[0], "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_its_room_below_a_plan_that_floats_or_in_its_place() {
    let (_project, _server, mut nvim) = started(vec![two_steps()], "float").await;
    nvim.command("AgentPlan change both").await;
    nvim.wait("SextantPlan").await;
    nvim.command("AgentTrace").await;
    is_in(&nvim, "trace").await;
    shows(&nvim, &["a.py", "trace"]).await;
    assert!(!nvim.screen.text().contains("Sextant plan ·"), "{}", nvim.screen.text());
    nvim.keys("q").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
}
