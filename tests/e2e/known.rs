//! What is known of a file's diagnostics: before its first edit, without its server, by one publish of a version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sextant::diagnostics::model::Freshness;
use sextant::engine::Request;

use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{CHANGE, Fake, OPEN, PATIENCE_MS, fake_config};

fn publish() -> Value {
    json!({"publish": {"version": "same", "items": "scan"}})
}

/// A server that answers the opening of a file only when it is let, and every change at once.
fn slow_to_open() -> Value {
    json!({"log": "log", "on": {OPEN: [{"wait_for": "go"}, publish()], CHANGE: [publish()]}})
}

fn workspace(text: &str) -> Request {
    Request { text: text.into(), workspace: true, ..Request::default() }
}

fn engine(project: &Project, script: &Value, config: Value, edits: &[Value]) -> (TestEngine, PathBuf) {
    let folder = project.beside("fake");
    let server = fake_config(&folder, script);
    let mut replies: Vec<_> = edits.iter().map(|edit| act("edit_file", edit.clone())).collect();
    if let Some(end) = replies.last_mut() {
        end.proceed = false;
    }
    (TestEngine::new(project, Setup { replies, config, servers: vec![server], ..Setup::default() }), folder)
}

/// Lets the server speak of what it has opened, later than an edit is waited for.
fn let_go_after_opening(folder: &Path, later: Duration) -> std::thread::JoinHandle<()> {
    let (log, go) = (folder.join("log"), folder.join("go"));
    std::thread::spawn(move || {
        while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("didOpen")) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(later);
        std::fs::write(go, "").expect("a signal");
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_looked_at_before_its_first_edit_for_as_long_as_a_start_may_take() {
    let project = Project::new(&[("b.py", "x = 1\nbad\n")]);
    let config = json!({"diagnostics": {"timeout_ms": 1_000, "start_timeout_ms": 60_000}});
    let (engine, folder) = engine(&project, &slow_to_open(), config, &[change("b.py", "x = 1", "bad")]);
    let going = let_go_after_opening(&folder, Duration::from_millis(1_500));
    let outcome = engine.ask_about(&workspace("change x in b.py")).await;
    going.join().expect("it went");
    assert_eq!(outcome["diagnostics_status"], "complete", "{outcome}");
    let new = outcome["new_diagnostics"].as_array().expect("a list");
    assert_eq!((new.len(), &new[0]["line"]), (1, &json!(1)), "{outcome}");
    assert_eq!(outcome["unchanged"], 1, "{outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_is_known_before_the_first_edit_no_count_pretends() {
    let project = Project::new(&[("a.py", "x = 1\n"), ("b.py", "x = 1\n")]);
    // Of an opened file it never speaks, of a changed one at once: there is no baseline.
    let script = json!({"on": {OPEN: [], CHANGE: [publish()]}});
    let config = json!({"diagnostics": {"timeout_ms": 2_000, "start_timeout_ms": 300}});
    let (engine, _) =
        engine(&project, &script, config, &[change("a.py", "x = 1", "bad"), change("b.py", "x = 1", "bad")]);
    let outcome = engine.ask_about(&workspace("change x in both")).await;
    assert_eq!(outcome["diagnostics_status"], "partial", "{outcome}");
    let summary = outcome["summary"].as_str().expect("a summary");
    assert!(summary.contains("not known yet: fake (a.py") && summary.contains("fake (b.py, no baseline)"), "{summary}");
    assert!(!summary.contains("0 new"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_a_plan_says_what_is_not_known_of_its_edits() {
    let project = Project::new(&[("a.py", "def f():\n    return 1\n")]);
    let script = json!({"on": {OPEN: [publish()], CHANGE: []}});
    let folder = project.beside("fake");
    let setup = Setup {
        plans: vec![plan_of([planned("change f", &["a.py::f"])])],
        replies: vec![last("edit_file", change("a.py", "return 1", "return bad"))],
        config: json!({"diagnostics": {"timeout_ms": 300}}),
        servers: vec![fake_config(&folder, &script)],
        ..Setup::default()
    };
    let engine = TestEngine::new(&project, setup);
    engine.plan("change f").await.expect("a plan");
    let (outcome, events) = engine.approve().await;
    let outcome = outcome.expect("it ran");
    let shown = format!("{events:?} {}", outcome.summary);
    assert!(shown.contains("whether anything is new is not known: fake (a.py") && !shown.contains("0 new"), "{shown}");
    assert!(outcome.summary.contains("what the change did is not known"), "{}", outcome.summary);
}

/// How often the server was asked what it offers, and what the last question told of reports.
async fn offers_asked_for(request: &str, edits: &[Value]) -> (usize, Value) {
    let project = Project::new(&[("a.py", "def f(x):\n    y = bad\n    return 1\n")]);
    let script = json!({"log": "log", "capabilities": {"codeActionProvider": true},
        "on": {OPEN: [publish()], CHANGE: [publish()], "textDocument/codeAction": [{"reply": []}]}});
    let folder = project.beside("fake");
    let setup = Setup {
        replies: edits.iter().map(|edit| act("edit_file", edit.clone())).collect(),
        servers: vec![fake_config(&folder, &script)],
        ..Setup::default()
    };
    let engine = TestEngine::new(&project, setup);
    let outcome = engine.ask(request).await;
    assert!(outcome["failed"].is_null(), "{outcome}");
    let log = std::fs::read_to_string(folder.join("log")).expect("a log");
    let asked = engine.model.asked.lock().unwrap();
    let reports = serde_json::to_value(&asked.last().expect("a question").context.reports).expect("data");
    (log.matches("textDocument/codeAction").count(), reports)
}

#[tokio::test(flavor = "multi_thread")]
async fn fixes_are_asked_for_only_where_they_will_be_offered() {
    for request in ["rename the parameter x to z", "why does this fail?", "add a docstring"] {
        let (asked, reports) = offers_asked_for(request, &[]).await;
        assert_eq!((asked, &reports["older"]), (0, &json!(1)), "{request}: {reports}");
        assert_eq!(reports["diagnostics"], json!([]), "{request}");
    }
    let (asked, reports) = offers_asked_for("add a docstring", &[change("a.py", "return 1", "return bad")]).await;
    // Once after the edit, and once more when the error is held against the end.
    assert_eq!((asked, &reports["older"]), (2, &json!(1)), "that of the edit alone: {reports}");
    assert_eq!(reports["diagnostics"].as_array().map(Vec::len), Some(1), "{reports}");
    let (asked, reports) = offers_asked_for("fix the errors", &[]).await;
    assert_eq!((asked, &reports["older"]), (1, &json!(0)), "{reports}");
}

#[tokio::test]
async fn one_publish_of_a_version_proves_something_only_where_no_second_can_come() {
    let part = json!({"publish": {"version": "same", "items": []}});
    let script = json!({"on": {OPEN: [part, {"wait_for": "go"}, publish()]}});
    let folder = tempfile::tempdir().expect("a folder");
    let mut config = fake_config(folder.path(), &script);
    config.publishes_once = false;
    let server = sextant::diagnostics::server::LanguageServer::new(config, folder.path());
    let fake = Fake { folder, server };
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Quiet, 0), "a guess, and a wrong one");
    fake.go("go");
    let late = fake.late().await;
    assert_eq!(late[0].diagnostics.len(), 1, "{late:?}");
}

#[tokio::test]
async fn a_pull_that_may_be_of_the_text_before_is_asked_for_again() {
    // The first answer after a change is of the text before, as pyrefly gives it now and then.
    let pull = "textDocument/diagnostic";
    let answers = json!([[{"reply": {"pull": "scan"}}], [{"reply": {"pull": "scan"}}], [{"reply": {"pull": "old"}}],
        [{"reply": {"pull": "scan"}}], [{"reply": {"pull": "scan"}}]]);
    let script = json!({"name": "pyrefly", "on": {OPEN: [], CHANGE: [], pull: answers}});
    let fake = Fake::new(&script);
    assert_eq!(fake.ask("ok\n", PATIENCE_MS).await.diagnostics.len(), 0);
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Exact, 1), "{report:?}");
}
