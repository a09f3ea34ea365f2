//! Several plans wait beside each other: none is lost, and each can be chosen, resumed or discarded.

use serde_json::{Value, json};
use sextant::engine::Event;

use crate::support::engine::{Setup, TestEngine, last, plan_of, planned};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::undo::UndoWords;

const A: &str = "def f() -> int:\n    return 1\n";
const B: &str = "def h() -> int:\n    return 1\n";

fn edit(path: &str) -> Value {
    change(path, "return 1", "return 2")
}

/// An engine with a plan for `a.py`, and a second one for `b.py`.
async fn two(project: &Project, memory: bool, files: &[&str]) -> TestEngine {
    let mut plans = [plan_of([planned("change f", &["a.py::f"])]), plan_of([planned("change h", &["b.py::h"])])];
    plans[0].title = "The first".into();
    plans[1].title = "The second".into();
    let setup = Setup {
        plans: plans.into(),
        replies: files.iter().map(|file| last("edit_file", edit(file))).collect(),
        config: json!({"mode": "planner"}),
        memory,
        ..Setup::default()
    };
    let engine = TestEngine::new(project, setup);
    engine.plan("change f").await.expect("a plan");
    engine.plan("change h").await.expect("another");
    engine
}

async fn list(engine: &TestEngine) -> Vec<String> {
    engine.session.waiting_page().await.0.lines().skip(2).map(str::to_owned).collect()
}

fn shown(events: &[Event]) -> String {
    let plan = events.iter().find_map(|event| match event {
        Event::Plan { markdown, phase, .. } => Some(format!("{phase}\n{markdown}")),
        _ => None,
    });
    plan.unwrap_or_default()
}

fn project() -> Project {
    Project::new(&[("a.py", A), ("b.py", B)])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_tells_a_plan_of_a_session_that_is_open_from_one_that_was_left() {
    let project = project();
    let first = two(&project, true, &[]).await;
    let second = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    let rows = list(&second).await;
    let words = "1. “The second”: waiting for approval in another session, which is open, 0 of 1 step done";
    assert!(rows[0].starts_with(words), "{rows:?}");
    first.session.close().await;
    drop(first);
    let rows = list(&second).await;
    assert!(rows[0].starts_with("1. “The second”: waiting for approval, 0 of 1 step done"), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_another_session_ran_is_shown_as_such_and_each_approval_is_refused() {
    let project = project();
    let mut first = two(&project, true, &[]).await;
    first.seen();
    let setup = Setup { replies: vec![last("edit_file", edit("b.py"))], memory: true, ..Setup::default() };
    let second = TestEngine::new(&project, setup);
    second.session.resume_chosen("1", true, &second.cancel).await.result.expect("it ran");
    assert!(project.read("b.py").contains("return 2"));
    for _ in 0..2 {
        let failure = first.approve().await.0.expect_err("it was run elsewhere");
        assert!(failure.message.contains("another process has gone on with"), "{failure:?}");
        assert!(!failure.hint.codes().is_empty(), "the way out is named: {failure:?}");
        let elsewhere = |event: &Event| matches!(event, Event::Plan { phase, .. } if phase == "run in another session");
        assert!(first.seen().iter().any(elsewhere), "the window shows it");
    }
    assert_eq!(project.read("a.py"), A, "no other plan is run in its place");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_plan_loses_no_first_one_with_memory_and_without() {
    for memory in [true, false] {
        let project = project();
        let mut engine = two(&project, memory, &["a.py", "b.py"]).await;
        let beside = |event: &Event| matches!(event, Event::Progress { text } if text.contains("“The first” waits beside this plan"));
        assert!(engine.seen().iter().any(beside), "{memory}");
        let rows = list(&engine).await;
        assert!(rows[0].starts_with("1. “The second”: waiting for approval, 0 of 1 step done"), "{memory}: {rows:?}");
        assert!(rows[1].starts_with("2. “The first”: waiting for approval") && rows.len() == 2, "{memory}: {rows:?}");
        let chosen = engine.session.resume_chosen("2", false, &engine.cancel).await;
        chosen.result.expect("it is shown");
        let text = shown(&chosen.events);
        assert!(text.starts_with("waiting for approval\n# The first"), "{memory}: {text}");
        assert_eq!(project.read("a.py"), A, "{memory}: nothing runs without an approval");
        assert!(engine.approve().await.0.expect("it ran").ok);
        assert!(project.read("a.py").contains("return 2") && project.read("b.py") == B, "{memory}");
        let rows = list(&engine).await;
        assert!(rows[0].starts_with("1. “The second”") && rows.len() == 1, "{memory}: {rows:?}");
        let chosen = engine.session.resume_chosen("second", false, &engine.cancel).await;
        chosen.result.expect("it is shown");
        assert!(engine.approve().await.0.expect("it ran").ok);
        assert!(project.read("b.py").contains("return 2"), "{memory}");
        assert_eq!(list(&engine).await, ["No plan and no task waits here."], "{memory}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_lists_all_plans_and_takes_the_chosen_one() {
    let project = project();
    drop(two(&project, true, &[]).await);
    let setup = Setup { replies: vec![last("edit_file", edit("a.py"))], memory: true, ..Setup::default() };
    let engine = TestEngine::new(&project, setup);
    let rows = list(&engine).await;
    assert!(rows.len() == 2 && rows[1].starts_with("2. “The first”"), "{rows:?}");
    engine.session.resume_chosen("2", true, &engine.cancel).await.result.expect("it ran");
    assert!(project.read("a.py").contains("return 2") && project.read("b.py") == B);
    assert_eq!(list(&engine).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_plan_is_gone_and_the_other_one_stays() {
    for (memory, which, left) in
        [(true, "1", "first"), (true, "2", "second"), (false, "1", "first"), (false, "2", "second")]
    {
        let project = project();
        let engine = two(&project, memory, &[]).await;
        let events = engine.session.discard(which).await.expect("it is discarded");
        let page = events.iter().find_map(|event| match event {
            Event::Page { name, markdown, .. } if name == "waiting" => Some(markdown.clone()),
            _ => None,
        });
        let page = page.expect("the rest of the list");
        assert!(page.contains(&format!("1. “The {left}”")) && !page.contains("2. "), "{memory}, {which}: {page}");
        let failure = engine.session.discard("no such plan").await.expect_err("it is not there");
        assert!(failure.message.contains("nothing that waits is named"), "{failure:?}");
        let chosen = engine.session.resume_chosen("1", false, &engine.cancel).await;
        chosen.result.expect("it is shown");
        assert!(shown(&chosen.events).contains(&format!("# The {left}")), "{memory}, {which}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_waits_is_discarded_by_a_word_and_no_word_asks_for_a_number() {
    for memory in [true, false] {
        let project = project();
        let engine = two(&project, memory, &[]).await;
        let failure = engine.session.discard("").await.expect_err("two wait");
        assert_eq!(failure.message, "2 tasks wait");
        let events = engine.session.discard("all").await.expect("both are discarded");
        let said = events.iter().find_map(|event| match event {
            Event::Finished { summary, .. } => Some(summary.as_str()),
            _ => None,
        });
        assert_eq!(said, Some("discarded 2 waiting tasks; their changes stay"));
        assert_eq!(list(&engine).await, ["No plan and no task waits here."], "{memory}");
        let failure = engine.session.discard("all").await.expect_err("nothing waits");
        assert!(failure.message.contains("nothing that waits is named"), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_mean_several_choose_none() {
    let project = project();
    let engine = two(&project, true, &[]).await;
    let failure = engine.session.resume_chosen("the", false, &engine.cancel).await.result.expect_err("two are meant");
    assert!(failure.message.contains("several that wait are named “the”"), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_opens_the_steps_of_an_earlier_plan_and_the_one_that_waits_stays() {
    for memory in [true, false] {
        let project = project();
        let engine = two(&project, memory, &["a.py", "a.py"]).await;
        engine.session.resume_chosen("2", false, &engine.cancel).await.result.expect("it is shown");
        assert!(engine.approve().await.0.expect("it ran").ok);
        engine.session.resume_chosen("1", false, &engine.cancel).await.result.expect("the other one");
        let undone = engine.session.undo().await;
        undone.result.expect("it is taken back");
        assert_eq!(project.read("a.py"), A, "{memory}");
        let word = "“The first” has 1 open step beside the plan that waits";
        let is_told = |event: &Event| matches!(event, Event::Progress { text } if text == word);
        assert!(undone.events.iter().any(is_told) && shown(&undone.events).is_empty(), "{memory}: {:?}", undone.events);
        let rows = list(&engine).await;
        assert!(
            rows.iter().any(|row| row.contains("“The first”") && row.contains("0 of 1 step done")),
            "{memory}: {rows:?}"
        );
        engine.session.resume_chosen("first", false, &engine.cancel).await.result.expect("it is shown");
        assert!(engine.approve().await.0.expect("it ran").ok);
        assert!(project.read("a.py").contains("return 2") && project.read("b.py") == B, "{memory}");
    }
}
