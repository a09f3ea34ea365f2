//! What happens between two edits of one task: a server dies, comes back, or somebody else changes a file that is to be
//! edited next. Nothing old is called new, and no answer is complete without whoever spoke before.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::nvim::ask::{options, step};
use crate::nvim::gone::{attached, publishing};
use crate::support::mcp::McpClient;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::servers::tool;

const TEXT: &str = "def f() -> int:\n    return 1\n";
const OTHER: &str = "def g() -> int:\n    return 1\n";

fn edit(path: &str, old: &str, new: &str, proceed: bool) -> Reply {
    step("edit_file", change(path, old, new), proceed)
}

/// What the system does to a process, in Lua; `pkill` finds it among the children of Neovim.
fn kill(name: &str) -> String {
    format!(
        "vim.system({{ 'pkill', '-KILL', '-P', tostring(vim.uv.os_getpid()), '-f', '{name}' }}):wait()
         return (vim.wait(20000, function() return #vim.lsp.get_clients({{ name = '{name}' }}) == 0 end, 5))"
    )
}

/// Runs a request of two edits and this Lua between them; what the task said at its end.
async fn two_edits(nvim: &mut Nvim, model: &ModelServer, ask: &str, go: &Notify, between: &str) -> String {
    let before = model.requests().len();
    nvim.command(ask).await;
    model.requests_seen(before + 2).await;
    assert!(nvim.lua::<bool>(between).await, "{between}");
    go.notify_one();
    nvim.finished().await
}

/// Two edits, the second held back until it is let go.
fn held(first: Reply, second: Reply) -> (Vec<Reply>, Arc<Notify>) {
    let go = Arc::new(Notify::new());
    (vec![first, Reply::Held(Box::new(second), Arc::clone(&go))], go)
}

const KILL_FAKE: &str =
    "vim.system({ 'pkill', '-KILL', '-P', tostring(vim.uv.os_getpid()), '-f', 'fake_server.py' }):wait()
    return (vim.wait(20000, function() return #vim.lsp.get_clients({ name = 'fake' }) == 0 end, 5))";
const STOP_FAKE: &str = "vim.iter(vim.lsp.get_clients({ name = 'fake' })):each(function(client) client:stop(true) end)
    return (vim.wait(20000, function() return #vim.lsp.get_clients({ name = 'fake' }) == 0 end, 5))";
const DETACH_FAKE: &str = "vim.lsp.buf_detach_client(0, vim.lsp.get_clients({ name = 'fake' })[1].id)
    return (vim.wait(20000, function() return #vim.lsp.get_clients({ bufnr = 0 }) == 0 end, 5))";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_between_two_edits_of_a_task_is_missed() {
    for taken in [KILL_FAKE, STOP_FAKE, DETACH_FAKE] {
        // The second edit is of the same file, or of one that nobody had opened and that the server never saw.
        for (path, old) in [("a.py", "return bad"), ("b.py", "return 1")] {
            let project = Project::new(&[("a.py", TEXT), ("b.py", OTHER)]);
            let (mut script, go) =
                held(edit("a.py", "return 1", "return bad", true), edit(path, old, "return 2", true));
            script.push(step("read_file", json!({"path": "a.py"}), false));
            let model = ModelServer::start(script).await;
            let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "commands = {}").await;
            let summary = two_edits(&mut nvim, &model, "AgentAsk! change them", &go, taken).await;
            assert!(summary.contains("not known yet: fake (a.py, not available: it spoke of this file"), "{summary}");
            assert!(!summary.contains("0 new") && !summary.contains(", 0 fixed"), "{path}, {taken}: {summary}");
            let told = model.requests()[2].said_by("user").to_owned();
            assert!(told.contains("diagnostics: partly known: "), "{path}: {told}");
            assert!(told.contains("not known: fake (a.py"), "{path}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_what_is_new_says_who_has_not_spoken() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", OTHER)]);
    let (script, go) = held(edit("a.py", "return 1", "return bad", true), edit("b.py", "return 1", "return 2", false));
    let model = ModelServer::start(script).await;
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "commands = {}").await;
    two_edits(&mut nvim, &model, "AgentAsk! change them", &go, KILL_FAKE).await;
    let list = nvim.quickfix().await;
    assert!(list[0].contains("change them, not known: fake"), "{list:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_is_heard_again() {
    let project = Project::new(&[("a.py", TEXT)]);
    let (script, go) = held(edit("a.py", "return 1", "return 2", true), edit("a.py", "return 2", "return bad", false));
    let model = ModelServer::start(script).await;
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "").await;
    let back = format!(
        "_G.config = vim.lsp.get_clients({{ name = 'fake' }})[1].config
         local killed = (function() {KILL_FAKE} end)()
         vim.lsp.start(_G.config)
         return killed and (vim.wait(20000, function()
           local client = vim.lsp.get_clients({{ name = 'fake', bufnr = 0 }})[1]
           return client ~= nil and client.initialized
         end, 5))"
    );
    let summary = two_edits(&mut nvim, &model, "AgentAsk change it", &go, &back).await;
    assert!(summary.contains("1 new diagnostic, 0 fixed"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_that_is_killed_between_two_edits_is_missed() {
    for name in ["ruff", "basedpyright"] {
        let project = Project::new(&[("a.py", TEXT)]);
        let (script, go) =
            held(edit("a.py", "return 1", "return 2", true), edit("a.py", "return 2", "return x", false));
        let model = ModelServer::start(script).await;
        let mut nvim = Nvim::open(&project, &options(&model), &["basedpyright", "ruff"], "a.py").await;
        let summary = two_edits(&mut nvim, &model, "AgentAsk change it", &go, &kill(name)).await;
        assert!(summary.contains(&format!("not known yet: {name} (a.py, not available: it spoke")), "{summary}");
        assert!(summary.contains("1 new diagnostic so far"), "the other one is heard: {summary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_step_of_a_plan_whose_server_died_counts_nothing_as_known() {
    let project = Project::new(&[("a.py", TEXT)]);
    let planned =
        |title: &str| json!({"title": title, "symbols": ["a.py::f"], "because": "asked", "expect": "it is so"});
    let plan = json!({"title": "T", "reason": "asked", "steps": [planned("one"), planned("two")], "confidence": 1});
    let (edits, go) = held(edit("a.py", "return 1", "return 2", false), edit("a.py", "return 2", "return 3", false));
    let model = ModelServer::start([vec![Reply::Json(plan)], edits].concat()).await;
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "commands = {}").await;
    nvim.command_until("AgentPlan change f", "SextantPlan").await;
    nvim.keys("<CR>").await;
    model.requests_seen(3).await;
    // The plan's window has the cursor.
    assert!(nvim.lua::<bool>(KILL_FAKE).await);
    go.notify_one();
    nvim.finished().await;
    let lines: Vec<String> =
        nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
    let outcomes: Vec<&String> = lines.iter().filter(|line| line.contains("outcome: ")).collect();
    assert!(outcomes[0].contains("0 fixed, 0 new"), "{outcomes:?}");
    assert!(outcomes[1].contains("whether anything is new is not known: fake (a.py)"), "{outcomes:?}");
}

/// Neovim that starts the fake server for every Python file.
pub(super) async fn everywhere(project: &Project, model: &ModelServer) -> Nvim {
    let file = project.beside("fake").join("script.json");
    std::fs::write(&file, publishing(&json!("scan")).to_string()).expect("a script");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
    let command: Value = json!([tool("python3"), program, file]);
    let options = format!(
        "{{ publishes_once = {{ 'fake' }}, commands = {{}}, model = {{ provider = 'openai_compatible', model = 'm', \
         base_url = '{}' }}, diagnostics = {{ timeout_ms = 20000, start_timeout_ms = 60000 }} }}",
        model.url()
    );
    let nvim = Nvim::start(project, &options, &[]).await;
    let enable = format!(
        "vim.lsp.config('fake', {{ cmd = vim.json.decode([==[{command}]==]), filetypes = {{ 'python' }}, \
           root_markers = {{ 'pyproject.toml' }} }})
         vim.lsp.enable('fake') return true"
    );
    nvim.lua::<bool>(&enable).await;
    nvim
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_wrote_into_a_file_before_its_first_edit_is_not_new() {
    // Into the buffer between two edits of a task, and on disk while the file was closed, between two tasks.
    let project = Project::new(&[("a.py", TEXT), ("b.py", OTHER)]);
    let (mut script, go) =
        held(edit("a.py", "return 1", "return 2", true), edit("b.py", "return 1", "return 2", false));
    script.push(edit("a.py", "return 2", "return 3", false));
    let model = ModelServer::start(script).await;
    let mut nvim = everywhere(&project, &model).await;
    nvim.edit("a.py").await;
    nvim.lua::<bool>("local b = vim.fn.bufadd('b.py') vim.fn.bufload(b) vim.bo[b].buflisted = true return true").await;
    let typed = "vim.api.nvim_buf_set_lines(vim.fn.bufnr('b.py'), -1, -1, false, { '', 'bad' }) return true";
    let summary = two_edits(&mut nvim, &model, "AgentAsk! change both", &go, typed).await;
    assert!(!summary.contains("1 new"), "{summary}");
    assert!(!summary.contains("first looked at"), "the first edit does not reach it: {summary}");

    nvim.command("edit b.py").await;
    nvim.command("bdelete! a.py").await;
    project.write("a.py", &format!("{}bad\n", TEXT.replace("return 1", "return 2")));
    let summary = nvim.task("AgentAsk! change a").await;
    // A file that was closed and opened again at once is known by guess, if at all.
    assert!(!summary.contains("1 new") && !nvim.answer().await.contains("1 new"), "{}", nvim.answer().await);
}

/// Runs a plan of one step, whose diagnostic a client repairs before the step's own edit fails; the plan's text after it.
async fn repaired_by_a_client(because: &str) -> String {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return bad\n")]);
    let step = json!({"title": "repair f", "symbols": ["a.py::f"], "because": because, "expect": "it is so"});
    let plan = json!({"title": "T", "reason": "asked", "steps": [step], "confidence": 1});
    let failing = edit("a.py", "return bad", "return 2", false);
    let (edits, go) = held(Reply::Json(plan), failing);
    let ends = || says("It is done.");
    let model = ModelServer::start([edits, vec![ends(), ends(), ends(), ends()]].concat()).await;
    let options = "commands = {}, mode = 'supervised'";
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), options).await;
    nvim.command_until("AgentPlan repair f", "SextantPlan").await;
    nvim.keys("<CR>").await;
    model.requests_seen(2).await;
    crate::rpc::joined(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let answer = client.edit("edit_file", change("a.py", "return bad", "return 1")).await;
    assert_eq!(project.read("a.py"), "def f() -> int:\n    return 1\n", "{answer:?}");
    go.notify_one();
    nvim.finished().await;
    let lines: Vec<String> =
        nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_not_credited_with_the_repair_of_somebody_else() {
    // Nothing says what the step was to repair: it has done nothing.
    let shown = repaired_by_a_client("asked").await;
    assert!(shown.contains("- [!] repair f") && shown.contains("nothing was changed (the edit of"), "{shown}");
    // The diagnostic that it names is gone: nothing is left to be done.
    let shown = repaired_by_a_client("the error bad is reported").await;
    assert!(shown.contains("- [x] repair f"), "{shown}");
    assert!(shown.contains("outcome: repaired by another edit: 1 fixed, 0 new"), "{shown}");
}
