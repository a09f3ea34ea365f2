//! The outcome of a plan's step follows answers that come late, as long as they can only be about this step.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::engine::{Event, Request, Steps};

use crate::support::engine::{Setup, Talked, TestEngine, calls, last, plan_of, planned};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::fake_config;

const A: &str = "def f() -> int:\n    return 1\n";
const B: &str = "def h() -> int:\n    return 1\n";
const LATE: &str = "after a late answer: 0 fixed, 1 new, the first: this is bad";
const UNKNOWN: &str = "0 fixed so far, whether anything is new is not known: fake (a.py)";

fn replace(path: &str, new: &str) -> Value {
    change(path, "return 1", new)
}

/// A plan that breaks `f`, and then changes `h`. The server answers about the first change when it is let, and about
/// others as `others` says.
fn engine(project: &Project, others: Value) -> (TestEngine, PathBuf) {
    let folder = project.beside("fake");
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let held = json!([{"wait_for": "go"}, publish]);
    let script = json!({"on": {
        "textDocument/didOpen": [publish],
        "textDocument/didChange": [held, others],
    }});
    let setup = Setup {
        plans: vec![plan_of([planned("change f", &["a.py::f"]), planned("change h", &["b.py::h"])])],
        replies: vec![last("edit_file", replace("a.py", "return bad")), last("edit_file", replace("b.py", "return 2"))],
        config: json!({"mode": "planner", "diagnostics": {"timeout_ms": 300, "start_timeout_ms": 60_000}}),
        servers: vec![fake_config(&folder, &script)],
        memory: true,
        ..Setup::default()
    };
    (TestEngine::new(project, setup), folder)
}

fn at_once() -> Value {
    json!([{"publish": {"version": "same", "items": "scan"}}])
}

fn project() -> Project {
    Project::new(&[("a.py", A), ("b.py", B)])
}

/// The plan that was shown last.
fn shown(events: impl IntoIterator<Item = Event>) -> String {
    let shown = events.into_iter().filter_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown),
        _ => None,
    });
    shown.last().expect("a plan")
}

/// Its outcome lines.
fn outcomes(events: impl IntoIterator<Item = Event>) -> Vec<String> {
    let markdown = shown(events);
    markdown.lines().filter_map(|line| line.trim().strip_prefix("- outcome: ").map(str::to_owned)).collect()
}

/// Waits for an event that is wanted.
async fn event(engine: &mut TestEngine, is_wanted: impl Fn(&Event) -> bool) -> Event {
    let until = async {
        loop {
            let event = engine.events.recv().await.expect("the session is there");
            if is_wanted(&event) {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), until).await.expect("the event does not come")
}

/// Waits for an answer that changes the plan.
async fn amended(engine: &mut TestEngine) -> String {
    shown([event(engine, |event| matches!(event, Event::Plan { amend: true, .. })).await])
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_a_run_renews_the_outcome_of_its_last_step_for_every_reader() {
    let project = project();
    let (mut engine, folder) = engine(&project, at_once());
    engine.plan("change both").await.expect("a plan");
    let ending = engine.session.approve(Steps::One, &engine.cancel).await;
    ending.result.expect("it ran");
    assert_eq!(outcomes(ending.events), [UNKNOWN]);
    engine.seen();
    std::fs::write(folder.join("go"), "").expect("a signal");
    let plan = amended(&mut engine).await;
    assert!(plan.contains("- [~] change f\n") && plan.contains(&format!("outcome: {LATE}\n")), "{plan}");
    assert!(engine.trace().contains("late answer"), "{}", engine.trace());
    let (again, _) = self::engine(&project, at_once());
    assert_eq!(outcomes(again.session.waiting_plan().await.expect("it waits")), [LATE], "stored");
    engine.approve().await.0.expect("it goes on");
    assert!(project.read("b.py").contains("return 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_before_the_next_edit_is_about_the_step_before() {
    let project = project();
    let (engine, folder) = engine(&project, at_once());
    engine.plan("change both").await.expect("a plan");
    engine.session.approve(Steps::One, &engine.cancel).await.result.expect("it ran");
    std::fs::write(folder.join("go"), "").expect("a signal");
    let (outcome, events) = engine.approve().await;
    outcome.expect("it ran");
    let outcomes = outcomes(events);
    assert!(outcomes[0] == LATE && !outcomes[1].contains("1 new"), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_behind_the_next_edit_is_about_no_step() {
    let project = project();
    let held = json!([{"wait_for": "go"}, {"publish": {"version": "same", "items": "scan"}}]);
    let (engine, folder) = engine(&project, held);
    engine.plan("change both").await.expect("a plan");
    let edited = async {
        while project.read("b.py") == B {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        std::fs::write(folder.join("go"), "").expect("a signal");
    };
    let ((outcome, events), ()) = tokio::join!(engine.approve(), edited);
    let outcome = outcome.expect("it ran");
    let outcomes = outcomes(events);
    assert!(outcomes[0] == UNKNOWN && !outcomes[1].contains("1 new"), "{outcomes:?}");
    assert!(outcome.failed_steps.is_empty(), "{:?}", outcome.failed_steps);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_about_a_text_that_others_have_changed_since_renews_nothing() {
    let project = project();
    let (mut engine, folder) = engine(&project, at_once());
    engine.plan("change both").await.expect("a plan");
    engine.session.approve(Steps::One, &engine.cancel).await.result.expect("it ran");
    project.write("b.py", "def h() -> int:\n    return 3\n");
    engine.seen();
    std::fs::write(folder.join("go"), "").expect("a signal");
    event(&mut engine, |event| matches!(event, Event::Introduced { entries, .. } if entries.len() == 1)).await;
    assert_eq!(outcomes(engine.session.waiting_plan().await.expect("it waits")), [UNKNOWN]);
}

/// The answer about a shell script comes when it is let. An edit of another language waits for none of it, and the end
/// does.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_answer_about_another_language_is_in_no_answer_but_its_own_and_comes_late() {
    let project = Project::new(&[("a.sh", "f() {\n  echo one\n}\n"), ("b.lua", "local x = 1\nreturn x\n")]);
    let folder = project.beside("fake");
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let script =
        json!({"on": {"textDocument/didOpen": [publish], "textDocument/didChange": [{"wait_for": "go"}, publish]}});
    let server = ServerConfig { languages: vec!["shellscript".to_owned()], ..fake_config(&folder, &script) };
    let done = || ("done", json!({"answer": "Finished."}));
    let chats = vec![
        calls(&[("edit_file", change("a.sh", "echo one", "echo bad"))]),
        calls(&[("edit_file", change("b.lua", "x = 1", "x = 2")), done()]),
        calls(&[done()]),
    ];
    let config = json!({"diagnostics": {"timeout_ms": 300, "start_timeout_ms": 60_000}});
    let setup = Setup { chats, config, servers: vec![server], syntax: true, ..Setup::default() };
    let mut engine = TestEngine::new(&project, setup);
    let let_go = async {
        while let Some(event) = engine.events.recv().await {
            if matches!(&event, Event::Progress { text } if text.starts_with("waiting for what is not known yet")) {
                std::fs::write(folder.join("go"), "").expect("a signal");
            }
        }
    };
    let request = Request { text: "change both".into(), workspace: true, ..Request::default() };
    let outcome = tokio::select! {
        () = let_go => panic!("the events ended"),
        outcome = engine.session.ask(&request, &engine.cancel) => outcome.result.expect("it ran"),
    };
    let talked: Vec<String> = engine.talked().iter().map(Talked::last).collect();
    assert!(talked[1].contains("fake (a.sh)"), "{talked:#?}");
    assert!(talked[2].contains("all but the syntax (b.lua)") && !talked[2].contains("fake (a.sh)"), "{talked:#?}");
    assert!(talked[2].contains("this is new: error a.sh"), "{talked:#?}");
    assert!(outcome.summary.contains("1 new diagnostic"), "{}", outcome.summary);
}

/// The server publishes nothing again about a file that was not changed.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_waits_for_a_server_of_two_languages_about_a_file_of_the_other_one() {
    let project = Project::new(&[("a.sh", "f() {\n  echo one\n}\n"), ("b.lua", "local x = 1\nreturn x\n")]);
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let script = json!({"on": {"textDocument/didOpen": [publish], "textDocument/didChange": [publish]}});
    let languages = vec!["shellscript".to_owned(), "lua".to_owned()];
    let server = ServerConfig { languages, ..fake_config(&project.beside("fake"), &script) };
    let chats = vec![
        calls(&[("read_file", json!({"path": "a.sh"}))]),
        calls(&[("edit_file", change("b.lua", "x = 1", "x = 2"))]),
        calls(&[("done", json!({"answer": "Finished."}))]),
    ];
    let config = json!({"diagnostics": {"timeout_ms": 500, "start_timeout_ms": 60_000}});
    let engine = TestEngine::new(&project, Setup { chats, config, servers: vec![server], ..Setup::default() });
    let request = Request { text: "change it".into(), workspace: true, ..Request::default() };
    engine.session.ask(&request, &engine.cancel).await.result.expect("it ran");
    let talked: Vec<String> = engine.talked().iter().map(Talked::last).collect();
    assert!(talked.iter().any(|told| told.contains("not known yet: fake (a.sh)")), "{talked:#?}");
}
