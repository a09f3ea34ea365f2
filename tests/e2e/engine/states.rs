//! What is known when work ends: an end that waits, one verdict for all who judge, a stop in the middle of a check, and
//! lists that follow what is known.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::engine::{Event, Outcome};
use sextant::llm::chat::ChatReply;
use sextant::llm::step::StepReply;
use tokio_util::sync::CancellationToken;

use crate::engine::replace;
use crate::support::engine::{Setup, TestEngine, act, calls, last, plan_of, planned, says};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{CHANGE, OPEN, fake_config};

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return f()\n";

fn publish() -> Value {
    json!({"publish": {"version": "same", "items": "scan"}})
}

/// A server that speaks of every change when it is let, or at once, or never.
fn server(on_change: Value) -> Value {
    json!({"log": "log", "on": {OPEN: [publish()], CHANGE: on_change}})
}

/// Lets the server speak as soon as it has heard of a change, and a while later than an edit is waited for.
fn let_go_after_change(folder: &Path) -> std::thread::JoinHandle<()> {
    let (log, go) = (folder.join("log"), folder.join("go"));
    std::thread::spawn(move || {
        while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("didChange")) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(1_000));
        std::fs::write(go, "").expect("a signal");
    })
}

fn done() -> (&'static str, Value) {
    ("done", json!({"answer": "f is changed."}))
}

fn talking(project: &Project, script: &Value, chats: Vec<ChatReply>) -> (TestEngine, PathBuf) {
    let folder = project.beside("fake");
    let config = json!({"diagnostics": {"timeout_ms": 300, "start_timeout_ms": 60_000}});
    let servers = vec![fake_config(&folder, script)];
    (TestEngine::new(project, Setup { chats, config, servers, ..Setup::default() }), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn done_waits_for_who_may_still_speak_and_costs_no_answer() {
    let project = Project::new(&[("a.py", TEXT)]);
    let script = server(json!([{"wait_for": "go"}, publish()]));
    let chats = vec![calls(&[("edit_file", replace("return 1", "return 2")), done()]), says("never asked")];
    let (mut engine, folder) = talking(&project, &script, chats);
    let going = let_go_after_change(&folder);
    let outcome = engine.ask("change f to return 2").await;
    going.join().expect("it went");
    assert_eq!(engine.talked().len(), 1, "{outcome}");
    assert_eq!((&outcome["ok"], &outcome["diagnostics_status"]), (&json!(true), &json!("complete")), "{outcome}");
    let waits = |event: &Event| matches!(event, Event::Progress { text } if text.contains("waiting for what is not known yet: fake (a.py)"));
    assert!(engine.seen().iter().any(waits), "the user is told of the wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_comes_while_done_waits_refuses_it_once() {
    let project = Project::new(&[("a.py", TEXT)]);
    let script = server(json!([{"wait_for": "go"}, publish()]));
    let chats =
        vec![calls(&[("edit_file", replace("return 1", "return bad")), done()]), calls(&[done()]), says("never asked")];
    let (engine, folder) = talking(&project, &script, chats);
    let going = let_go_after_change(&folder);
    let outcome = engine.ask("change f to return bad").await;
    going.join().expect("it went");
    let talked = engine.talked();
    assert_eq!(talked.len(), 2, "{outcome}");
    assert!(talked[1].last().contains("not over: this is new: error a.py"), "{}", talked[1].last());
    assert_eq!(outcome["ok"], false, "{outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_answers_keeps_no_end_from_coming() {
    let project = Project::new(&[("a.py", TEXT)]);
    let chats = vec![calls(&[("edit_file", replace("return 1", "return 2")), done()]), says("never asked")];
    let (engine, _) = talking(&project, &server(json!([])), chats);
    let outcome = engine.ask("change f to return 2").await;
    assert_eq!(engine.talked().len(), 1, "{outcome}");
    let summary = outcome["summary"].as_str().expect("a summary");
    assert!(summary.contains("what the change did is not known: fake (a.py)"), "{summary}");
}

/// A warning of this code on a line.
fn warning(code: &str, line: u32) -> Value {
    let range = json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}});
    json!({"range": range, "severity": 2, "code": code, "message": format!("{code} here")})
}

#[tokio::test(flavor = "multi_thread")]
async fn done_is_refused_for_a_kind_that_its_file_did_not_have_and_for_no_other() {
    for (code, answers) in [("W1", 1), ("W2", 2)] {
        let project = Project::new(&[("a.py", TEXT)]);
        let items = |items: Value| json!([{"publish": {"version": "same", "items": items}}]);
        let script = json!({"on": {
            OPEN: items(json!([warning("W1", 0)])),
            CHANGE: items(json!([warning("W1", 0), warning(code, 1)])),
        }});
        let edit = ("edit_file", replace("return 1", "return 2"));
        let (engine, _) = talking(&project, &script, vec![calls(&[edit, done()]), calls(&[done()])]);
        let outcome = engine.ask("change f").await;
        assert_eq!(engine.talked().len(), answers, "{code}: {outcome}");
        assert_eq!(outcome["new_diagnostics"].as_array().expect("a list").len(), 1, "{outcome}");
    }
}

fn finished() -> StepReply {
    StepReply { confidence: 1.0, answer: "done".to_owned(), ..StepReply::default() }
}

#[tokio::test]
async fn a_plan_whose_edit_leaves_an_error_is_not_ok_whatever_became_of_its_step() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "def h():\n    return 1\n")]);
    let in_b = change("b.py", "return 1", "return 2");
    let setup = Setup {
        plans: vec![plan_of([planned("change f", &["a.py::f"])]), plan_of([planned("change h", &["b.py::h"])])],
        replies: vec![
            last("edit_file", replace("return 1", "return (1")),
            finished(),
            finished(),
            last("edit_file", in_b),
        ],
        config: json!({"mode": "planner"}),
        syntax: true,
        memory: true,
        ..Setup::default()
    };
    let engine = TestEngine::new(&project, setup);
    engine.plan("change f and h").await.expect("a plan");
    let (outcome, events) = engine.approve().await;
    let outcome: Outcome = outcome.expect("it ran");
    assert!(project.read("b.py").contains("return 2"), "{}", outcome.summary);
    assert!(outcome.failed_steps.iter().all(|step| step.replaced), "{:?}", outcome.failed_steps);
    assert!(!outcome.ok && outcome.summary.contains("Not done: 1 new error stays"), "{}", outcome.summary);
    assert!(events.iter().any(|event| matches!(event, Event::Finished { ok: false, .. })), "{events:?}");
    let figures = engine.session.statistics().await.expect("figures");
    let success = figures.lines().find(|line| line.contains("success")).unwrap_or_default().to_owned();
    assert!(success.contains("0 %"), "{figures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_errors_asks_for_none_in_what_a_step_has_changed() {
    let project = Project::new(&[("a.py", &TEXT.replace("return 1", "return bad"))]);
    let folder = project.beside("fake");
    let mut step = planned("change g", &["a.py::f", "a.py::g"]);
    step.checks = vec!["no errors".into()];
    let setup = Setup {
        plans: vec![plan_of([step])],
        replies: vec![last("edit_file", replace("return f()", "return f() + 1"))],
        servers: vec![fake_config(&folder, &server(json!([publish()])))],
        ..Setup::default()
    };
    let engine = TestEngine::new(&project, setup);
    engine.plan("change g").await.expect("a plan");
    let (outcome, _) = engine.approve().await;
    let outcome = outcome.expect("it ran");
    assert!(outcome.ok, "an old one elsewhere is none of its: {}", outcome.summary);
}

/// Stops what runs as soon as its edit is there, while it is checked.
async fn stop_behind_the_edit(project: &Project, cancel: &CancellationToken) {
    while project.read("a.py") == TEXT {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    cancel.cancel();
}

fn slow(project: &Project) -> (Setup, PathBuf) {
    let folder = project.beside("fake");
    let servers = vec![fake_config(&folder, &server(json!([{"wait_for": "go"}, publish()])))];
    let config = json!({"diagnostics": {"timeout_ms": 60_000}});
    (Setup { servers, config, ..Setup::default() }, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stop_left_unchecked_is_not_known() {
    let project = Project::new(&[("a.py", TEXT)]);
    let (setup, _) = slow(&project);
    let replies = vec![act("edit_file", replace("return 1", "return bad"))];
    let mut engine = TestEngine::new(&project, Setup { replies, ..setup });
    let (ended, ()) = tokio::join!(engine.ask("change f"), stop_behind_the_edit(&project, &engine.cancel));
    assert_eq!(ended["failed"]["kind"], "cancelled", "{ended}");
    let said = engine.seen().into_iter().filter_map(|event| match event {
        Event::Progress { text } if text.contains("changed a.py") => Some(text),
        _ => None,
    });
    let said = said.collect::<Vec<_>>().join("\n");
    assert!(said.contains("not known yet: fake (a.py, stopped while it was checked)"), "{said}");
    assert!(!said.contains("0 new"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_was_stopped_behind_its_edit_goes_on_with_it() {
    for (memory, new, ok) in [(false, "return 2", true), (true, "return 2", true), (true, "return bad", false)] {
        let project = Project::new(&[("a.py", TEXT)]);
        let (setup, folder) = slow(&project);
        let whole = format!("def f() -> int:\n    {new}\n");
        let edit = || json!({"symbol": "a.py::f", "action": "replace", "content": whole});
        let setup = Setup {
            plans: vec![plan_of([planned("change f", &["a.py::f"])])],
            replies: vec![act("edit_symbol", edit()), act("edit_symbol", edit())],
            memory,
            ..setup
        };
        let engine = TestEngine::new(&project, setup);
        engine.plan("change f").await.expect("a plan");
        let (ended, ()) = tokio::join!(engine.approve(), stop_behind_the_edit(&project, &engine.cancel));
        assert!(ended.0.is_err(), "{ended:?}");
        std::fs::write(folder.join("go"), "").expect("a signal");
        let outcome = engine.session.resume(true, &CancellationToken::new()).await.result;
        let Ok(outcome) = outcome else { panic!("{memory}: {outcome:?}") };
        assert_eq!(outcome.ok, ok, "{memory}, {new}: {}, {:?}", outcome.summary, outcome.failed_steps);
        assert!(!outcome.failed_steps.iter().any(|step| step.reason.contains("already")), "{:?}", outcome.failed_steps);
        assert!(engine.told().iter().any(|told| told.contains("this edit stands already")), "{:?}", engine.told());
    }
}

/// How many entries each list had that was shown.
fn lists(engine: &mut TestEngine) -> Vec<usize> {
    let entries = |event: Event| match event {
        Event::Introduced { entries, .. } => Some(entries.len()),
        _ => None,
    };
    engine.seen().into_iter().filter_map(entries).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_follows_what_is_known_until_another_task_changes_something() {
    let project = Project::new(&[("a.py", TEXT)]);
    let folder = project.beside("fake");
    let replies = vec![
        last("edit_file", replace("return 1", "return bad")),
        // What it says to the error that stays, and its answer to the question.
        finished(),
        finished(),
        last("edit_file", replace("return bad", "return 3")),
    ];
    let servers = vec![fake_config(&folder, &server(json!([publish()])))];
    let mut engine = TestEngine::new(&project, Setup { replies, servers, ..Setup::default() });
    engine.ask("change f").await;
    assert_eq!(lists(&mut engine), [1]);
    engine.ask("why is f so slow?").await;
    assert_eq!(lists(&mut engine), Vec::<usize>::new(), "a question changes nothing, and no list");
    engine.session.undo().await.result.expect("undone");
    assert_eq!(lists(&mut engine), [0], "what was taken back took its error along");
    engine.session.redo().await.result.expect("brought back");
    assert_eq!(lists(&mut engine), [1]);
    engine.ask("change f again").await;
    assert_eq!(lists(&mut engine), [0], "the list of another task");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_become_known_is_no_more_said_to_be_open() {
    let project = Project::new(&[("a.py", TEXT)]);
    let folder = project.beside("fake");
    let replies = [last("edit_file", replace("return 1", "return bad"))].into_iter();
    let replies: Vec<StepReply> = replies.chain((0..50).map(|_| finished())).collect();
    let servers = vec![fake_config(&folder, &server(json!([{"wait_for": "go"}, publish()])))];
    let config = json!({"diagnostics": {"timeout_ms": 300, "start_timeout_ms": 60_000}});
    let mut engine = TestEngine::new(&project, Setup { replies, servers, config, ..Setup::default() });
    engine.ask("change f").await;
    let titles = |engine: &mut TestEngine| -> Vec<(String, String, usize)> {
        let title = |event: Event| match event {
            Event::Introduced { request, unknown, entries, .. } => Some((request, unknown, entries.len())),
            _ => None,
        };
        engine.seen().into_iter().filter_map(title).collect()
    };
    assert_eq!(titles(&mut engine), [("change f".to_owned(), "fake (a.py)".to_owned(), 0)]);
    std::fs::write(folder.join("go"), "").expect("a signal");
    // The server may need longer than one question waits for it.
    let mut known = Vec::new();
    for _ in 0..40 {
        engine.ask("why is f so slow?").await;
        known = titles(&mut engine);
        if !known.is_empty() {
            break;
        }
    }
    assert_eq!(known, [("change f".to_owned(), String::new(), 1)]);
}
