//! A server that is there for one task and gone in the next: its silence is no answer, and it is told once.

use serde_json::{Value, json};

use crate::extremes::hostile;
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::tool;

const TEXT: &str = "def f() -> int:\n    return 1\n";

fn replace(old: &str, new: &str) -> Reply {
    step("edit_file", json!({"path": "a.py", "old_string": old, "new_string": new}), false)
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
    let nvim = Nvim::start(project, &options, &[]).await;
    nvim.edit("a.py").await;
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

/// What takes the server away, in Lua.
async fn is_missed(taken: &str) {
    let project = Project::new(&[("a.py", TEXT)]);
    let replies =
        [replace("return 1", "return 2"), replace("return 2", "return bad"), replace("return bad", "return 3")];
    let model = ModelServer::start(replies).await;
    let mut nvim = attached(&project, &model, &publishing(&json!("scan")), "").await;
    nvim.command("AgentAsk change it").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("0 new diagnostics, 0 fixed"), "{taken}: {summary}");

    nvim.lua::<bool>(&format!(
        "local client = vim.lsp.get_clients({{ name = 'fake' }})[1] {taken} \
         return (vim.wait(20000, function() return #vim.lsp.get_clients({{ bufnr = 0 }}) == 0 end, 5))"
    ))
    .await;
    nvim.command("AgentAsk change it").await;
    let summary = nvim.finished().await;
    assert!(!summary.contains("0 new diagnostics"), "{taken}: {summary}");
    assert!(summary.contains("not known yet: fake (a.py, not available: it spoke of this file before"), "{summary}");

    nvim.command("AgentAsk change it").await;
    let summary = nvim.finished().await;
    assert!(!summary.contains("fake"), "{taken}: it was told once: {summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_stopped_killed_or_detached_between_two_tasks_is_missed() {
    for taken in ["client:stop(true)", "client:stop()", "vim.lsp.buf_detach_client(0, client.id)"] {
        is_missed(taken).await;
    }
    // As the system's own killing does it.
    is_missed("vim.system({ 'pkill', '-KILL', '-P', tostring(vim.uv.os_getpid()), '-f', 'fake_server.py' }):wait()")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_sends_mad_numbers_keeps_nobody_waiting() {
    let project = Project::new(&[("a.py", TEXT)]);
    let model = ModelServer::start([replace("return 1", "return 2")]).await;
    let script = publishing(&json!(hostile()));
    let mut nvim = attached(&project, &model, &script, "commands = {}").await;
    nvim.command("AgentAsk change it").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("0 new diagnostics, 0 fixed"), "{summary}");
}
