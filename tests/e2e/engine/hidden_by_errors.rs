//! What an error hides: an answer behind it is not whole, and what its end uncovers is named.

use serde_json::{Value, json};
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::engine::{Event, Request, Steps};

use crate::support::engine::{Setup, TestEngine, act, calls, last, plan_of, planned};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{CHANGE, OPEN, fake_config};

const TEXT: &str = "one = 1\ntwo = 2\n\n\ndef f() -> int:\n    return 1\n";

fn item(code: &str, line: u32, message: &str) -> Value {
    let range = json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}});
    json!({"range": range, "severity": 1, "code": code, "message": message})
}

fn publish(items: &[Value]) -> Value {
    json!({"publish": {"version": "same", "items": items}})
}

/// A server of this name, which reports `before` on a file as it is opened, and does `then` behind each change.
fn setup(project: &Project, name: &str, before: &[Value], then: Value) -> Setup {
    let script = json!({"on": {OPEN: [publish(before)], CHANGE: then}});
    let server = ServerConfig { name: name.to_owned(), ..fake_config(&project.beside("fake"), &script) };
    let config = json!({"diagnostics": {"timeout_ms": 60_000, "start_timeout_ms": 60_000}});
    Setup { config, servers: vec![server], ..Setup::default() }
}

fn workspace(text: &str) -> Request {
    Request { text: text.into(), workspace: true, ..Request::default() }
}

fn not_found() -> Value {
    item("pp_file_not_found", 0, "'geo/shape.hpp' file not found")
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_to_be_new_or_clean_behind_an_include_that_is_not_found() {
    let project = Project::new(&[("a.py", TEXT)]);
    let behind = json!([publish(&[not_found()])]);
    let edit = change("a.py", "return 1", "return nobody");
    let replies = vec![act("edit_file", edit.clone()), last("read_file", json!({"path": "a.py"}))];
    let engine =
        TestEngine::new(&project, Setup { replies, ..setup(&project, "clangd", &[not_found()], behind.clone()) });
    let outcome = engine.ask("change f").await;
    let answer = engine.told().first().expect("an answer").clone();
    let why = "clangd (a.py, all that needs what was not found: 'geo/shape.hpp' file not found; \
               compile_commands.json has to name its include path)";
    assert!(answer.contains("partly known") && answer.contains(why), "{answer}");
    let summary = outcome["summary"].as_str().expect("a summary");
    assert_eq!(outcome["diagnostics_status"], "partial", "{outcome}");
    assert!(summary.contains(why) && !summary.contains("0 new"), "{summary}");

    let project = Project::new(&[("a.py", TEXT)]);
    let setup = Setup {
        plans: vec![plan_of([planned("change f", &["a.py::f"])])],
        replies: vec![last("edit_file", edit)],
        ..setup(&project, "clangd", &[not_found()], behind)
    };
    let engine = TestEngine::new(&project, setup);
    engine.plan("change f").await.expect("a plan");
    let (outcome, events) = engine.approve().await;
    let shown = format!("{events:?} {}", outcome.expect("it ran").summary);
    assert!(shown.contains("0 fixed so far, whether anything is new is not known: clangd"), "{shown}");
    assert!(!shown.contains("0 new"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_finds_its_include_again_is_known_whole_at_its_end() {
    let project = Project::new(&[("a.py", TEXT)]);
    let behind = json!([publish(&[item("no_member", 1, "no member named 'two'")])]);
    let replies = vec![last("edit_file", change("a.py", "one = 1", "one = 3"))];
    let engine = TestEngine::new(&project, Setup { replies, ..setup(&project, "clangd", &[not_found()], behind) });
    let outcome = engine.ask_about(&workspace("change one")).await;
    assert_eq!(outcome["diagnostics_status"], "complete", "{outcome}");
    let summary = outcome["summary"].as_str().expect("a summary");
    assert!(summary.contains("0 new diagnostics, 1 fixed, 0 unchanged. 1 seen again"), "{summary}");
}

const SYNTAX: &str = "syntax-error";
const AGAIN: &str = "1 seen again after an earlier error went away: a.py:2 this is bad";

fn uncovered() -> Value {
    item("bad", 1, "this is bad")
}

/// The entries of the list that was shown last.
fn listed(events: impl IntoIterator<Item = Event>) -> Vec<String> {
    let lists = events.into_iter().filter_map(|event| match event {
        Event::Introduced { entries, .. } => Some(entries),
        _ => None,
    });
    let last = lists.last().expect("a list");
    last.into_iter().map(|entry| format!("{}:{} {}", entry.path, entry.line, entry.text)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_a_fix_uncovers_is_named_at_the_end_of_a_task_and_of_a_plan_and_listed() {
    let before = [item(SYNTAX, 0, "this does not parse")];
    let behind = json!([publish(&[uncovered()])]);
    let edit = last("edit_file", change("a.py", "one = 1", "one = 3"));
    for is_plan in [false, true] {
        let project = Project::new(&[("a.py", TEXT)]);
        let plans = vec![plan_of([planned("change one", &["a.py"])])];
        let setup = Setup { plans, replies: vec![edit.clone()], ..setup(&project, "fake", &before, behind.clone()) };
        let mut engine = TestEngine::new(&project, setup);
        let summary = if is_plan {
            engine.plan("change one").await.expect("a plan");
            engine.session.approve(Steps::All, &engine.cancel).await.result.expect("it ran").summary
        } else {
            engine.ask_about(&workspace("change one")).await["summary"].as_str().expect("a summary").to_owned()
        };
        assert!(summary.contains(&format!("0 new diagnostics, 1 fixed, 0 unchanged. {AGAIN}")), "{summary}");
        let list = listed(engine.seen());
        let entry = "a.py:2 this is bad [bad] (seen again after an earlier error went away)";
        assert_eq!(list, [entry], "{summary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_a_late_answer_uncovers_is_named_by_the_next_one() {
    let project = Project::new(&[("a.py", TEXT)]);
    let held = json!([{"wait_for": "go"}, publish(&[uncovered()])]);
    let before = [item(SYNTAX, 0, "this does not parse")];
    let done = || ("done", json!({"answer": "Finished."}));
    let edit = ("edit_file", change("a.py", "one = 1", "one = 3"));
    let chats = vec![calls(&[edit, done()]), calls(&[done()])];
    let config = json!({"diagnostics": {"timeout_ms": 300, "start_timeout_ms": 60_000}});
    let mut engine = TestEngine::new(&project, Setup { chats, config, ..setup(&project, "fake", &before, held) });
    let folder = project.beside("fake");
    let ended = async {
        // The end waits for the answer, and shows so.
        while let Some(event) = engine.events.recv().await {
            if matches!(&event, Event::Progress { text } if text.starts_with("waiting for what is not known yet")) {
                std::fs::write(folder.join("go"), "").expect("a signal");
            }
        }
    };
    let request = workspace("change one");
    let asked = engine.session.ask(&request, &engine.cancel);
    let outcome = tokio::select! {
        () = ended => panic!("the events ended"),
        outcome = asked => outcome.result.expect("it ran"),
    };
    let talked = engine.talked();
    assert!(talked[1].last().contains("a.py:2") && talked[1].last().contains("this is bad"), "{}", talked[1].last());
    assert!(outcome.summary.contains(AGAIN), "{}", outcome.summary);
}
