//! What the user takes back or changes is feedback: of a task, of a step, of a symbol, of a plan; with the reason.

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::engine::{Request, Steps, Target};
use sextant::llm::step::{PlanReply, PlanReplyStep, StepReply};
use sextant::memory::entry::{Entry, Kind};

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, act};
use crate::support::project::Project;

fn last(old: &str, new: &str) -> StepReply {
    StepReply { proceed: false, ..act("edit_file", replace(old, new)) }
}

fn entries(project: &Project, kinds: &[Kind]) -> Vec<Entry> {
    let memory = project.memory();
    memory.history("main", kinds, 100).expect("read")
}

fn said(project: &Project) -> Vec<String> {
    entries(project, &[Kind::UserFeedback]).into_iter().map(|entry| entry.entry.content).collect()
}

fn plan(steps: &[(&str, &str)]) -> PlanReply {
    let step = |(title, symbol): &(&str, &str)| PlanReplyStep {
        title: (*title).into(),
        symbols: vec![(*symbol).into()],
        because: "asked".into(),
        expect: "changed".into(),
        ..PlanReplyStep::default()
    };
    PlanReply {
        title: "T".into(),
        reason: "R".into(),
        steps: steps.iter().map(step).collect(),
        confidence: 1.0,
        declined: false,
    }
}

fn request(text: &str) -> Request {
    Request { text: text.into(), path: Some("a.py".into()), ..Request::default() }
}

const TWO: &[(&str, &str)] = &[("raise first", "a.py::f"), ("lower second", "a.py::g")];

/// A plan of two steps that has run.
async fn planned(project: &Project, mode: &str, more: Vec<PlanReply>) -> TestEngine {
    let replies = vec![last("return 1", "return 11"), last("return f()", "return f() - 1")];
    let plans = [vec![plan(TWO)], more].concat();
    let config = json!({"mode": mode, "memory": {"enabled": true}});
    let engine = TestEngine::new(project, Setup { replies, plans, config, ..Setup::default() });
    engine.session.plan(&request("tidy numbers"), &engine.cancel).await.result.expect("a plan");
    let outcome = engine.session.approve(Steps::All, &engine.cancel).await.result.expect("an outcome");
    assert!(outcome.ok, "{}", outcome.summary);
    engine
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reason_of_an_undo_is_kept_and_in_the_next_prompt() {
    let project = project();
    let replies = vec![last("return 1", "return 11"), StepReply { answer: "no".into(), ..StepReply::default() }];
    let config = json!({"memory": {"enabled": true}});
    let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
    engine.ask("raise number").await;
    engine.ask("undo that because it broke the tests").await;
    assert_eq!(said(&project), ["The user undid “raise number”: it broke the tests."], "one entry, with the reason");
    engine.ask("raise number").await;
    let asked = engine.model.asked.lock().unwrap();
    let told = asked.last().expect("a question").context.memory.lines.join("\n");
    assert!(told.contains("good 0 of 1 time: undone by the user: it broke the tests"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_supervised_prompt_has_the_entry_itself() {
    let project = project();
    let engine = planned(&project, "supervised", vec![plan(TWO)]).await;
    let undone = engine.session.undo_because(&Target::Step(Some(2)), false, "it was right before").await;
    undone.result.expect("undone");
    engine.session.plan(&request("tidy numbers"), &engine.cancel).await.result.expect("a plan");
    let told = engine.model.planned.lock().unwrap().last().expect("a question").context.memory.lines.join("\n");
    assert!(told.contains("[user_feedback] The user undid step 2 of “tidy numbers”: it was right before."), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_of_a_step_or_a_symbol_is_feedback_of_that_alone_and_counts_once() {
    for part in ["2", "a.py::g"] {
        let project = project();
        let engine = planned(&project, "planner", Vec::new()).await;
        let known = engine.session.learned().await.expect("a page");
        assert!(known.contains("lower second") && known.matches("good 1 of 1 time").count() == 3, "{known}");
        let target = Target::parse(part);
        engine.session.undo_because(&target, false, "too low").await.result.expect("undone");
        let known = engine.session.learned().await.expect("a page");
        let lines = |words: &str| known.lines().find(|line| line.contains(words)).unwrap_or_default().to_owned();
        let (first, second) = (lines("for raise first"), lines("for lower second"));
        assert!(second.contains("good 0 of 1 time: undone by the user: too low"), "{part}: {known}");
        assert!(first.contains("good 1 of 1 time"), "{part}: {known}");
        let words = target.words();
        assert_eq!(said(&project), [format!("The user undid {words} of “tidy numbers”: too low.")]);

        let relevance = |title: &str| {
            let all = entries(&project, &[Kind::Success]);
            let one = all.iter().find(|entry| entry.entry.content.contains(title)).expect("an entry");
            one.entry.relevance
        };
        let sunk = relevance("lower second") < 0.5;
        assert_eq!(sunk, part == "2", "an entry tells of a step");
        assert!(relevance("raise first") > 1.0, "it was told to the second step, which succeeded");

        engine.session.redo().await.result.expect("brought back");
        let known = engine.session.learned().await.expect("a page");
        assert!(known.matches("good 1 of 1 time").count() == 3, "as if it had not been undone: {known}");
        assert!(relevance("lower second") > 0.9);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_undone_is_not_recalled_as_done_until_it_is_brought_back() {
    let project = project();
    let missing = last("return 7", "return 8");
    let missing = StepReply { proceed: true, ..missing };
    let replies = vec![missing, last("return 1", "return 11")];
    let config = json!({"memory": {"enabled": true}});
    let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
    let told = || engine.model.asked.lock().unwrap().last().expect("a question").context.memory.lines.join("\n");
    engine.ask("raise number").await;
    engine.ask("do that again").await;
    assert!(told().contains("[solution] ") && told().contains("earlier asked: raise number → "), "{}", told());
    engine.session.undo().await.result.expect("undone");
    engine.ask("do that again").await;
    assert!(!told().contains("[solution] "), "{}", told());
    assert!(told().contains("earlier asked: raise number") && !told().contains("raise number →"), "{}", told());
    engine.session.redo().await.result.expect("brought back");
    engine.ask("do that again").await;
    assert!(told().contains("[solution] "), "{}", told());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_whose_work_was_undone_is_no_example_for_the_next_plan() {
    let project = project();
    let engine = planned(&project, "planner", vec![plan(TWO), plan(TWO)]).await;
    let told = || engine.model.planned.lock().unwrap().last().expect("a question").context.memory.lines.join("\n");
    let make = async || engine.session.plan(&request("tidy numbers"), &engine.cancel).await.result.expect("a plan");
    engine.session.undo().await.result.expect("undone");
    make().await;
    assert!(!told().contains("[success]") && !told().contains("[pattern]"), "{}", told());
    engine.session.redo().await.result.expect("brought back");
    make().await;
    assert!(told().contains("[success]") && told().contains("[pattern]"), "{}", told());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_its_own_step_took_back_has_not_worked() {
    let project = project();
    let step = PlanReplyStep {
        fallback: "return 12".into(),
        checks: vec!["symbol a.py::h exists".into()],
        ..plan(TWO).steps[0].clone()
    };
    let plans = vec![PlanReply { steps: vec![step], ..plan(TWO) }];
    let made = "return 12\n\n\ndef h() -> int:\n    return 1";
    let idle = || StepReply { answer: "it is there".into(), ..StepReply::default() };
    let replies = vec![last("return 1", "return 11"), idle(), idle(), last("return 1", made)];
    let config = json!({"mode": "planner", "memory": {"enabled": true}});
    let engine = TestEngine::new(&project, Setup { replies, plans, config, ..Setup::default() });
    let wish = Request { symbols: vec!["a.py::f".into()], ..Request { path: None, ..request("tidy numbers") } };
    engine.session.plan(&wish, &engine.cancel).await.result.expect("a plan");
    let outcome = engine.session.approve(Steps::All, &engine.cancel).await.result.expect("an outcome");
    assert!(outcome.ok && project.read("a.py").contains("return 12"), "{}", outcome.summary);
    let known = engine.session.learned().await.expect("a page");
    assert_eq!(known.matches("“edit_file” good").count(), 1, "the fallback alone: {known}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_the_user_takes_out_of_a_plan_is_a_lesson_for_the_next() {
    let project = project();
    let plans = vec![plan(TWO), plan(&TWO[..1]), plan(TWO)];
    let config = json!({"mode": "planner", "memory": {"enabled": true}});
    let replies = vec![last("return 1", "return 11")];
    let engine = TestEngine::new(&project, Setup { replies, plans, config, ..Setup::default() });
    let make = async |text: &str| engine.session.plan(&request(text), &engine.cancel).await.result.expect("a plan");
    make("tidy numbers").await;
    make("change: leave g alone").await;
    assert_eq!(
        said(&project),
        ["The user wanted the plan otherwise: leave g alone", "The user took the step “lower second” out of the plan."]
    );
    engine.session.approve(Steps::All, &engine.cancel).await.result.expect("an outcome");
    make("tidy numbers").await;
    let told = engine.model.planned.lock().unwrap().last().expect("a question").context.memory.lines.join("\n");
    assert!(told.contains("“step lower second” good 0 of 1 time: taken out by the user: leave g alone"), "{told}");
}
