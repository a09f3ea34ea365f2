//! The review behind every door: edits of clients outside are in it, and the agent hears of rejections once.

use serde_json::{Value, json};
use sextant::engine::{Event, OutsideClient, ReviewAction, ReviewRequest, ReviewScope, ReviewState, Target};
use tokio_util::sync::CancellationToken;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act, last};
use crate::support::project::Project;
use crate::support::servers::fake_config;

fn setup() -> Setup {
    Setup { syntax: true, memory: true, ..Setup::default() }
}

async fn edit(engine: &TestEngine, given: Value) {
    let client = OutsideClient::new("id of claude", "claude");
    engine.session.call(&client, "edit_file", given, None, &CancellationToken::new()).await.expect("an edit");
}

async fn wish(engine: &TestEngine, action: ReviewAction, scope: ReviewScope, reason: &str) -> ReviewState {
    let wish = ReviewRequest { action, scope, reason: reason.to_owned() };
    engine.session.review(&wish).await.expect("a review")
}

fn file() -> ReviewScope {
    ReviewScope::File("a.py".to_owned())
}

#[tokio::test]
async fn the_edits_of_a_client_outside_are_reviewed_and_a_rejection_is_no_task() {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    edit(&engine, replace("return 1", "return 11")).await;
    edit(&engine, replace("return f()", "return f() + 1")).await;
    let shown = wish(&engine, ReviewAction::Show, ReviewScope::All, "").await;
    let symbols: Vec<&str> = shown.files[0].hunks.iter().map(|hunk| hunk.symbol.as_str()).collect();
    assert_eq!((symbols, shown.reviewed, shown.total), (vec!["f", "g"], 0, 2));
    let hunk = |id: &str| ReviewScope::Hunk { path: "a.py".into(), id: id.into(), lines: None };
    let second = shown.files[0].hunks[1].id.clone();
    let left = wish(&engine, ReviewAction::Reject, hunk(&second), "g is right as it was").await;
    assert_eq!((left.reviewed, left.total, left.rejected, left.notes.len()), (1, 2, 1, 1));
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
    let again = ReviewRequest { action: ReviewAction::Reject, scope: hunk(&second), ..ReviewRequest::default() };
    assert!(engine.session.review(&again).await.is_err(), "it does not wait any more");
    let done = wish(&engine, ReviewAction::Accept, ReviewScope::All, "").await;
    assert_eq!((done.files.len(), done.reviewed, done.total), (0, 2, 2));
    let history = engine.session.history().await.expect("a history");
    assert_eq!(history.tasks.len(), 1, "the client's task alone");
}

#[tokio::test]
async fn a_diff_has_what_stands_after_a_review_and_nothing_that_was_rejected() {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    engine.model.push(act("edit_file", replace("return 1", "return 11")));
    engine.model.push(last("edit_file", replace("return f()", "return f() + 1")));
    engine.ask("raise f and g in a.py").await;
    let diff = async |part: &str| engine.session.changed_text(None, &Target::parse(part)).await;
    for part in ["", "step 2", "g"] {
        assert!(diff(part).await.expect(part).contains("+    return f() + 1"), "{part}");
    }
    wish(&engine, ReviewAction::Reject, ReviewScope::Symbol { path: "a.py".into(), symbol: "g".into() }, "").await;
    let whole = diff("").await.expect("a diff");
    assert!(whole.contains("+    return 11") && !whole.contains("f() + 1"), "{whole}");
    for part in ["step 2", "g"] {
        let failure = diff(part).await.expect_err(part);
        assert!(failure.message.contains("changed nothing that stands"), "{part}: {failure:?}");
    }
    wish(&engine, ReviewAction::BringBack, ReviewScope::All, "").await;
    assert!(diff("g").await.expect("it is back").contains("+    return f() + 1"));
    wish(&engine, ReviewAction::Reject, ReviewScope::All, "").await;
    assert_eq!(project.read("a.py"), TEXT);
    let failure = diff("").await.expect_err("all of it was rejected");
    assert!(failure.message.contains("changed nothing that stands"), "{failure:?}");
}

#[tokio::test]
async fn another_process_goes_on_with_the_review_and_the_agent_hears_of_it_once() {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    edit(&engine, replace("return 1", "return 11")).await;
    edit(&engine, replace("return f()", "return f() + 1")).await;
    let scope = ReviewScope::Symbol { path: "a.py".into(), symbol: "f".into() };
    wish(&engine, ReviewAction::Reject, scope, "one is enough").await;
    drop(engine);
    let engine = TestEngine::new(&project, setup());
    let shown = wish(&engine, ReviewAction::Show, ReviewScope::All, "").await;
    assert_eq!((shown.reviewed, shown.total, shown.rejected), (1, 2, 1));
    let back = wish(&engine, ReviewAction::BringBack, ReviewScope::All, "").await;
    assert_eq!((back.reviewed, back.total, back.notes.len()), (0, 2, 0), "a rejection that was taken back is not told");
    assert!(project.read("a.py").contains("return 11"));
    wish(&engine, ReviewAction::Reject, file(), "leave it alone").await;
    assert_eq!(project.read("a.py"), TEXT);
    for heard in [true, false] {
        engine.model.push(last("read_file", json!({"path": "a.py"})));
        engine.ask("look at f in a.py").await;
        let prompt = engine.model.asked.lock().unwrap().last().expect("a question").context.memory.remarks.join("\n");
        let line = "a.py::f (`return 11`): the user rejected your change: leave it alone";
        assert_eq!(prompt.contains(line), heard, "{prompt}");
    }
}

#[tokio::test]
async fn the_client_that_made_a_change_hears_of_its_rejection_once() {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    edit(&engine, replace("return 1", "return 11")).await;
    wish(&engine, ReviewAction::Reject, file(), "no numbers there").await;
    let cancel = CancellationToken::new();
    let read = async |client: &OutsideClient| {
        let call = engine.session.call(client, "read_file", json!({"path": "a.py"}), None, &cancel);
        call.await.expect("a text").text
    };
    let line = "review: a.py::f (`return 11`): the user rejected your change: no numbers there";
    let other = OutsideClient::new("id of codex", "codex");
    assert!(!read(&other).await.contains("review: "), "the change is another client's");
    let claude = OutsideClient::new("id of claude", "claude");
    let told = read(&claude).await;
    assert!(told.ends_with(line), "{told}");
    assert!(!read(&claude).await.contains("review: "), "it is said once");
    edit(&engine, replace("return f()", "return f() + 1")).await;
    wish(&engine, ReviewAction::Reject, ReviewScope::All, "nor there").await;
    let answer = engine.session.call(&claude, "edit_file", replace("return 1", "return 2"), None, &cancel);
    let data = answer.await.expect("an edit").data.expect("data");
    let said = "review: a.py::g (`return f() + 1`): the user rejected your change: nor there";
    assert!(data["notes"].as_array().is_some_and(|notes| notes.contains(&json!(said))), "{data}");
}

/// An engine whose server reports the word `bad`, and leaves the errors of an edit in place.
fn reporting(project: &Project) -> TestEngine {
    let publish = json!([[{"publish": {"version": "same", "items": "scan"}}]]);
    let script = json!({"on": {"textDocument/didOpen": publish, "textDocument/didChange": publish}});
    let servers = vec![fake_config(&project.beside("fake"), &script)];
    let config = json!({"diagnostics": {"new_errors": "keep"}});
    TestEngine::new(project, Setup { servers, config, ..setup() })
}

/// The review, as soon as one diagnostic of the edits is listed.
async fn with_one_listed(engine: &mut TestEngine) -> ReviewState {
    let listed = async {
        while !matches!(engine.events.recv().await, Some(Event::Introduced { entries, .. }) if entries.len() == 1) {}
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), listed).await.expect("the list does not come");
    wish(engine, ReviewAction::Show, ReviewScope::All, "").await
}

#[tokio::test]
async fn the_agent_hears_of_a_rejected_part_by_its_own_lines() {
    let project = project();
    let mut engine = reporting(&project);
    edit(&engine, replace("    return 1\n", "    one = bad\n    two = 2\n    return one\n")).await;
    let shown = with_one_listed(&mut engine).await;
    let hunk = &shown.files[0].hunks[0];
    assert_eq!((hunk.added.len(), hunk.diagnostics.len()), (3, 1), "{shown:?}");
    let scope = ReviewScope::Hunk { path: "a.py".into(), id: hunk.id.clone(), lines: Some(1..2) };
    let left = wish(&engine, ReviewAction::Reject, scope, "no two").await;
    assert_eq!(project.read("a.py"), TEXT.replace("    return 1\n", "    one = bad\n    return one\n"));
    let note = &left.notes[0];
    assert_eq!((note.part, note.code.as_str()), (true, "    two = 2"), "{left:?}");
    assert!(note.reported.is_empty(), "the report is of a line that stands: {left:?}");
    engine.model.push(last("read_file", json!({"path": "a.py"})));
    engine.ask("look at f in a.py").await;
    let prompt = engine.model.asked.lock().unwrap().last().expect("a question").context.memory.remarks.join("\n");
    assert!(prompt.contains("a.py::f (`two = 2`): the user rejected this part of your change: no two"), "{prompt}");
}

#[tokio::test]
async fn a_review_that_cannot_be_read_is_set_aside_and_reported() {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    edit(&engine, replace("return 1", "return 11")).await;
    wish(&engine, ReviewAction::Show, ReviewScope::All, "").await;
    drop(engine);
    let file = project.record().folder().join("review.json");
    let text = std::fs::read_to_string(&file).expect("a review");
    let broken = &text[..text.len() / 2];
    std::fs::write(&file, broken).expect("half of it");
    let mut engine = TestEngine::new(&project, setup());
    edit(&engine, replace("return f()", "return f() + 1")).await;
    let shown = wish(&engine, ReviewAction::Show, ReviewScope::All, "").await;
    assert_eq!(shown.total, 1, "the new edit alone");
    let aside = project.record().folder().join("review-damaged.json");
    assert_eq!(std::fs::read_to_string(&aside).expect("the old one"), broken);
    let is_told = |event: &Event| matches!(event, Event::Progress { text } if text.contains("cannot be read") && text.contains("review-damaged.json"));
    assert_eq!(engine.seen().iter().filter(|event| is_told(event)).count(), 1);
}

#[tokio::test]
async fn the_agent_hears_what_was_reported_of_a_rejected_change() {
    let project = project();
    let mut engine = reporting(&project);
    edit(&engine, replace("return 1", "return bad")).await;
    let shown = with_one_listed(&mut engine).await;
    assert_eq!(shown.files[0].hunks[0].diagnostics.len(), 1, "{shown:?}");
    wish(&engine, ReviewAction::Reject, ReviewScope::All, "not this name").await;
    engine.model.push(last("read_file", json!({"path": "a.py"})));
    engine.ask("look at f in a.py").await;
    let prompt = engine.model.asked.lock().unwrap().last().expect("a question").context.memory.remarks.join("\n");
    let line = "a.py::f (`return bad`): the user rejected your change: not this name; it had brought: f: this is bad";
    assert!(prompt.contains(line), "{prompt}");
}

#[tokio::test]
async fn an_undo_of_the_task_leaves_nothing_to_review() {
    let project = project();
    let engine = TestEngine::new(&project, setup());
    edit(&engine, replace("return 1", "return 11")).await;
    engine.session.take_back(&sextant::engine::UndoRequest::default()).await.result.expect("an undo");
    let shown = wish(&engine, ReviewAction::Show, ReviewScope::All, "").await;
    assert!(shown.files.is_empty(), "{shown:?}");
    assert_eq!(
        engine
            .session
            .changed_text(None, &sextant::engine::Target::Task)
            .await
            .map_err(|error| error.message)
            .unwrap_err(),
        "the task of “edits of claude” changed nothing that stands"
    );
}
