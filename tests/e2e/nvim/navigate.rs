//! Finding and renaming without a model: a place is gone to, uses are a list, a rename is one edit of the server's.

use crate::nvim::ask::{BOTH, options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use serde_json::json;

const HELPERS: &str = "def helper(a: int) -> int:\n    return a\n\n\ndef other() -> int:\n    return helper(1)\n";
const MAIN: &str = "from helpers import helper\n\n\ndef run() -> int:\n    return helper(2)\n";
const OFFLINE: &str =
    "{ model = { provider = 'offline' }, diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn where_is_goes_there_and_the_jumplist_leads_back() {
    let project = Project::new(&[("helpers.py", HELPERS), ("main.py", MAIN)]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &[], "main.py").await;
    nvim.command("5").await;
    nvim.task("AgentAsk where is other").await;
    assert!(holds(&nvim, "vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'helpers.py'").await);
    assert_eq!(nvim.lua::<Vec<usize>>("return vim.api.nvim_win_get_cursor(0)").await, [5, 4]);
    assert_eq!(nvim.lua::<String>("return vim.fn.bufname()").await, "helpers.py", "named as `:edit helpers.py` does");
    nvim.keys("<C-o>").await;
    assert!(holds(&nvim, "vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'main.py' and vim.fn.line('.') == 5").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_whose_buffer_is_fixed_keeps_it_and_the_code_opens_in_another() {
    let project = Project::new(&[("helpers.py", HELPERS), ("main.py", MAIN)]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &[], "main.py").await;
    nvim.command("set winfixbuf").await;
    for _ in 0..2 {
        nvim.task("AgentAsk where is other").await;
        assert!(holds(&nvim, "vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'helpers.py'").await);
        assert_eq!(nvim.lua::<usize>("return vim.fn.line('.')").await, 5);
        assert!(!nvim.lua::<bool>("return vim.wo.winfixbuf").await, "the new window is as any other");
        assert!(nvim.lua::<bool>("return #vim.fn.win_findbuf(vim.fn.bufnr('main.py')) == 1").await);
        nvim.command("call win_gotoid(win_findbuf(bufnr('main.py'))[0])").await;
    }
    // The second one went into the window of the first.
    let shown: usize = nvim.lua("return #vim.fn.win_findbuf(vim.fn.bufnr('helpers.py'))").await;
    assert_eq!(shown, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_uses_fills_a_list_by_the_servers_references() {
    let project = Project::new(&[("helpers.py", HELPERS), ("main.py", MAIN), ("note.py", "helper = 'a word'\n")]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &["basedpyright"], "helpers.py").await;
    nvim.task("AgentAsk who uses helper").await;
    assert!(holds(&nvim, "#vim.fn.getqflist() == 3").await, "{:?}", nvim.quickfix().await);
    let names: Vec<String> =
        nvim.lua("return vim.tbl_map(function(item) return vim.fn.bufname(item.bufnr) end, vim.fn.getqflist())").await;
    assert!(names.iter().all(|name| !name.contains('/')), "{names:?}");
    let list = nvim.quickfix().await;
    assert!(list[0].starts_with("Sextant: uses of helpers.py::helper"), "{list:?}");
    let at_names = "vim.iter(vim.fn.getqflist()):all(function(item)
        local line = vim.fn.readfile(vim.fn.bufname(item.bufnr))[item.lnum]
        return vim.startswith(line:sub(item.col), 'helper')
    end)";
    assert!(nvim.lua::<bool>(&format!("return {at_names}")).await, "each entry has the column of the name");
    assert!(
        list.iter().any(|line| line.starts_with("main.py:5: ") && line.contains("run: return helper(2)")),
        "{list:?}"
    );
    assert!(!list.iter().any(|line| line.contains("note.py")), "a word of the same name is no use: {list:?}");
    let here: String = nvim.lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))").await;
    assert_eq!(here, "helpers.py", "the focus stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_needs_no_model_and_is_one_undo() {
    let project = Project::new(&[("helpers.py", HELPERS), ("main.py", MAIN)]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, BOTH, "helpers.py").await;
    let summary = nvim.task("AgentAsk rename helper to assist").await;
    assert!(summary.contains("changed"), "{summary}\n{}", nvim.answer().await);
    assert_eq!(nvim.text().await, HELPERS.replace("helper", "assist"));
    assert_eq!(
        project.read("main.py"),
        MAIN.replace("import helper", "import assist").replace("helper(2)", "assist(2)")
    );
    nvim.task("AgentUndo").await;
    assert_eq!((project.read("helpers.py").as_str(), project.read("main.py").as_str()), (HELPERS, MAIN));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_takes_every_definition_that_is_one_for_the_server() {
    let helpers = "from typing import overload\n\n\n@overload\ndef helper(a: int) -> int: ...\n@overload\n\
                   def helper(a: str) -> str: ...\ndef helper(a: int | str) -> int | str:\n    return a\n";
    let project = Project::new(&[("helpers.py", helpers), ("main.py", MAIN)]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, BOTH, "helpers.py").await;
    let summary = nvim.task("AgentAsk rename helper to assist").await;
    assert!(summary.contains("changed"), "{summary}\n{}", nvim.answer().await);
    assert_eq!(nvim.text().await, helpers.replace("helper", "assist"));
    assert!(project.read("main.py").contains("return assist(2)"));
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_list_the_entry_under_the_cursor_is_meant() {
    let project = Project::new(&[("helpers.py", HELPERS), ("main.py", MAIN)]);
    let says = says("so");
    let server = ModelServer::start([says]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "main.py").await;
    nvim.command("call setqflist([{'filename': 'helpers.py', 'lnum': 6, 'text': 'here'}]) | copen").await;
    nvim.task("AgentAsk explain this").await;
    let asked = server.requests()[0].said_by("user").to_owned();
    assert!(asked.contains("helpers.py::other") && !asked.contains("main.py::run"), "{asked}");
}

/// A file that was edited without a window is named, once a jump or a review opens it, as `:edit` names it.
#[tokio::test(flavor = "multi_thread")]
async fn code_that_the_agent_has_opened_is_named_from_the_folder() {
    let project = Project::new(&[("main.py", MAIN), ("pkg/helpers.py", HELPERS)]);
    let change = change("pkg/helpers.py", "helper(1)", "helper(11)");
    let create = json!({"path": "pkg/new.py", "content": "x = 1\n"});
    let script = [step("edit_file", change, true), step("write_file", create, false)];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &[], "main.py").await;
    nvim.task("AgentAsk! change pkg/helpers.py and create pkg/new.py").await;
    nvim.command("AgentReview").await;
    assert!(holds(&nvim, "vim.fn.bufname() == 'pkg/helpers.py'").await, "{}", nvim.screen.text());
    nvim.command("AgentReview close").await;
    nvim.command("AgentDiff").await;
    assert!(holds(&nvim, "vim.fn.bufname() == 'sextant://diff'").await);
    nvim.keys("D").await;
    assert!(holds(&nvim, "vim.wo.diff and vim.fn.bufname() == 'pkg/helpers.py'").await, "{}", nvim.screen.text());
    let names: Vec<String> = nvim
        .lua("return vim.tbl_map(function(info) return vim.fn.bufname(info.bufnr) end, vim.fn.getbufinfo({ buflisted = 1 }))")
        .await;
    assert!(names.contains(&"pkg/new.py".to_owned()) && names.iter().all(|name| !name.starts_with('/')), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_only_imported_is_found_with_a_server_and_without() {
    let files = [
        ("a.py", "import os\nfrom json import dumps\n\n\ndef f() -> str:\n    return dumps(os.sep)\n"),
        ("b.py", "from json import dumps\n\nx = dumps(1)\n"),
    ];
    let library =
        "dumps is imported in a.py, line 2: from json import dumps (it is defined outside of the workspace, in ";
    for (servers, place, uses) in [
        (&["basedpyright"][..], library, "4 references to dumps"),
        (
            &[],
            "dumps is imported in a.py, line 2: from json import dumps (no language server",
            "4 lines of text with dumps",
        ),
    ] {
        let project = Project::new(&files);
        let mut nvim = Nvim::open_on_screen(&project, OFFLINE, servers, "a.py").await;
        nvim.command("6").await;
        let found = nvim.task("AgentAsk where is dumps").await;
        assert!(found.starts_with(place), "{found}");
        assert!(holds(&nvim, "vim.fn.line('.') == 2 and vim.fn.col('.') == 18").await);
        let used = nvim.task("AgentAsk who uses dumps").await;
        assert!(used.starts_with(uses), "{used}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_language_model_an_unknown_name_of_a_direct_request_is_named() {
    let project = Project::new(&[("helpers.py", HELPERS)]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &["ruff"], "helpers.py").await;
    for request in ["where is nosuch", "who uses nosuch", "read nosuch", "rename nosuch to other_name"] {
        let failure = nvim.failed_task(&format!("AgentAsk {request}")).await;
        let message = failure["message"].as_str().unwrap();
        assert_eq!(message, "there is no symbol and no file named nosuch", "{request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_is_goes_there_after_a_question_which_is_meant() {
    let twice = "def total() -> int:\n    return 1\n";
    let project = Project::new(&[("a.py", twice), ("b.py", &format!("x = 1\n\n\n{twice}")), ("main.py", "y = 1\n")]);
    let mut nvim = Nvim::open_on_screen(&project, OFFLINE, &[], "main.py").await;
    let asked = nvim.command_until("AgentAsk where is total", "SextantQuestion").await;
    assert_eq!(asked["options"].as_array().map(Vec::len), Some(2), "{asked}");
    nvim.task("AgentAnswer 2").await;
    assert!(holds(&nvim, "vim.fn.bufname() == 'b.py' and vim.fn.line('.') == 4").await, "{}", nvim.screen.text());
    assert_eq!(nvim.answer().await.matches("# where is total").count(), 1, "{}", nvim.answer().await);
}
