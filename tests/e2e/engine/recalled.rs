//! What is remembered and for how long: the window, the ten entries, what each mode recalls, what the user says of it.

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::base::token_estimate::estimate;
use sextant::llm::step::PlanReplyStep;
use sextant::memory::entry::{Kind, Mode, NewEntry};
use sextant::memory::preferences::Preference;
use sextant::memory::store::Memory;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;

const HOUR: i64 = 3_600_000;

fn memory(project: &Project) -> Memory {
    project.memory()
}

fn ago(hours: i64) -> i64 {
    let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_millis();
    i64::try_from(now).expect("a time") - hours * HOUR
}

fn engine(project: &Project, setup: Setup) -> TestEngine {
    TestEngine::new(project, Setup { memory: true, ..setup })
}

#[tokio::test]
async fn the_ten_newest_of_a_day_are_recalled_and_no_older_one() {
    let project = project();
    let kept = memory(&project);
    let entry = |text: &str, hours: i64| NewEntry::new("main", Mode::Simple, Kind::Error, text, ago(hours));
    kept.append(entry("yesterday", 25)).expect("kept");
    for n in 1..=12 {
        kept.append(entry(&format!("hour{n:02}"), n)).expect("kept");
    }
    kept.append(NewEntry::new("other", Mode::Simple, Kind::Error, "stranger", ago(1))).expect("kept");
    kept.append(NewEntry::new("main", Mode::Planner, Kind::Error, "another mode", ago(1))).expect("kept");
    kept.append(NewEntry::new("main", Mode::Simple, Kind::Success, "another kind", ago(1))).expect("kept");
    drop(kept);
    let engine = engine(&project, Setup::default());
    engine.ask("change f").await;
    let told = engine.model.asked.lock().unwrap()[0].context.memory.lines.clone();
    let wanted: Vec<String> = (1..=10).map(|n| format!("[error] hour{n:02}")).collect();
    assert_eq!(told, wanted);
    engine.session.close().await;

    let project = crate::engine::project();
    let kept = memory(&project);
    kept.append(entry("nearly a day", 23)).expect("kept");
    kept.append(entry("more than a day", 25)).expect("kept");
    drop(kept);
    let engine = self::engine(&project, Setup::default());
    engine.ask("change f").await;
    assert_eq!(engine.model.asked.lock().unwrap()[0].context.memory.lines, ["[error] nearly a day"]);
}

/// The memory part of the first step's real prompt in this mode, with more to tell than any limit allows.
async fn full(mode: &str) -> (String, usize) {
    let project = project();
    let kept = memory(&project);
    let long = "many words that say little ".repeat(30);
    for own in Mode::ALL {
        let entry = |kind: &Kind| NewEntry::new("main", *own, *kind, format!("{} {long}", kind.name()), ago(1));
        kept.append_all(Kind::ALL.iter().map(entry).collect()).expect("kept");
    }
    for n in 0..5 {
        let (key, value) = (format!("k{n}"), json!(long));
        let one = Preference { key, value, project: Some(".".into()), inferred: false, updated: 1 };
        kept.set_preference(one).expect("kept");
    }
    drop(kept);
    let config = if mode == "simple" { json!({}) } else { json!({"mode": mode}) };
    let plans = vec![plan_of([planned("one", &["a.py::f"])])];
    let replies = vec![last("edit_file", replace("return 1", "return 11"))];
    let engine = engine(&project, Setup { replies, plans, config, ..Setup::default() });
    if mode == "simple" {
        engine.ask("change f").await;
    } else {
        engine.plan("change f").await.expect("a plan");
        engine.approve().await.0.expect("an outcome");
    }
    engine.session.close().await;
    let asked = engine.model.asked.lock().unwrap()[0].clone();
    let user = sextant::llm::prompt::step(&asked).user;
    let part = user.split("Memory:\n<data>\n").nth(1).and_then(|rest| rest.split("\n</data>").next());
    (part.unwrap_or_default().to_owned(), asked.context.memory.tokens)
}

#[tokio::test]
async fn each_mode_recalls_its_own_kinds_under_its_own_limit() {
    for (mode, limit, own, others) in [
        ("simple", 100, ["[error] error", "[solution] solution"], ["[success]", "[pattern]"]),
        ("planner", 200, ["[success] success", "[pattern] pattern"], ["[error]", "[chat]"]),
        ("supervised", 300, ["[user_feedback]", "[tool_result]"], ["no such kind", "nor this"]),
    ] {
        let (told, tokens) = full(mode).await;
        assert_eq!(tokens, limit, "{mode}");
        let title = estimate("Memory:\n<data>\n\n</data>\n");
        assert!(estimate(&told) + title <= limit && estimate(&told) * 2 > limit, "{mode}: {}", estimate(&told));
        assert!(told.starts_with("prefers k"), "{mode}: {told}");
        assert!(own.iter().any(|kind| told.contains(kind)), "{mode}: {told}");
        assert!(others.iter().all(|kind| !told.contains(kind)), "{mode}: {told}");
    }
}

#[tokio::test]
async fn what_the_user_says_to_memory_needs_no_model_and_is_done() {
    let project = project();
    let replies = vec![act("edit_file", replace("return 7", "return 8"))];
    let engine = engine(&project, Setup { replies, ..Setup::default() });
    engine.ask("give f its Zweihander back").await;
    let said = |text: &'static str| async { engine.ask(text).await.to_string() };
    let kept = said("remember that I like quebracho names").await;
    assert!(kept.contains("Kept for this project: “I like quebracho names”"), "{kept}");
    let known = said("what do you know about zweihander?").await;
    assert!(known.contains("Known about") && known.contains("[chat] give f its Zweihander back"), "{known}");
    assert!(!known.contains("quebracho") && known.contains("\"summary\":\"1 entry known\""), "{known}");
    let nothing = said("what do you know about lignum vitae?").await;
    assert!(nothing.contains("Nothing is known about"), "{nothing}");
    let page = said("what have you learned?").await;
    assert!(page.contains("- I like quebracho names") && page.contains("[error] edit_file a.py failed"), "{page}");
    let gone = said("forget everything about quebracho").await;
    assert!(gone.contains("forgotten: preferences: 1") && gone.contains("i-like-quebracho-names"), "{gone}");
    assert!(!said("what have you learned?").await.contains("quebracho"));
    let gone = said("olvida todo sobre zweihander").await;
    assert!(gone.contains("forgotten: ") && gone.contains("Zweihander"), "what went is named: {gone}");
    assert!(said("recuerda que prefiero el estilo corto").await.contains("Kept for this project: “"));
    assert!(said("¿qué sabes de lignum vitae?").await.contains("Nothing is known about “lignum vitae”"));
    assert!(said("what do you know about zweihander?").await.contains("Nothing is known about"));
    assert_eq!(engine.model.asked.lock().unwrap().len(), 2, "the one task alone asked a model");
    assert!(!engine.calls.names().contains(&"plan"), "nothing was planned");
}

#[tokio::test]
async fn the_project_is_shown_and_planned_with_as_its_folder_is_now() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n"), ("tests/test_a.py", TEXT)]);
    let plans = vec![plan_of([planned("x", &["a.py::f"])])];
    let engine = engine(&project, Setup { plans, ..Setup::default() });
    engine.ask("look at f").await;
    let page = engine.session.learned().await.expect("a page");
    assert!(page.contains("- 4 files\n"), "{page}");
    project.write("c.py", "def one() -> int:\n    return 1\n");
    project.write("package.json", "{\"scripts\": {\"test\": \"x\"}}");
    std::fs::remove_file(project.root().join("tests/test_a.py")).expect("gone");
    let page = engine.session.learned().await.expect("a page");
    assert!(page.contains("- 5 files\n") && page.contains("- `npm run test` (package.json)"), "{page}");
    engine.plan("change f").await.expect("a plan");
    let files = engine.model.planned.lock().unwrap()[0].context.sources.workspace.clone();
    assert!(files.contains(&"c.py".to_owned()) && !files.iter().any(|file| file.contains("test_a")), "{files:?}");
}

#[tokio::test]
async fn the_summary_of_a_long_chat_is_told_to_a_request_that_stands_on_it() {
    let project = project();
    let first = engine(&project, Setup::default());
    for n in 0..7 {
        first.ask(&format!("look at number{n}")).await;
    }
    first.session.close().await;
    drop(first);
    let second = engine(&project, Setup::default());
    second.ask("do that again").await;
    let told = second.model.asked.lock().unwrap()[0].context.memory.lines.join("\n");
    assert!(told.contains("earlier asked: look at number6"), "the last exchange: {told}");
    assert!(told.contains("asked: look at number4 | outcome: done"), "the summary of those before: {told}");
    assert!(estimate(&told) <= 100, "{told}");
    second.session.close().await;
    drop(second);
    let summary = memory(&project).summary("main").expect("read").expect("a summary");
    assert!(summary.text.starts_with("asked: look at number0"), "{summary:?}");
}

#[tokio::test]
async fn what_worked_for_a_kind_of_task_and_what_was_undone_is_told_for_the_next_of_that_kind() {
    let project = project();
    let edits = [("return 1", "return 2"), ("return 2", "return 3")];
    let replies = edits.map(|(old, new)| last("edit_file", replace(old, new))).to_vec();
    let engine = engine(&project, Setup { replies, ..Setup::default() });
    let told = || engine.model.asked.lock().unwrap().last().expect("a question").context.memory.lines.join("\n");
    engine.ask("raise the number").await;
    assert_eq!(told(), "", "nothing is known yet");
    engine.ask("raise the number").await;
    assert!(told().contains("for raise number: “edit_file” good 1 of 1 time"), "{}", told());
    engine.session.undo().await.result.expect("undone");
    engine.ask("raise the number").await;
    assert!(told().contains("“edit_file” good 1 of 2 times: undone by the user"), "{}", told());
    engine.ask("translate the comments").await;
    assert!(!told().contains("for raise number"), "another kind of task: {}", told());
}

#[tokio::test]
async fn the_short_term_is_an_input_of_a_plan_and_ends_with_its_session() {
    let project = project();
    let given = || PlanReplyStep { with: vec!["before = session.last_request".into()], ..planned("one", &["a.py::f"]) };
    let plans = vec![plan_of([given()]); 4];
    let replies =
        vec![last("read_symbol", json!({"symbol": "a.py::f"})), last("edit_file", replace("return 1", "return 2"))];
    let engine = engine(&project, Setup { replies, plans, ..Setup::default() });
    assert!(
        engine
            .plan("change f")
            .await
            .expect_err("nothing was asked yet")
            .message
            .contains("session.last_request is not known")
    );
    engine.ask("look at f closely").await;
    engine.plan("change f").await.expect("now it is known");
    engine.approve().await.0.expect("an outcome");
    let inputs = engine.model.asked.lock().unwrap().last().expect("a question").ask.inputs.clone();
    assert_eq!(inputs, [("before".to_owned(), "look at f closely".to_owned())]);
    engine.session.close().await;
    drop(engine);
    let plans = vec![plan_of([given()]); 3];
    let engine = self::engine(&project, Setup { plans, ..Setup::default() });
    let gone = engine.plan("change f").await.expect_err("another session");
    assert!(gone.message.contains("session.last_request is not known"), "{gone:?}");
}

#[tokio::test]
async fn work_leaves_entries_of_every_kind_that_it_has() {
    let project = project();
    let replies = vec![
        act("edit_file", replace("return 7", "return 8")),
        last("edit_file", replace("return 1", "return 11")),
        last("edit_file", replace("return 11", "return 12")),
    ];
    let plans = vec![plan_of([planned("one", &["a.py::f"])])];
    let engine = engine(&project, Setup { replies, plans, ..Setup::default() });
    assert_eq!(engine.ask("change f").await["ok"], true);
    engine.plan("change f once more").await.expect("a plan");
    assert!(engine.approve().await.0.expect("an outcome").ok);
    engine.session.undo().await.result.expect("undone");
    engine.ask("remember that style: short").await;
    engine.session.close().await;
    drop(engine);
    let kept = memory(&project);
    let of = |kind: Kind| kept.history("main", &[kind], 99).expect("read").len();
    for kind in [Kind::Chat, Kind::Error, Kind::Solution, Kind::Plan, Kind::Success, Kind::Pattern, Kind::UserFeedback]
    {
        assert!(of(kind) > 0, "{}", kind.name());
    }
    assert!(!kept.all_learnings(Some("."), 9).expect("read").is_empty(), "what worked");
    assert_eq!(kept.preferences(Some(".")).expect("read").len(), 1);
    let text: String =
        kept.history("main", &[], 99).expect("read").into_iter().map(|entry| entry.entry.content).collect();
    assert!(!text.contains("return 1"), "no text of a file is kept: {text}");
}
