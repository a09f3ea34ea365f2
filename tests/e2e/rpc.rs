//! A session that runs is found, joined from a shell, and asked over its socket.

use std::process::{Output, Stdio};
use std::sync::Arc;

use serde_json::json;
use sextant::base::failure::FailureKind;
use sextant::engine::{Delivery, OutsideClient, Request, TaskEvent};
use sextant::serve::discovery::find_sessions;
use sextant::serve::rpc::rpc_client::JoinedSession;

use crate::cli::outcome;
use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

/// Runs the program in a project, in the environment that the Neovim of the test has.
pub async fn sextant(project: &Project, arguments: &[&str]) -> Output {
    let child = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(arguments)
        .current_dir(project.root())
        .env("HOME", project.beside("home"))
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    child.await.expect("the program runs")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The session that serves the project, once it is there.
pub async fn joined(project: &Project) -> Arc<JoinedSession> {
    let folders = vec![project.beside("runtime").join("sextant")];
    loop {
        if let Some(entry) = find_sessions::of_root(&folders, project.root()).entries.into_iter().next() {
            return Arc::new(JoinedSession::to(entry).await.expect("it takes us"));
        }
        tokio::task::yield_now().await;
    }
}

const CART: &str = "import os\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";

/// A Neovim whose workspace has been used, with an unsaved change in the file that is open.
async fn used(project: &Project) -> Nvim {
    let mut nvim = Nvim::open(project, "{}", &["ruff"], "cart.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    nvim
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_finds_the_session_of_an_editor_and_asks_in_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut nvim = used(&project).await;
    nvim.lua::<bool>("vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'import sys' }); return true").await;
    let session = joined(&project).await;
    let listed = sextant(&project, &["sessions"]).await;
    // The user of this machine may have sessions of their own.
    let line = format!("{}  {}", session.entry.name, project.root().display());
    assert!(stdout(&listed).lines().any(|listed| listed.starts_with(&line)), "{}", stdout(&listed));

    let asked = sextant(&project, &["ask", "fix the warnings", "--file", "cart.py"]).await;
    assert!(stderr(&asked).contains(&format!("working in the session {}", session.entry.name)), "{}", stderr(&asked));
    assert!(asked.status.success(), "{}{}", stdout(&asked), stderr(&asked));
    let summary = nvim.finished().await;
    assert!(stdout(&asked).trim_end().ends_with(summary.lines().last().unwrap_or_default()), "{}", stdout(&asked));
    let text = nvim.text().await;
    assert!(!text.contains("import") && text.contains("def total"), "{text}");
    assert_eq!(project.read("cart.py"), CART, "the file had unsaved changes, and is the user's to save");
    let undone = sextant(&project, &["undo"]).await;
    assert!(undone.status.success(), "{}{}", stdout(&undone), stderr(&undone));
    assert!(nvim.text().await.contains("import sys"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_listens_late_is_given_what_happened() {
    let project = Project::new(&[("cart.py", CART)]);
    let _nvim = used(&project).await;
    let session = joined(&project).await;
    let info = session.info().await.expect("how things stand");
    assert!(info.running.is_none() && info.state.over, "{info:?}");
    let mut late = session.events(Some(0)).await.expect("events");
    let mut seen = Vec::new();
    while seen.len() < usize::try_from(info.state.seq).unwrap() {
        match late.next().await.expect("an event") {
            Delivery::Event(envelope) => seen.push(envelope),
            Delivery::Resync(resync) => panic!("{resync:?}"),
        }
    }
    assert!(seen.iter().zip(1..).all(|(envelope, number)| envelope.seq == number));
    let began = TaskEvent::TurnBegan { by: "Neovim".to_owned() };
    assert!(seen.iter().any(|envelope| envelope.event == began));
    let refused = session.undo(sextant::serve::rpc::api::agent_api::UndoPart::default(), "a test".to_owned()).await;
    assert_eq!(refused.expect_err("nothing to take back").kind, FailureKind::User);
    let outcome = session.ask(&Request { text: "what is here?".into(), ..Request::default() }, "a test".into()).await;
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// A Neovim with a model, whose workspace has been used.
async fn with_model(project: &Project, server: &ModelServer, servers: &[&str]) -> Nvim {
    let mut nvim = Nvim::open(project, &options(server), servers, "cart.py").await;
    nvim.task("AgentAsk lee total").await;
    nvim
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_joined_shell_stops_its_task_in_the_editor() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = ModelServer::start([Reply::Stall("{".into())]).await;
    let mut nvim = with_model(&project, &server, &[]).await;
    let child = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["ask", "change total", "--file", "cart.py"])
        .current_dir(project.root())
        .env("HOME", project.beside("home"))
        .env("XDG_STATE_HOME", project.state_home())
        .env("XDG_RUNTIME_DIR", project.beside("runtime"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program runs");
    server.requests_seen(1).await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().expect("a process")).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ended = child.wait_with_output().await.expect("an end");
    assert_eq!(ended.status.code(), Some(1), "{}", stderr(&ended));
    assert!(stderr(&ended).contains("stopped"), "{}", stderr(&ended));
    let failure = nvim.failed().await;
    assert_eq!(failure["kind"], "cancelled", "{failure}");
    assert!(joined(&project).await.info().await.expect("how things stand").running.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_joined_request_tells_exactly_what_it_introduced_and_so_far_meanwhile() {
    let project = Project::new(&[("cart.py", CART), ("other.py", "def name() -> str:\n    return 'x'\n")]);
    let edit = change("cart.py", "return sum(prices)", "return str(sum(prices))");
    let go = Arc::new(tokio::sync::Notify::new());
    let last = says("done");
    let held = Reply::Held(Box::new(last), Arc::clone(&go));
    let server = ModelServer::start([step("edit_file", edit, true), held]).await;
    let nvim = with_model(&project, &server, &["basedpyright"]).await;
    nvim.edit("other.py").await;
    let session = joined(&project).await;
    let asked = tokio::spawn({
        let (root, home) = (project.root().to_owned(), project.beside("home"));
        let (state, runtime) = (project.state_home(), project.beside("runtime"));
        async move {
            let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sextant"));
            command.args(["ask", "change total", "--file", "cart.py", "--json"]).current_dir(root).env("HOME", home);
            command.env("XDG_STATE_HOME", state).env("XDG_RUNTIME_DIR", runtime).stdin(Stdio::null());
            command.kill_on_drop(true).output().await.expect("the program runs")
        }
    });
    server.requests_seen(2).await;
    let so_far = session.introduced().await.expect("a list");
    assert!(so_far.running && so_far.entries.len() == 1, "{so_far:?}");
    assert!(so_far.entries[0].text.contains("reportReturnType"), "{so_far:?}");
    // What a client does beside it is no part of that.
    let theirs = change("other.py", "return 'x'", "return 1");
    let client = OutsideClient::new("1", "codex");
    let edited = session.call(&client, "edit_file", theirs, "1").await.expect("an answer");
    assert!(edited.text.contains("reportReturnType"), "{}", edited.text);
    assert_eq!(session.introduced().await.expect("a list").entries, so_far.entries);
    go.notify_one();
    let outcome = outcome(&asked.await.expect("an end"))["outcome"].clone();
    let new = outcome["new_diagnostics"].as_array().cloned().unwrap_or_default();
    assert_eq!(new.len(), 1, "{outcome}");
    assert_eq!((&new[0]["code"], &new[0]["line"]), (&json!("reportReturnType"), &json!(5)), "{outcome}");
    let after = session.introduced().await.expect("a list");
    assert!(!after.running && after.entries == so_far.entries, "{after:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_of_an_editor_stays_open_for_who_has_its_token() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut nvim = Nvim::open(&project, "{ rpc = { port = true } }", &[], "cart.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    let port = joined(&project).await.entry.port.clone().expect("a port");
    let token = std::fs::read_to_string(&port.token_file).expect("a token");
    crate::rpc_wire::answers_beside_half_heads(&port.address, &token).await;
}
