//! Stopping a task at every call that it makes: it ends there, whatever stalls, and does nothing afterwards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::diagnostics::model::MOST;
use sextant::engine::{Event, Request, Steps};
use sextant::llm::step::{PlanReply, PlanReplyStep};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, Stall, TestEngine, act};
use crate::support::project::Project;

/// What goes on in the world because of a task; looks at texts are how it sums itself up.
const WORK: &[&str] = &["step", "plan", "apply", "diagnostics", "fixes", "fix_change"];

fn setup() -> Setup {
    let replies = vec![
        act("read_symbol", json!({"symbol": "a.py::f"})),
        act("search", json!({"pattern": "return"})),
        act("edit_file", replace("return 1", "return 11")),
        act("run_command", json!({"command": ["echo", "x"]})),
        act(
            "edit_symbol",
            json!({"symbol": "a.py::f", "action": "replace", "content": "def f() -> int:\n    return 12\n"}),
        ),
    ];
    let step = |title: &str| PlanReplyStep {
        title: title.into(),
        symbols: vec!["a.py::f".into()],
        because: "asked".into(),
        expect: "changed".into(),
        ..PlanReplyStep::default()
    };
    let steps = vec![step("one"), step("two")];
    let plans = vec![PlanReply { title: "T".into(), reason: "R".into(), steps, confidence: 1.0, declined: false }];
    Setup { replies, plans, config: json!({"commands_allowed": ["echo"]}), ..Setup::default() }
}

/// How soon a stopped task has to be over. What it must not wait for takes seconds in this build.
const SOON: Duration = Duration::from_millis(250);
/// How often one point is tried before it is late: the machine may be busy with something else for a moment.
const TRIES: usize = 25;

/// The same until the end comes soon.
async fn stopped_soon_at(call: usize, planned: bool) -> Option<Vec<&'static str>> {
    let mut took = Vec::new();
    while took.len() < TRIES {
        let (names, late) = stopped_at(call, planned).await?;
        if late <= SOON {
            return Some(names);
        }
        took.push((names[call], late));
    }
    panic!("stopped at call {call}, the end came late: {took:?}")
}

/// Runs all of a task with a stop at one call, and says how long the end took; `None` when it has fewer calls.
async fn stopped_at(call: usize, planned: bool) -> Option<(Vec<&'static str>, Duration)> {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    engine.calls.stop_at(call, engine.cancel.clone());
    let request = Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    let run = async {
        if planned {
            let made = engine.session.plan(&request, &engine.cancel).await.result;
            if made.is_ok() && !engine.cancel.is_cancelled() {
                let _ = engine.session.approve(Steps::All, &engine.cancel).await.result;
            }
        } else {
            let _ = engine.session.ask(&request, &engine.cancel).await.result;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), run).await;
    let late = engine.cancel.is_cancelled().then(|| engine.calls.since_stop());
    let names = engine.calls.names();
    assert!(ended.is_ok(), "stopped at call {call} ({:?}), it did not end: {names:?}", names.get(call));
    if !engine.cancel.is_cancelled() {
        return None;
    }
    assert!(names.len() > call, "{names:?}");
    let after: Vec<&str> = names[call + 1..].iter().copied().filter(|name| WORK.contains(name)).collect();
    assert_eq!(after, Vec::<&str>::new(), "work after a stop at call {call}, {}: {names:?}", names[call]);
    // An edit is whole, on disk and in the journal, or it is not at all.
    let edits = names.iter().filter(|name| **name == "apply").count();
    if edits > 0 {
        // On a busy machine the stop does not wait for it, and it is made all the same.
        until(|| project.read("a.py") != TEXT).await;
    }
    let text = project.read("a.py");
    let states = [TEXT.to_owned(), TEXT.replace("return 1", "return 11"), TEXT.replace("return 1", "return 12")];
    assert!(states.contains(&text), "{text}");
    assert_eq!(text != TEXT, edits > 0, "{names:?}");
    if edits > 0 && !planned {
        let fresh = engine.session.undo().await.result;
        assert!(fresh.is_ok() && project.read("a.py") == TEXT, "{fresh:?}\n{}", project.read("a.py"));
    }
    Some((names, late.expect("it was stopped")))
}

#[tokio::test]
async fn a_task_ends_at_whichever_call_it_is_stopped() {
    let mut points = 0;
    while stopped_soon_at(points, false).await.is_some() {
        points += 1;
    }
    assert!(points > 25, "{points} points");
}

#[tokio::test]
async fn a_plan_ends_at_whichever_call_it_is_stopped() {
    let mut points = 0;
    while stopped_soon_at(points, true).await.is_some() {
        points += 1;
    }
    assert!(points > 30, "{points} points");
}

/// Stops a task as soon as it has what thousands of diagnostics have become after its edit, which it then compares.
async fn stopped_with_a_flood() -> (Vec<&'static str>, Duration) {
    let project = project();
    let replies = vec![act("edit_file", replace("return 1", "return 11"))];
    let engine = TestEngine::new(&project, Setup { replies, flood: MOST, ..Setup::default() });
    engine.calls.stop_behind(2, engine.cancel.clone());
    let ended = engine.ask("change f").await;
    let late = engine.calls.since_stop();
    assert_eq!(ended["failed"]["kind"], "cancelled", "{ended}");
    (engine.calls.names(), late)
}

#[tokio::test]
async fn a_stop_waits_for_no_comparison_of_thousands() {
    let mut took = Vec::new();
    while took.len() < TRIES {
        let (names, late) = stopped_with_a_flood().await;
        assert!(names.contains(&"apply"), "{names:?}");
        if late <= SOON {
            return;
        }
        took.push(late);
    }
    panic!("the end came late: {took:?}")
}

/// Stops a task over hundreds of diagnostics of a long text right behind one answer of its editor; `None` when it
/// gets fewer.
async fn stopped_behind(answer: usize) -> Option<Duration> {
    let long: String = (0..1_500).map(|n| format!("def g{n}() -> int:\n    return {n}\n\n\n")).collect();
    let project = Project::new(&[("a.py", &format!("{TEXT}\n\n{long}"))]);
    let engine = TestEngine::new(&project, Setup { flood: 300, ..Setup::default() });
    engine.calls.stop_behind_any(answer, engine.cancel.clone());
    // What a request is about is weighed.
    let request = Request { text: "explain the errors".into(), path: Some("a.py".into()), ..Request::default() };
    let ended = engine.ask_about(&request).await;
    if !engine.cancel.is_cancelled() {
        return None;
    }
    let late = engine.calls.since_stop();
    assert!(ended["failed"]["kind"] == "cancelled" || ended["summary"].is_string(), "{ended}");
    Some(late)
}

#[tokio::test]
async fn a_stop_waits_for_no_weighing_whichever_answer_it_follows() {
    let mut points = 0;
    'points: loop {
        let mut took = Vec::new();
        while took.len() < TRIES {
            let Some(late) = stopped_behind(points).await else { break 'points };
            if late <= SOON {
                points += 1;
                continue 'points;
            }
            took.push(late);
        }
        panic!("stopped behind answer {points}, the end came late: {took:?}");
    }
    assert!(points > 8, "{points} points");
}

/// Stops an undo in the user's words at one call of it; `None` when it has fewer calls.
async fn undo_stopped_at(call: usize) -> Option<Duration> {
    let project = project();
    let replies = vec![act("edit_file", replace("return 1", "return 11"))];
    let engine = TestEngine::new(&project, Setup { replies, memory: true, ..Setup::default() });
    engine.ask("change f").await;
    let done = project.read("a.py");
    let before = engine.calls.names().len();
    engine.calls.stop_at(before + call, engine.cancel.clone());
    let undone = engine.ask("undo that").await;
    let late = engine.cancel.is_cancelled().then(|| engine.calls.since_stop());
    let text = project.read("a.py");
    let names = engine.calls.names();
    if late.is_none() {
        assert!(undone["ok"] == true && text == TEXT, "{undone}");
        return None;
    }
    assert!(text == TEXT || text == done, "half an undo: {text}");
    let written = names[before..].contains(&"apply");
    assert_eq!(text == TEXT, written, "what was begun was finished: {names:?}");
    // Whichever it was, the other is one word away.
    let fresh = if written { engine.session.redo().await.result } else { engine.session.undo().await.result };
    assert!(fresh.is_ok(), "{fresh:?}");
    assert_eq!(project.read("a.py"), if written { done } else { TEXT.to_owned() });
    late
}

#[tokio::test]
async fn an_undo_ends_at_whichever_call_it_is_stopped_and_is_whole_or_not_at_all() {
    let mut points = 0;
    'points: loop {
        let mut took = Vec::new();
        while took.len() < TRIES {
            let Some(late) = undo_stopped_at(points).await else { break 'points };
            if late <= SOON {
                points += 1;
                continue 'points;
            }
            took.push(late);
        }
        panic!("stopped at call {points} of the undo, the end came late: {took:?}");
    }
    assert!(points > 1, "{points} points");
}

#[tokio::test]
async fn a_question_to_the_user_ends_with_the_task() {
    let project = project();
    let replies = vec![act("run_command", json!({"command": ["touch", "made"]})), act("edit_file", replace("1", "2"))];
    let mut engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    engine.session.answers_come();
    let (session, cancel) = (engine.session.clone(), engine.cancel.clone());
    let request = Request { text: "try it".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    let stop = async {
        engine.question().await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(session.ask(&request, &cancel), stop);
    assert_eq!(ended.result.expect_err("stopped").message, "stopped, nothing was changed");
    assert!(session.answer_waiting(1).is_none() && !session.is_asking(), "the question is gone");
    assert!(!project.root().join("made").exists());
    assert_eq!(engine.calls.names().iter().filter(|name| **name == "step").count(), 1);
}

/// Waits for something that another process does, of which nobody tells.
async fn until(there: impl Fn() -> bool) {
    let wait = async {
        while !there() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.expect("it never came");
}

#[tokio::test]
async fn a_command_is_killed_with_the_task() {
    let mut took = Vec::new();
    while took.len() < TRIES {
        match command_stopped().await {
            soon if soon <= SOON => return,
            late => took.push(late),
        }
    }
    panic!("the end came late: {took:?}");
}

async fn command_stopped() -> Duration {
    let project = Project::new(&[("a.py", TEXT), ("run.sh", "#!/bin/sh\necho $$ > pid\nsleep 1000 &\nsleep 1000\n")]);
    let replies = vec![act("run_command", json!({"command": ["sh", "run.sh"]})), act("edit_file", replace("1", "2"))];
    let config = json!({"commands_allowed": ["sh run.sh"]});
    let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
    let request = Request { text: "try it".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    let file = project.root().join("pid");
    let pid = || std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let stop = async {
        until(|| pid().is_some()).await;
        engine.cancel.cancel();
        Instant::now()
    };
    let run = async { (engine.session.ask(&request, &engine.cancel).await, Instant::now()) };
    let ((ended, over), stopped) = tokio::join!(run, stop);
    assert_eq!(ended.result.expect_err("stopped").message, "stopped");
    let pid = pid().expect("its number");
    until(|| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z")
    })
    .await;
    assert_eq!(project.read("a.py"), TEXT);
    over.saturating_duration_since(stopped)
}

#[tokio::test]
async fn a_task_that_is_stopped_before_it_begins_does_nothing() {
    let folder = project();
    let engine = TestEngine::new(&folder, setup());
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    assert!(engine.session.ask(&request, &cancel).await.result.is_err());
    assert_eq!(engine.calls.names(), Vec::<&str>::new());
}

fn request() -> Request {
    Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() }
}

async fn carry_out(engine: &TestEngine, planned: bool) {
    if planned {
        engine.session.plan(&request(), &engine.cancel).await.result.expect("a plan");
        engine.session.approve(Steps::All, &engine.cancel).await.result.expect_err("stopped");
    } else {
        engine.session.ask(&request(), &engine.cancel).await.result.expect_err("stopped");
    }
}

/// Which call is the first edit.
async fn first_edit(planned: bool) -> usize {
    let folder = project();
    let engine = TestEngine::new(&folder, setup());
    if planned {
        engine.session.plan(&request(), &engine.cancel).await.result.expect("a plan");
        engine.session.approve(Steps::All, &engine.cancel).await.result.expect("an outcome");
    } else {
        engine.session.ask(&request(), &engine.cancel).await.result.expect("an outcome");
    }
    engine.calls.names().iter().position(|name| *name == "apply").expect("an edit")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_stalls_does_not_hold_up_a_stop_and_is_known_afterwards() {
    for planned in [false, true] {
        let edit = first_edit(planned).await;
        for memory in [false, true] {
            let mut shortest = Duration::MAX;
            for attempt in 0..6 {
                let project = project();
                let config = json!({"commands_allowed": ["echo"], "memory": {"enabled": memory}});
                let mut engine = TestEngine::new(&project, Setup { config, ..setup() });
                engine.calls.stop_at(edit, engine.cancel.clone());
                let go = Arc::new(Notify::new());
                let stall = if attempt % 2 == 0 { Stall::Before } else { Stall::After };
                engine.calls.stall(Some(stall(Arc::clone(&go))));
                tokio::time::timeout(Duration::from_secs(30), carry_out(&engine, planned)).await.expect("it hangs");
                shortest = shortest.min(engine.calls.since_stop());

                engine.calls.stall(None);
                go.notify_one();
                let told = async {
                    loop {
                        if let Some(Event::Progress { text }) = engine.events.recv().await
                            && text == "the edit that was under way when you stopped was made: a.py"
                        {
                            break;
                        }
                    }
                };
                tokio::time::timeout(Duration::from_secs(30), told).await.expect("the user is told");
                assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
                let session = if memory && attempt > 2 {
                    // A new process knows it as well.
                    drop(engine);
                    TestEngine::new(&project, Setup { config: json!({"memory": {"enabled": true}}), ..setup() }).session
                } else {
                    engine.session.clone()
                };
                let undone = session.undo().await.result.expect("undone");
                assert_eq!(project.read("a.py"), TEXT, "{undone}");
                session.redo().await.result.expect("brought back");
                assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
            }
            assert!(shortest < Duration::from_millis(100), "planned {planned}, memory {memory}: {shortest:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_a_stop_has_left_is_waited_for_by_whoever_needs_to_know() {
    let edit = first_edit(false).await;
    let project = project();
    let engine = TestEngine::new(&project, setup());
    engine.calls.stop_at(edit, engine.cancel.clone());
    let go = Arc::new(Notify::new());
    engine.calls.stall(Some(Stall::Before(Arc::clone(&go))));
    carry_out(&engine, false).await;
    engine.calls.stall(None);
    let undo = engine.session.undo();
    let release = async { go.notify_one() };
    let (undone, ()) = tokio::join!(undo, release);
    let undone = undone.result.expect("undone");
    assert!(undone.contains("undone “change f”: a.py"), "{undone}");
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_was_not_answered_in_time_is_known_when_it_is_there_after_all() {
    for memory in [false, true] {
        let project = project();
        let replies = vec![act("edit_file", replace("return 1", "return 11"))];
        let config = json!({"memory": {"enabled": memory}});
        let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
        engine.calls.stall(Some(Stall::Late));
        engine.session.ask(&request(), &engine.cancel).await.result.expect("an outcome");
        assert!(engine.told()[0].contains("did not answer within 5000 ms"), "{:?}", engine.told());
        engine.calls.stall(None);
        assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
        let undone = engine.session.undo().await.result.expect("undone");
        assert_eq!(project.read("a.py"), TEXT, "{undone}");
    }
}
