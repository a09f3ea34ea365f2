//! Our windows on the screen: titles and keys by phase, sizes, and nothing of the user's Markdown in them.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
const OFFLINE: &str = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";

fn two_steps(file: &str) -> Reply {
    let step = |symbol: &str| json!({"title": format!("change {symbol}"), "symbols": [format!("{file}::{symbol}")], "because": "asked", "expect": "changed"});
    Reply::Json(json!({"title": "Two changes", "reason": "asked", "steps": [step("f"), step("g")], "confidence": 1}))
}

fn refused() -> Reply {
    Reply::Status(401, vec![], "{\"error\": {\"message\": \"no\"}}".into())
}

async fn floats(nvim: &Nvim) -> usize {
    nvim.lua("local n = 0; for _, w in ipairs(vim.api.nvim_list_wins()) do if vim.api.nvim_win_get_config(w).relative ~= '' then n = n + 1 end end return n")
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_cannot_be_made_leaves_none_to_run() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", TEXT)]);
    let server = ModelServer::start([two_steps("a.py"), refused(), refused()]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    nvim.keys("q").await;
    nvim.edit("b.py").await;
    nvim.failed_task("AgentPlan change these").await;
    nvim.screen.shows("Sextant plan · failed").await;
    let screen = nvim.screen.text();
    assert!(!screen.contains("change f") && !screen.contains("approve"), "{screen}");
    let lines: Vec<String> = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, 2, false)").await;
    assert!(lines[0].starts_with("✗ ") && lines[1].starts_with("  → check the key"), "{lines:?}");
    let asked = server.requests().len();
    for keys in ["<CR>", "s"] {
        nvim.keys_show(keys, "there is no plan to run").await;
    }
    assert_eq!(
        (server.requests().len(), project.read("a.py"), project.read("b.py")),
        (asked, TEXT.into(), TEXT.into())
    );
    // The binary itself has none to run, whatever a window sends.
    nvim.command("lua require('sextant.rpc.channel').send('approve', { steps = 'all' })").await;
    assert!(nvim.failed().await.to_string().contains("none to approve"));
    assert_eq!((project.read("a.py"), project.read("b.py")), (TEXT.into(), TEXT.into()));
    nvim.command_shows("AgentPlan", "Sextant plan · failed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_taken_back_leaves_the_one_that_stands() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([two_steps("a.py"), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.keys("<CR>").await;
    server.requests_seen(2).await;
    nvim.command("wincmd p").await;
    nvim.command_shows("AgentPlan another", "Sextant plan · waits for the running task").await;
    nvim.command_until("AgentStop next", "SextantFailed").await;
    nvim.screen.shows("Sextant plan · running step 1 of 2").await;
    nvim.screen.shows("change f").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_without_steps_opens_no_window() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan make this file type-clean", "SextantPlan").await;
    nvim.screen.shows("Sextant: Nothing to apply: Nothing is reported here").await;
    assert!(!nvim.prompts().await);
    assert_eq!(floats(&nvim).await, 0, "{}", nvim.screen.text());
    let here: String = nvim.lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))").await;
    assert_eq!(here, "a.py");
}

#[tokio::test(flavor = "multi_thread")]
async fn title_and_keys_follow_the_phase() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = |old: &str, new: &str| step("edit_file", change("a.py", old, new), false);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_shows("AgentPlan change both", "Sextant plan · planning").await;
    nvim.screen.shows("<C-c> stop · q close").await;
    assert!(!nvim.screen.text().contains("approve"), "nothing can be approved yet");
    server.requests_seen(1).await;
    nvim.stopped_by_key().await;
    nvim.screen.shows("Sextant plan · stopped").await;
    server.push(two_steps("a.py"));
    nvim.command("wincmd p").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    nvim.screen.shows("<CR> approve and run").await;
    server.push(edit("return 1", "return 11"));
    server.push(Reply::Stall("{".into()));
    nvim.keys_show("<CR>", "Sextant plan · running step 2 of 2").await;
    assert!(!nvim.screen.text().contains("approve"), "it runs already");
    server.requests_seen(4).await;
    nvim.stopped_by_key().await;
    nvim.screen.shows("Sextant plan · paused, 1 of 2 steps done").await;
    nvim.screen.shows("a go on").await;
    server.push(edit("return 2", "return 22"));
    nvim.keys("<CR>").await;
    nvim.finished().await;
    nvim.screen.shows("Sextant plan · done, 2 of 2 steps").await;
    assert!(!nvim.screen.text().contains("approve"), "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_fits_the_screen_whatever_becomes_of_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([two_steps("a.py")]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.command("set winborder=double").await;
    nvim.edit("a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.screen.shows("╔").await;
    for (columns, lines) in [(40, 12), (120, 40)] {
        nvim.resize(columns, lines).await;
        let fits: bool = nvim
            .lua(&format!("return (vim.wait(5000, function() local c = vim.api.nvim_win_get_config(0); return vim.o.columns == {columns} and c.relative == 'editor' and c.width + c.col + 2 <= {columns} and c.height + c.row + 2 <= {lines} and c.width > {columns} / 2 end, 10))"))
            .await;
        assert!(fits, "{columns} {lines}\n{}", nvim.screen.text());
    }
    // Without a border there is no place for a title; the window opens all the same.
    nvim.keys("q").await;
    nvim.screen.hides("╔").await;
    nvim.command("set winborder=none").await;
    nvim.command_shows("AgentPlan", "change f").await;
    assert!(!nvim.screen.text().contains("╔"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_set_for_markdown_and_spelling_stays_out_of_our_windows() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([two_steps("a.py"), says("a_word and another_wrod")]).await;
    let mut nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.command("set spell list").await;
    nvim.command("let g:heard = 0 | autocmd FileType markdown let g:heard += 1").await;
    nvim.edit("a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    let of_plan: Value = nvim.lua("return { vim.bo.filetype, vim.wo.spell, vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil, #vim.lsp.get_clients({ bufnr = 0 }) }").await;
    assert_eq!(of_plan, json!(["sextant-plan", false, true, 0]));
    nvim.keys("q").await;
    nvim.task("AgentAsk say something").await;
    nvim.command("call win_gotoid(bufwinid('sextant://answer'))").await;
    let of_answer: Value = nvim
        .lua("return { vim.bo.filetype, vim.wo.spell, vim.wo.list, vim.diagnostic.is_enabled({ bufnr = 0 }) }")
        .await;
    assert_eq!(of_answer, json!(["sextant-answer", false, false, false]));
    nvim.command("AgentTrace").await;
    let shown = "return (vim.wait(60000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://trace' end, 10))";
    assert!(nvim.lua::<bool>(shown).await);
    let of_page: Value = nvim.lua("return { vim.bo.filetype, vim.wo.spell, vim.g.heard }").await;
    assert_eq!(of_page, json!(["sextant-page", false, 0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_offline_model_recommends_what_neovim_has() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut nvim = Nvim::open(&project, OFFLINE, &["ruff"], "a.py").await;
    nvim.task("AgentAsk write a poem about f").await;
    let answer = nvim.answer().await;
    assert!(answer.contains("set `model` in `setup()`") && !answer.contains("[model]"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waited_behind_one_without_steps_has_its_window() {
    let project = Project::shop();
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &["ruff"], "src/shop/inventory.py").await;
    nvim.command("AgentPlan write a poem").await;
    nvim.command("AgentPlan clean this file").await;
    assert_eq!(nvim.wait("SextantPlan").await["steps"], 0);
    assert_eq!(nvim.wait("SextantPlan").await["steps"], 4);
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    assert_eq!(floats(&nvim).await, 1, "{}", nvim.screen.text());
    let here: String = nvim.lua("return vim.api.nvim_buf_get_name(0)").await;
    assert_eq!(here, "sextant://plan", "the keys of the plan are no text in the code");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_reason_leaves_the_steps_their_room_and_the_running_one_is_followed() {
    let names = ["f", "g", "h", "i", "j", "k"];
    let functions: Vec<String> =
        names.iter().zip(1..).map(|(name, at)| format!("def {name}() -> int:\n    return {at}0\n")).collect();
    let project = Project::new(&[("a.py", &functions.join("\n\n"))]);
    let planned = |name: &&str| json!({"title": format!("change {name}"), "symbols": [format!("a.py::{name}")], "because": "asked", "expect": "changed"});
    let steps: Vec<Value> = names.iter().map(planned).collect();
    let reason = format!("{}and that is the end", "it was asked for with many words, ".repeat(10));
    let plan = Reply::Json(json!({"title": "Six changes", "reason": reason, "steps": steps, "confidence": 1}));
    let edit = |at: i32| {
        let (old, new) = (format!("return {at}0"), format!("return {at}1"));
        step("edit_file", change("a.py", old, new), false)
    };
    let edits: Vec<Reply> = (1..6).map(edit).collect();
    let server = ModelServer::start([vec![plan], edits, vec![Reply::Stall("{".into())]].concat()).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change all", "SextantPlan").await;
    nvim.screen.shows("… <Tab>").await;
    nvim.screen.shows("- [ ] change i").await;
    nvim.keys_show("<Tab>", "and that is the end").await;
    nvim.keys_show("<Tab>", "… <Tab>").await;
    nvim.keys_show("a", "Sextant plan · running step 6 of 6").await;
    nvim.screen.shows("- [>] change k").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seconds_of_a_progress_message_go_on() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let nvim = Nvim::on_screen(&project, &options(&server), &[]).await;
    if !nvim.has("nvim-0.12").await {
        return;
    }
    nvim.edit("a.py").await;
    nvim.command("AgentPlan change both").await;
    // The window's own title has the words: they are not repeated.
    nvim.screen.shows("Sextant plan · planning · waiting for the model 1 s").await;
    assert!(!nvim.screen.text().contains("Sextant: "), "{}", nvim.screen.text());
    nvim.keys("q").await;
    nvim.screen.shows("Sextant: waiting for the model").await;
    nvim.screen.hides("waiting for the model 1 s").await;
    nvim.screen.shows("Sextant: waiting for the model").await;
    // Another message is not drawn over.
    nvim.command_shows("echo 'of the user'", "of the user").await;
    let later = "local before = require('sextant.status').now().elapsed
        return (vim.wait(30000, function() return require('sextant.status').now().elapsed > before + 1.5 end, 10))";
    assert!(nvim.lua::<bool>(later).await);
    assert!(nvim.screen.text().contains("of the user"), "{}", nvim.screen.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_shows_the_text_of_a_window_again_and_the_plan_as_it_stands() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([two_steps("a.py")]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.command_until("AgentPlan change both", "SextantPlan").await;
    nvim.screen.shows("Sextant plan · waiting for approval").await;
    let text = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
    let plan: String = nvim.lua(text).await;
    nvim.command("edit").await;
    assert_eq!(nvim.lua::<String>(text).await, plan, "the plan's window");
    nvim.keys_show("e", "makes this text the plan").await;
    let document: String = nvim.lua(text).await;
    nvim.keys("ggddx").await;
    nvim.command("edit!").await;
    assert_eq!(nvim.lua::<String>(text).await, document, "the plan's text");
    nvim.keys("<Cmd>q!<CR>").await;
    nvim.command_shows("AgentPlan", "Sextant plan · waiting for approval").await;
    assert_eq!(nvim.lua::<String>(text).await, plan);
}
