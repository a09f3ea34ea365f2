//! Several tabs, several projects, several windows: each question is about the right one.

use serde_json::{Value, json};

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def alpha() -> int:\n    return 1\n";

fn breaks() -> Reply {
    step("edit_file", change("a.py", "return 1", "return missing"), false)
}

fn plan(title: &str) -> Reply {
    let step = json!({"title": "change alpha", "symbols": ["a.py::alpha"], "because": "asked", "expect": "changed"});
    Reply::Json(json!({"title": title, "reason": "asked", "steps": [step], "confidence": 1}))
}

async fn shown_here(nvim: &Nvim, name: &str) -> bool {
    nvim.lua(&format!("return vim.fn.bufwinid('sextant://{name}') ~= -1")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_windows_open_in_the_tab_that_the_user_asks_in() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("one"), says("two"), plan("Plan it")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.task("AgentAsk say one").await;
    nvim.command("tabedit a.py").await;
    assert!(!shown_here(&nvim, "answer").await);
    nvim.task("AgentAsk say two").await;
    assert!(shown_here(&nvim, "answer").await, "the answer is where the question was asked");
    assert!(nvim.answer().await.contains("two"));

    nvim.command_until("AgentPlan plan it", "SextantPlan").await;
    nvim.command("tabfirst").await;
    assert!(!shown_here(&nvim, "plan").await);
    nvim.command("AgentPlan").await;
    let name: String = nvim.lua("return vim.api.nvim_buf_get_name(0)").await;
    assert_eq!(name, "sextant://plan", "it is shown in this tab as well, and entered");
    // Open and not entered: asked for again, it is.
    nvim.command("wincmd p").await;
    nvim.command("AgentPlan").await;
    let there: Value = nvim
        .lua("local n = 0; for _, w in ipairs(vim.api.nvim_tabpage_list_wins(0)) do if vim.api.nvim_win_get_config(w).relative ~= '' then n = n + 1 end end return { vim.api.nvim_buf_get_name(0), n }")
        .await;
    assert_eq!(there, json!(["sextant://plan", 1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_projects_in_one_neovim_each_have_their_own_list_and_plan() {
    let one = Project::named("one", &[("a.py", TEXT)]);
    let two = Project::named("two", &[("a.py", TEXT)]);
    let server = ModelServer::start([breaks(), breaks(), plan("In one"), says("nothing")]).await;
    let mut nvim = Nvim::start(&one, &options(&server), &["basedpyright"]).await;
    for project in [&one, &two] {
        nvim.edit(&project.root().join("a.py").display().to_string()).await;
        nvim.task("AgentAsk break alpha").await;
        let list: Value = nvim
            .lua("local q = vim.fn.getqflist({ items = 1, title = 1 }); return { vim.api.nvim_buf_get_name(q.items[1].bufnr), q.title }")
            .await;
        let name = project.root().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(list[0], project.root().join("a.py").display().to_string());
        assert_eq!(list[1], format!("Sextant: break alpha ({name})"));
    }
    // The plan in the window is of the first project, the last command of the second: the first is meant.
    nvim.edit(&one.root().join("a.py").display().to_string()).await;
    nvim.command_until("AgentPlan change alpha in one", "SextantPlan").await;
    nvim.command("wincmd p").await;
    nvim.edit(&two.root().join("a.py").display().to_string()).await;
    nvim.task("AgentAsk say nothing").await;
    server.push(step("edit_file", change("a.py", "return missing", "return 2"), false));
    nvim.command("AgentPlan").await;
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("1 of 1 step done"), "{summary}");
    assert!(one.read("a.py").contains("return 2") && two.read("a.py").contains("return missing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_and_redo_are_about_the_project_of_the_file_at_hand() {
    let one = Project::named("one", &[("a.py", TEXT)]);
    let two = Project::named("two", &[("a.py", TEXT)]);
    let server = ModelServer::start([breaks(), breaks()]).await;
    let mut nvim = Nvim::start(&one, &options(&server), &[]).await;
    for project in [&one, &two] {
        nvim.edit(&project.root().join("a.py").display().to_string()).await;
        nvim.task("AgentAsk break alpha").await;
    }
    nvim.edit(&one.root().join("a.py").display().to_string()).await;
    nvim.task("AgentUndo").await;
    let broken = || [&one, &two].map(|project| project.read("a.py").contains("missing"));
    assert_eq!(broken(), [false, true], "the last command was about the other project");
    nvim.edit(&two.root().join("a.py").display().to_string()).await;
    nvim.task("AgentUndo").await;
    assert_eq!(broken(), [false, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn asked_from_a_window_of_ours_the_last_code_is_meant() {
    let project =
        Project::new(&[("a.py", &format!("{TEXT}\n\ndef beta() -> int:\n    return 2\n")), ("b.py", "x = 1\n")]);
    let server = ModelServer::start([says("one"), says("two"), says("three")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "b.py").await;
    nvim.command("split a.py").await;
    nvim.command("6").await;
    nvim.task("AgentAsk say one").await;
    nvim.command("call win_gotoid(bufwinid('sextant://answer'))").await;
    nvim.task("AgentAsk say two").await;
    let asked = server.requests()[1].said_by("user").to_owned();
    assert!(asked.contains("a.py::beta"), "the cursor in the code counts: {asked}");
    nvim.task("1,2AgentAsk say three").await;
    let asked = server.requests()[2].said_by("user").to_owned();
    assert!(asked.contains("a.py::beta"), "a range of the answer is no range of the code: {asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_refused_leaves_the_answer_as_it_is() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("the answer to keep"), Reply::Stall("{".into())]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.task("AgentAsk say one").await;
    nvim.command("call win_gotoid(bufwinid('sextant://answer'))").await;
    nvim.command("bwipeout a.py").await;
    let message = nvim.command_until("AgentAsk say two", "message").await;
    assert!(message["text"].as_str().is_some_and(|text| text.contains("this buffer is not a file")), "{message}");
    nvim.failed().await;
    assert!(nvim.answer().await.contains("the answer to keep"));

    nvim.command("wincmd w").await;
    nvim.edit("a.py").await;
    nvim.command("AgentAsk say three").await;
    server.requests_seen(2).await;
    for (command, refusal) in [("AgentAnswer 1", "no question is open"), ("AgentUndo", "a task is running already")] {
        let message = nvim.command_until(command, "message").await;
        assert!(message["text"].as_str().is_some_and(|text| text.contains(refusal)), "{message}");
    }
    assert!(nvim.answer().await.starts_with("# say three"), "{}", nvim.answer().await);
    let status: String = nvim.lua("return require('sextant.ui.show').status").await;
    assert_eq!(status, "running", "one that is refused ends nothing");
    let failure = nvim.command_until("AgentStop", "SextantFailed").await;
    let failure = if failure["failure"]["kind"] == "cancelled" { failure } else { nvim.wait("SextantFailed").await };
    assert_eq!(failure["failure"]["message"], "stopped, nothing was changed", "{failure}");
    assert!(!failure["failure"]["hint"].as_str().unwrap_or_default().contains("AgentUndo"), "{failure}");
}

/// 64 KB are the most: a longer one is refused by the binary, and one that would be costly to send to it by the editor.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_too_long_is_refused_before_the_model_is_asked() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([says("the answer to keep"), says("and one more")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.task("AgentAsk say one").await;
    for command in ["AgentAsk", "AgentPlan"] {
        for kilobytes in [65, 2_000] {
            let words = format!("vim.cmd['{command}']({{ args = {{ ('x'):rep({kilobytes} * 1024) }} }}) return true");
            nvim.lua::<bool>(&words).await;
            let refused = nvim.failed().await["message"].to_string();
            let expected = format!("the request has {kilobytes} KB, and requests of up to 64 KB are taken");
            assert!(refused.contains(&expected), "{command}: {refused}");
        }
    }
    assert_eq!(server.requests().len(), 1, "the model is not asked");
    nvim.task("AgentAsk say two").await;
    assert!(nvim.answer().await.contains("and one more"), "{}", nvim.answer().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_page_takes_no_focus_from_a_user_who_has_gone_elsewhere() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([step("edit_file", change("a.py", "return 1", "return 2"), false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change alpha").await;
    let here = "return { vim.fn.tabpagenr(), vim.fn.winnr(), vim.api.nvim_get_mode().mode, vim.fn.expand('%:t') }";
    for (command, name, goes) in [("AgentDiff", "diff", "tabnew a.py"), ("AgentHistory", "history", "aboveleft split")]
    {
        let elsewhere: Value = nvim.lua(&format!("vim.cmd('{command}') vim.cmd('{goes}') {here}")).await;
        nvim.screen.shows(&format!("the {name} is ready; :{command} shows it")).await;
        assert!(!shown_here(&nvim, name).await, "{}", nvim.screen.text());
        assert_eq!(nvim.lua::<Value>(here).await, elsewhere, "{command}");
    }
    nvim.command_shows("AgentTrace", "# Trace").await;
    assert!(shown_here(&nvim, "trace").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_asked_for_earlier_does_not_take_the_place_of_a_later_one() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([step("edit_file", change("a.py", "return 1", "return 2"), false)]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "a.py").await;
    nvim.task("AgentAsk! change alpha").await;
    nvim.command_shows("AgentDiff", "+    return 2").await;
    let late = "require('sextant.ui.trace').open({ markdown = '# Changes', root = vim.fn.getcwd() }, 'history')";
    nvim.lua::<bool>(&format!("{late} return true")).await;
    assert!(shown_here(&nvim, "diff").await, "{}", nvim.screen.text());
    nvim.command_shows("AgentHistory", "change alpha").await;
    assert!(shown_here(&nvim, "history").await);
}
