//! What the user is asked before an edit: with what it would introduce, or that this is not known.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::base::failure::FailureKind;
use sextant::engine::OutsideClient;
use tokio_util::sync::CancellationToken;

use crate::support::engine::{Setup, TestEngine};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::fake_config;

/// A server that complains of each word `bad`, when it is asked.
fn script(answer: &Value) -> Value {
    json!({
        "capabilities": {"diagnosticProvider": {"interFileDependencies": false, "workspaceDiagnostics": false}},
        "log": "log",
        "on": {"textDocument/diagnostic": answer},
    })
}

fn engine(project: &Project, answer: &Value, timeout_ms: u64) -> TestEngine {
    let servers = vec![fake_config(&project.beside("fake"), &script(answer))];
    let config = json!({"diagnostics": {"timeout_ms": timeout_ms, "start_timeout_ms": timeout_ms}});
    let engine = TestEngine::new(project, Setup { servers, config, ..Setup::default() });
    engine.session.answers_come();
    engine
}

/// The question about an edit of `conftest.py`, which is answered with no.
async fn asked(engine: &mut TestEngine, new: &str) -> String {
    let session = Arc::clone(&engine.session);
    let given = change("conftest.py", "x = 1\n", new);
    let client = OutsideClient::new("1", "codex");
    let called =
        tokio::spawn(async move { session.call(&client, "edit_file", given, None, &CancellationToken::new()).await });
    let (text, options) = engine.question().await;
    assert_eq!(options.last().map(String::as_str), Some("no"));
    engine.session.answer_waiting(options.len()).expect("a question").expect("an answer");
    called.await.expect("no panic").expect_err("refused");
    text
}

#[tokio::test]
async fn a_question_about_an_edit_says_what_it_would_introduce() {
    let project = Project::new(&[("conftest.py", "x = 1\n")]);
    let mut engine = engine(&project, &json!([{"reply": {"pull": "scan"}}]), 60_000);
    let text = asked(&mut engine, "x = bad\ny = bad\n").await;
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("codex: Change conftest.py?")), "{text}");
    assert_eq!(lines.next(), Some("It would introduce 2 errors:"), "{text}");
    let shown: Vec<&str> = lines.collect();
    assert_eq!(shown.len(), 2, "{text}");
    assert!(shown[0].starts_with("  error conftest.py:1 ") && shown[1].starts_with("  error conftest.py:2 "), "{text}");
    let text = asked(&mut engine, &"x = bad\n".repeat(5)).await;
    assert!(text.contains("\nIt would introduce 5 errors:\n") && text.ends_with("\n  and 2 more"), "{text}");
    assert_eq!(text.lines().count(), 6, "{text}");
    // Nothing of it was kept: the same again is new again, and what is clean is.
    let text = asked(&mut engine, "x = bad\n").await;
    assert!(text.contains("\nIt would introduce 1 error:\n"), "{text}");
    let text = asked(&mut engine, "x = 2\n").await;
    assert!(text.ends_with("\nIt would introduce nothing that is reported."), "{text}");
    assert_eq!(project.read("conftest.py"), "x = 1\n");
}

#[tokio::test]
async fn what_nobody_has_answered_is_not_known() {
    let project = Project::new(&[("conftest.py", "x = 1\n")]);
    let mut engine = engine(&project, &json!([]), 300);
    let text = asked(&mut engine, "x = bad\n").await;
    assert!(text.contains("\nWhat it would introduce is not known: "), "{text}");
    assert!(!text.contains("nothing"), "{text}");
}

#[tokio::test]
async fn a_stop_waits_for_no_server_that_is_asked_ahead() {
    let project = Project::new(&[("conftest.py", "x = 1\n")]);
    let engine = engine(&project, &json!([]), 100_000);
    let (session, cancel) = (Arc::clone(&engine.session), CancellationToken::new());
    let given = change("conftest.py", "x = 1\n", "x = bad\n");
    let stop = cancel.clone();
    let called = tokio::spawn(async move {
        session.call(&OutsideClient::new("1", "codex"), "edit_file", given, None, &cancel).await
    });
    let log = project.beside("fake").join("log");
    let shown = async {
        while !std::fs::read_to_string(&log).unwrap_or_default().contains("textDocument/diagnostic") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), shown).await.expect("it is asked");
    stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(20), called).await.expect("it ends").expect("no panic");
    assert_eq!(ended.expect_err("stopped").kind, FailureKind::Cancelled);
    assert_eq!(project.read("conftest.py"), "x = 1\n");
}
