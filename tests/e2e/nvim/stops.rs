//! `:AgentStop` in a real Neovim, wherever the task stands: over within 100 ms, with whole edits left behind.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::scripted::calls;
use crate::support::servers::tool;

const TEXT: &str = "def f() -> int:\n    return 1\n";
const SOON: Duration = Duration::from_millis(100);
/// How often a stop is tried before it is late: the machine may be busy with something else for a moment.
const TRIES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    FirstLook,
    Model,
    Settling,
    Command,
    Question,
    /// A question of the model.
    Asked,
}

fn edit() -> Reply {
    step("edit_file", change("a.py", "return 1", "return 11"), true)
}

fn run(words: &[&str]) -> Reply {
    step("run_command", json!({"command": words}), true)
}

/// A server that never answers a question about diagnostics, or only the first.
fn answering(first: bool) -> Value {
    let (answer, never) = (json!([{"reply": {"pull": "scan"}}]), json!([{"wait_for": "never"}]));
    let steps = if first { json!([answer, never]) } else { never };
    json!({
        "capabilities": {
            "textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "diagnosticProvider": {"interFileDependencies": false, "workspaceDiagnostics": false}},
        "on": {"textDocument/diagnostic": steps},
    })
}

/// Stops a task in this phase; how long its end took.
async fn stopped(phase: Phase) -> Duration {
    let project = Project::new(&[("a.py", TEXT), ("run.sh", "#!/bin/sh\ntouch began\nsleep 1000\n")]);
    let server = ModelServer::start(match phase {
        Phase::FirstLook => vec![],
        Phase::Model => vec![edit(), Reply::Stall("{".into())],
        Phase::Settling => vec![edit(), edit()],
        Phase::Command => vec![edit(), run(&["sh", "run.sh"])],
        Phase::Question => vec![edit(), run(&["touch", "made"])],
        Phase::Asked => vec![calls(
            "",
            &[("edit_file", change("a.py", "return 1", "return 11")), ("ask_user", json!({"question": "Which?"}))],
        )],
    })
    .await;
    let style = if phase == Phase::Asked { "style = 'conversation', context = 64000, " } else { "" };
    let options = format!(
        "{{ model = {{ provider = 'openai_compatible', model = 'm', {style}base_url = '{}' }}, commands_allowed = {{ 'sh run.sh' }}, \
         diagnostics = {{ timeout_ms = 60000, start_timeout_ms = 120000 }} }}",
        server.url()
    );
    let mut nvim = Nvim::open(&project, &options, &[], "a.py").await;
    if matches!(phase, Phase::FirstLook | Phase::Settling) {
        let file = project.beside("fake").join("script.json");
        std::fs::write(&file, answering(phase == Phase::Settling).to_string()).expect("a script");
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
        let command = json!([tool("python3"), program, file]);
        nvim.lua::<bool>(&format!(
            "vim.lsp.start({{ name = 'ruff', cmd = vim.json.decode([==[{command}]==]), root_dir = vim.fn.getcwd() }}) \
             return (vim.wait(20000, function() local c = vim.lsp.get_clients({{ name = 'ruff' }})[1]; return c ~= nil and c.initialized end, 5))"
        ))
        .await;
    }
    nvim.command("AgentAsk change it").await;
    match phase {
        Phase::FirstLook => drop(nvim.wait("SextantStarted").await),
        Phase::Model => server.requests_seen(2).await,
        Phase::Settling => drop(nvim.wait("SextantEdited").await),
        Phase::Question | Phase::Asked => drop(nvim.wait("SextantQuestion").await),
        Phase::Command => {
            let began = "return (vim.wait(20000, function() return vim.uv.fs_stat('began') ~= nil end, 5))";
            assert!(nvim.lua::<bool>(began).await, "the command runs");
        }
    }
    let asked = Instant::now();
    let failure = nvim.failed_task("AgentStop").await;
    let took = asked.elapsed();
    assert_eq!(failure["kind"], "cancelled", "{phase:?}: {failure}");
    let text = if phase == Phase::FirstLook { TEXT.to_owned() } else { TEXT.replace("return 1", "return 11") };
    assert_eq!((nvim.text().await, project.read("a.py")), (text.clone(), text), "{phase:?}: what was finished is kept");
    assert!(!project.root().join("made").exists());
    let questions = match phase {
        Phase::FirstLook => 0,
        Phase::Settling | Phase::Asked => 1,
        Phase::Model | Phase::Command | Phase::Question => 2,
    };
    assert_eq!(server.requests().len(), questions, "{phase:?}: nothing is asked afterwards");
    took
}

async fn ends_soon(phase: Phase) {
    let mut took = Vec::new();
    while took.len() < TRIES {
        match stopped(phase).await {
            soon if soon <= SOON => return println!("{phase:?}: {soon:?}"),
            late => took.push(late),
        }
    }
    panic!("{phase:?}: the end came late: {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_the_servers_are_asked_ends_it_soon() {
    ends_soon(Phase::FirstLook).await;
    ends_soon(Phase::Settling).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_the_model_thinks_ends_it_soon() {
    ends_soon(Phase::Model).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_a_command_runs_or_the_user_is_asked_ends_it_soon() {
    ends_soon(Phase::Command).await;
    ends_soon(Phase::Question).await;
    ends_soon(Phase::Asked).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_neovim_is_busy_leaves_the_process_as_it_is() {
    let project = Project::new(&[("a.py", TEXT)]);
    let done = json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "hello"});
    let server = ModelServer::start([edit(), Reply::Stall("{".into()), Reply::Json(done)]).await;
    let mut nvim = Nvim::open(&project, &crate::nvim::ask::options(&server), &["ruff"], "a.py").await;
    nvim.command("AgentAsk change it").await;
    server.requests_seen(2).await;
    // What the end of the task asks is answered when nobody waits for it any more.
    nvim.lua::<bool>("vim.cmd('AgentStop') vim.uv.sleep(300) return true").await;
    assert_eq!(nvim.failed().await["kind"], "cancelled");
    let own = "local out = {} for _, c in ipairs(vim.api.nvim_list_chans()) do if c.client and c.client.name == 'sextant' then out[#out + 1] = c.id end end return out";
    let before: Value = nvim.lua(own).await;
    nvim.task("AgentAsk say hello").await;
    assert_eq!(nvim.lua::<Value>(own).await, before, "it is the same process");
}
