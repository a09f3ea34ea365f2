//! A server that is there for one task and gone in the next: its silence is no answer until it speaks again, unless the
//! user has taken it away.

use serde_json::{Value, json};

use crate::extremes::hostile;
use crate::nvim::ask::step;
use crate::nvim::between::everywhere;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::tool;

const TEXT: &str = "def f() -> int:\n    return 1\n";

fn replace(old: &str, new: &str) -> Reply {
    step("edit_file", change("a.py", old, new), false)
}

/// Neovim with `a.py` shown and the fake server attached to it.
pub(super) async fn attached(project: &Project, model: &ModelServer, script: &Value, more: &str) -> Nvim {
    let file = project.beside("fake").join("script.json");
    std::fs::write(&file, script.to_string()).expect("a script");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
    let command = json!([tool("python3"), program, file]);
    let options = format!(
        "{{ publishes_once = {{ 'fake' }}, model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}' }}, \
         diagnostics = {{ timeout_ms = 3000, start_timeout_ms = 60000 }}, {more} }}",
        model.url()
    );
    let nvim = Nvim::open(project, &options, &[], "a.py").await;
    nvim.lua::<bool>(&format!(
        "vim.lsp.start({{ name = 'fake', cmd = vim.json.decode([==[{command}]==]), root_dir = vim.fn.getcwd() }}) \
         return (vim.wait(20000, function() local c = vim.lsp.get_clients({{ name = 'fake' }})[1]; return c ~= nil and c.initialized end, 5))"
    ))
    .await;
    nvim
}

pub(super) fn publishing(items: &Value) -> Value {
    let publish = json!({"publish": {"version": "same", "items": items}});
    json!({
        "capabilities": {"textDocumentSync": {"openClose": true, "change": 1, "save": true}},
        "on": {"textDocument/didOpen": [publish], "textDocument/didChange": [publish]},
    })
}

/// As the system's own killing does it.
const KILL: &str =
    "vim.system({ 'pkill', '-KILL', '-P', tostring(vim.uv.os_getpid()), '-f', 'fake_server.py' }):wait()";
/// Starts it again, as it was.
const BACK: &str = "vim.lsp.start(_G.config) return (vim.wait(20000, function()
    local client = vim.lsp.get_clients({ name = 'fake', bufnr = 0 })[1]
    return client ~= nil and client.initialized
    end, 5))";

/// Asks for one change after another, with this Lua behind the first of them; what each task said at its end.
async fn changes(nvim: &mut Nvim, taken: &str, last: &str) -> Vec<String> {
    let mut said = Vec::new();
    for number in 0..4 {
        nvim.command("AgentAsk change it").await;
        said.push(nvim.finished().await);
        if number == 0 {
            let gone = format!(
                "local client = vim.lsp.get_clients({{ name = 'fake' }})[1]
                 _G.config = client.config
                 {taken} return (vim.wait(20000, function() return #vim.lsp.get_clients({{ bufnr = 0 }}) == 0 end, 5))"
            );
            assert!(nvim.lua::<bool>(&gone).await, "{taken}");
        } else if number == 2 {
            assert!(nvim.lua::<bool>(last).await, "{last}");
        }
    }
    said
}

async fn four_changes(project: &Project) -> (ModelServer, Nvim) {
    let replies = [
        replace("return 1", "return 2"),
        replace("return 2", "return 3"),
        replace("return 3", "return 4"),
        replace("return 4", "return 5"),
    ];
    let model = ModelServer::start(replies).await;
    let nvim = attached(project, &model, &publishing(&json!("scan")), "commands = {}").await;
    (model, nvim)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_is_missed_until_it_speaks_again() {
    let project = Project::new(&[("a.py", TEXT)]);
    let (_model, mut nvim) = four_changes(&project).await;
    let said = changes(&mut nvim, KILL, BACK).await;
    assert!(said[0].contains("0 new diagnostics, 0 fixed"), "{said:?}");
    for summary in &said[1..3] {
        assert!(summary.contains("not known yet: fake (a.py, not available: it spoke of this file before"), "{said:?}");
    }
    assert!(said[3].contains("0 new diagnostics, 0 fixed"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_and_then_disabled_is_missed_no_more() {
    let project = Project::new(&[("a.py", TEXT)]);
    let replies = ["return 1", "return 2", "return 3", "return 4", "return 5"];
    let model = ModelServer::start(replies.windows(2).map(|pair| replace(pair[0], pair[1]))).await;
    let mut nvim = everywhere(&project, &model).await;
    nvim.edit("a.py").await;
    let said = changes(&mut nvim, KILL, "vim.lsp.enable('fake', false) return true").await;
    assert!(said[2].contains("fake (a.py, not available"), "{said:?}");
    assert!(!said[3].contains("fake"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_the_user_has_stopped_or_detached_is_not_missed() {
    for taken in ["client:stop(true)", "client:stop()", "vim.lsp.buf_detach_client(0, client.id)"] {
        let project = Project::new(&[("a.py", TEXT)]);
        let (_model, mut nvim) = four_changes(&project).await;
        let said = changes(&mut nvim, taken, "return true").await;
        for summary in &said[1..] {
            assert!(!summary.contains("fake") && !summary.contains("0 new"), "{taken}: {said:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_sends_mad_numbers_keeps_nobody_waiting() {
    let project = Project::new(&[("a.py", TEXT)]);
    let model = ModelServer::start([replace("return 1", "return 2")]).await;
    let script = publishing(&json!(hostile()));
    let mut nvim = attached(&project, &model, &script, "commands = {}").await;
    let summary = nvim.task("AgentAsk change it").await;
    assert!(summary.contains("0 new diagnostics, 0 fixed"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quickfix_list_follows_an_undo_and_stands_through_a_question() {
    let project = Project::new(&[("a.py", TEXT)]);
    let answer = json!({"reasoning": "hm", "action": null, "continue": false, "confidence": 1, "answer": "It is bad."});
    let model = ModelServer::start([replace("return 1", "return bad"), Reply::Json(answer)]).await;
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "commands = {}").await;
    nvim.task("AgentAsk change it").await;
    assert_eq!(nvim.quickfix().await.len(), 2, "its title and one error");
    nvim.task("AgentAsk why is f so slow?").await;
    let list = nvim.quickfix().await;
    assert!(list.len() == 2 && list[0].contains("change it"), "{list:?}");
    nvim.task("AgentUndo").await;
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 1, "{list:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_typed_before_an_undo_is_in_no_list_behind_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let model = ModelServer::start([replace("return 1", "return bad")]).await;
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "commands = {}").await;
    nvim.task("AgentAsk change it").await;
    nvim.command("call append('$', ['', 'mine = bad'])").await;
    nvim.task("AgentUndo").await;
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 1, "{list:?}");
    assert!(nvim.text().await.ends_with("return 1\n\nmine = bad\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_an_edit_is_checked_calls_nothing_clean() {
    let project = Project::new(&[("a.py", TEXT)]);
    let edit = change("a.py", "return 1", "return bad");
    let model = ModelServer::start([step("edit_file", edit, true)]).await;
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let mut script = publishing(&json!("scan"));
    script["on"]["textDocument/didChange"] = json!([{"wait_for": "go"}, publish]);
    let mut nvim = attached(&project, &model, &script, "commands = {}").await;
    nvim.command_until("AgentAsk change it", "SextantEdited").await;
    nvim.failed_task("AgentStop").await;
    let answer = nvim.answered("changed a.py").await;
    assert!(!answer.contains("0 new"), "{answer}");
    // The server is named where it had been asked by then.
    assert!(answer.contains("not known yet: ") && answer.contains("stopped while it was checked"), "{answer}");
}
