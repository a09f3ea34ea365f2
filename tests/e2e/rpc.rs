//! A session that runs is found, joined from a shell, and asked over its socket.

use std::process::{Output, Stdio};
use std::sync::Arc;

use sextant::agent::events::envelope::TaskEvent;
use sextant::agent::events::subscription::Delivery;
use sextant::agent::state::request::Request;
use sextant::base::failure::FailureKind;
use sextant::serve::discovery::find;
use sextant::serve::rpc::client::JoinedSession;

use crate::support::nvim::Nvim;
use crate::support::project::Project;

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
        if let Some(entry) = find::of_root(&folders, project.root()).entries.into_iter().next() {
            return Arc::new(JoinedSession::to(entry).await.expect("it takes us"));
        }
        tokio::task::yield_now().await;
    }
}

const CART: &str = "import os\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";

/// A Neovim whose workspace has been used, with an unsaved change in the file that is open.
async fn used(project: &Project) -> Nvim {
    let mut nvim = Nvim::start(project, "{}", &["ruff"]).await;
    nvim.edit("cart.py").await;
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

    let asked = sextant(&project, &["ask", "fix the errors", "--file", "cart.py"]).await;
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
    let refused = session.undo(sextant::serve::rpc::api::agent::UndoPart::default(), "a test".to_owned()).await;
    assert_eq!(refused.expect_err("nothing to take back").kind, FailureKind::User);
    let outcome = session.ask(&Request { text: "what is here?".into(), ..Request::default() }, "a test".into()).await;
    assert!(outcome.is_ok(), "{outcome:?}");
}
