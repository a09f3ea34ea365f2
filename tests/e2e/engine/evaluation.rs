//! What is decided after a step: go on, again, its fallback, another plan, a question, the end; each by its name.

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::engine::{Event, Request};
use sextant::llm::plan_contract::{PlanFeedback, StepDecision};
use sextant::llm::step::{PlanReplyStep, StepReply};

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;

/// Something that makes a plan be left: its steps, what the model does in them, what changes before the start.
struct Case {
    steps: Vec<PlanReplyStep>,
    replies: Vec<StepReply>,
    gone: &'static str,
    /// What may be changed; nothing named is the whole workspace.
    scope: &'static [&'static str],
    /// What is said of it, to the model that plans anew and to the user.
    words: &'static str,
}

fn case(steps: &[PlanReplyStep], replies: Vec<StepReply>, words: &'static str) -> Case {
    Case { steps: steps.to_vec(), replies, gone: "", scope: &[], words }
}

fn search(title: &str) -> PlanReplyStep {
    PlanReplyStep { kind: "search".into(), ..planned(title, &[]) }
}

fn cases(supervised: bool) -> Vec<Case> {
    let edit = || last("edit_file", replace("return 1", "return 11"));
    let checked = PlanReplyStep { checks: vec!["symbol a.py::f gone".into()], ..planned("one", &["a.py::f"]) };
    let led = PlanReplyStep { with: vec!["target = step1.symbols".into()], ..planned("two", &[]) };
    let objection = match supervised {
        false => PlanFeedback { replan: Some("f is generated".into()), ..PlanFeedback::default() },
        true => PlanFeedback { decision: Some(StepDecision::Pause), ..PlanFeedback::default() },
    };
    let objects = StepReply { reasoning: "f is generated".into(), wish: objection, ..StepReply::default() };
    vec![
        case(&[checked], vec![edit()], "its result is too far from what the plan expects"),
        case(&[search("`no_a`"), search("`no_b`"), search("`no_c`")], vec![], "3 errors in this plan"),
        Case { gone: "def f", ..case(&[planned("one", &["a.py::f"])], vec![], "a.py::f is not there") },
        Case {
            gone: "def g",
            ..case(
                &[planned("one", &["a.py::f"]), planned("two", &["a.py::g"])],
                vec![edit()],
                "a later step is not possible any more: a.py::g is gone",
            )
        },
        Case {
            scope: &["a.py::f"],
            ..case(&[search("Find `g`"), led], vec![], "an input cannot be had: a.py::g is outside")
        },
        case(&[planned("one", &["a.py::f"])], vec![objects], "f is generated"),
    ]
}

async fn left(supervised: bool, case: Case) -> (Project, TestEngine, Vec<Event>) {
    let project = project();
    let config = json!({"mode": if supervised { "supervised" } else { "planner" }});
    let plans = vec![plan_of(case.steps)];
    let engine = TestEngine::new(&project, Setup { replies: case.replies, plans, config, ..Setup::default() });
    let symbols: Vec<String> = case.scope.iter().map(|symbol| (*symbol).to_owned()).collect();
    let workspace = symbols.is_empty();
    let request = Request { text: "change it".into(), symbols, workspace, ..Request::default() };
    engine.plan_for(&request).await.expect("a plan");
    if !case.gone.is_empty() {
        project.write("a.py", &TEXT.replace(case.gone, "def away"));
    }
    let (outcome, shown) = engine.approve().await;
    outcome.expect("an outcome");
    (project, engine, shown)
}

fn question(events: &[Event]) -> Option<(&str, &[String])> {
    events.iter().find_map(|event| match event {
        Event::Question { text, options, .. } => Some((text.as_str(), options.as_slice())),
        _ => None,
    })
}

#[tokio::test]
async fn each_trigger_by_its_name_makes_a_planner_plan_anew() {
    for case in cases(false) {
        let words = case.words;
        let (_project, engine, shown) = left(false, case).await;
        assert_eq!(question(&shown), None, "{words}: a planner asks nobody");
        let asked = engine.model.planned.lock().unwrap().clone();
        assert_eq!(asked.len(), 2, "{words}: one more plan\n{}", engine.trace());
        assert!(asked[1].ask.problems[0].contains(words), "{words}: {:?}", asked[1].ask.problems);
        assert!(engine.trace().contains("plan again: "), "{words}: the reason is kept\n{}", engine.trace());
    }
}

#[tokio::test]
async fn each_trigger_by_its_name_makes_a_supervised_plan_ask_and_the_mode_stays() {
    for case in cases(true) {
        let words = case.words;
        let (_project, mut engine, shown) = left(true, case).await;
        let (text, options) = question(&shown).unwrap_or_else(|| panic!("{words}: no question\n{}", engine.trace()));
        assert!(text.contains(words) && text.ends_with("What now?"), "{words}: {text}");
        assert_eq!(options[0], "go on with the next step");
        assert_eq!(options[1..4], ["do this step again", "take this step back and pause", "leave it and pause"]);
        assert_eq!(engine.model.planned.lock().unwrap().len(), 1, "{words}: nothing is planned anew by itself");
        assert!(engine.trace().contains("ask the user: "), "{words}: the reason is kept\n{}", engine.trace());
        engine.seen();
        engine.plan("something else").await.expect("a plan");
        let modes: Vec<Event> =
            engine.seen().into_iter().filter(|event| matches!(event, Event::Started { .. })).collect();
        assert!(matches!(&modes[..], [Event::Started { mode, .. }] if mode == "supervised"), "{words}: {modes:?}");
    }
}

#[tokio::test]
async fn a_deletion_that_nobody_agreed_to_is_asked_in_either_mode() {
    for mode in ["planner", "supervised"] {
        let project = project();
        let delete = act("edit_symbol", json!({"symbol": "a.py::f", "action": "delete", "content": ""}));
        let plans = vec![plan_of([planned("Mend f", &["a.py::f"])])];
        let config = json!({"mode": mode});
        let engine = TestEngine::new(&project, Setup { replies: vec![delete], plans, config, ..Setup::default() });
        engine.plan("mend f").await.expect("a plan");
        let (_, shown) = engine.approve().await;
        let text = question(&shown).map(|(text, _)| text.to_owned()).unwrap_or_default();
        assert!(text.contains("would delete a.py::f, which the approved plan does not say"), "{mode}: {text}");
        assert_eq!(project.read("a.py"), TEXT);
    }
}

/// Three edits that find nothing: the step comes to no end.
fn misses() -> Vec<StepReply> {
    vec![act("edit_file", replace("return 77", "return 1")); 3]
}

#[tokio::test]
async fn a_failed_step_is_tried_again_once_then_its_fallback_once_then_the_user_is_asked() {
    let project = project();
    let step = PlanReplyStep { fallback: "do it by hand".into(), ..planned("one", &["a.py::f"]) };
    let replies: Vec<StepReply> = (0..4).flat_map(|_| misses()).collect();
    let config = json!({"mode": "supervised"});
    let setup = Setup { replies, plans: vec![plan_of([step])], config, ..Setup::default() };
    let engine = TestEngine::new(&project, setup);
    engine.plan("change f").await.expect("a plan");
    let (_, shown) = engine.approve().await;
    assert_eq!(engine.model.asked.lock().unwrap().len(), 9, "three tries of three errors each, and no more");
    let trace = engine.trace();
    let at = |words: &str| trace.find(words).unwrap_or_else(|| panic!("{words}\n{trace}"));
    assert!(at("repeat the step: ") < at("try the fallback: ") && at("try the fallback: ") < at("ask the user: "));
    assert_eq!(trace.matches("repeat the step: ").count(), 1, "{trace}");
    let queries: Vec<String> =
        engine.model.asked.lock().unwrap().iter().map(|input| input.context.request.query.clone()).collect();
    assert!(queries[5].starts_with("one. ") && queries[6].starts_with("do it by hand. "), "{queries:?}");
    assert!(question(&shown).is_some_and(|(text, _)| text.contains("3 errors in this plan")), "{shown:?}");
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test]
async fn a_step_that_works_at_its_second_try_goes_on_with_the_plan() {
    let project = project();
    let mut replies = misses();
    replies.push(last("edit_file", replace("return 1", "return 11")));
    replies.push(last("edit_file", replace("return f()", "return f() + 1")));
    let plans = vec![plan_of([planned("one", &["a.py::f"]), planned("two", &["a.py::g"])])];
    let engine = TestEngine::new(&project, Setup { replies, plans, ..Setup::default() });
    engine.plan("change both").await.expect("a plan");
    let (outcome, _) = engine.approve().await;
    let outcome = outcome.expect("an outcome");
    assert!(outcome.ok && outcome.summary.contains("2 of 2 steps done"), "{}", outcome.summary);
    let trace = engine.trace();
    assert_eq!(trace.matches("repeat the step: ").count(), 1, "{trace}");
    assert_eq!(trace.matches("go on with the plan").count(), 2, "{trace}");
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11").replace("return f()", "return f() + 1"));
}

#[tokio::test]
async fn a_step_in_parts_that_fails_in_one_hands_back_one_failure_and_says_which() {
    let long = |name: &str| {
        let lines: String = (0..60).map(|n| format!("    value_{n} = {n} + {n} * 2\n")).collect();
        format!("def {name}() -> int:\n{lines}    return 1\n")
    };
    let project = Project::new(&[("a.py", &long("f")), ("b.py", &long("g"))]);
    let after = PlanReplyStep { with: vec!["done = step1.output".into()], ..planned("Lean on it", &["a.py::f"]) };
    let plans = vec![plan_of([planned("Return two", &["a.py::f", "b.py::g"]), after])];
    let mut replies = vec![last("edit_file", replace("return 1", "return 2"))];
    replies.extend(misses());
    let engine = TestEngine::new(&project, Setup { replies, plans, ..Setup::default() });
    engine.plan("return two").await.expect("a plan");
    let (outcome, shown) = engine.approve().await;
    assert!(!outcome.expect("an outcome").ok);
    let plan = shown.iter().find_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown.clone()),
        _ => None,
    });
    let plan = plan.expect("the document");
    assert!(plan.contains("- [!] Return two\n") && plan.contains("- [-] Lean on it\n"), "{plan}");
    let parts = "    - [x] part 1 of 2, in a.py::f\n    - [!] part 2 of 2, in b.py::g\n";
    assert!(plan.contains(parts), "{plan}");
    assert!(engine.trace().contains("deviation 0.30; go on with the plan"), "half of it was done: {}", engine.trace());
    let queries: Vec<String> =
        engine.model.asked.lock().unwrap().iter().map(|input| input.context.request.query.clone()).collect();
    assert!(queries.iter().all(|query| query.starts_with("Return two")), "what leans on it does not run: {queries:?}");
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_and_an_approval_goes_on_from_there() {
    let project = project();
    let plans = vec![plan_of([planned("one", &["a.py::f"]), planned("two", &["a.py::g"])])];
    let replies = vec![last("edit_file", replace("return 1", "return 11"))];
    let engine = TestEngine::new(&project, Setup { replies, plans, fails_from: Some(1), ..Setup::default() });
    engine.plan("change both").await.expect("a plan");
    let (outcome, shown) = engine.approve().await;
    let failure = outcome.expect_err("the model is gone");
    assert!(failure.message.contains("cannot reach script") && !failure.hint.text().is_empty(), "{failure:?}");
    assert_eq!(engine.model.asked.lock().unwrap().len(), 2, "it is not asked again");
    let plan = shown.iter().find_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown.clone()),
        _ => None,
    });
    assert!(plan.as_ref().is_some_and(|plan| plan.contains("- [x] one")), "{plan:?}");
    assert!(project.read("a.py").contains("return 11"), "what is finished is kept");
    assert!(engine.session.undo().await.result.is_ok() && project.read("a.py") == TEXT);
}

#[tokio::test]
async fn three_errors_in_a_row_end_a_simple_run_and_two_do_not() {
    let project = project();
    let mut replies = misses();
    replies.truncate(2);
    replies.push(act("read_symbol", json!({"symbol": "a.py::f"})));
    replies.extend(misses());
    replies.push(act("edit_file", replace("return 1", "return 11")));
    let engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    let outcome = engine.ask("change f").await;
    assert_eq!(outcome["ok"], false, "{outcome}");
    let summary = outcome["summary"].as_str().unwrap();
    assert!(summary.contains("gave up after 3 errors in a row, the last: "), "{summary}");
    let errors: Vec<u32> = engine.model.asked.lock().unwrap().iter().map(|input| input.ask.error_count).collect();
    assert_eq!(errors, [0, 1, 2, 0, 1, 2], "what works begins the count anew, and the seventh is not asked");
    assert_eq!(project.read("a.py"), TEXT);
}

#[tokio::test]
async fn a_step_that_changes_nothing_makes_a_supervised_plan_ask_and_a_planner_go_on() {
    for (mode, asks) in [("supervised", true), ("planner", false)] {
        let project = project();
        let replies = vec![StepReply { answer: "done".into(), ..StepReply::default() }; 2];
        let plans = vec![plan_of([planned("one", &["a.py::f"]), planned("two", &["a.py::g"])])];
        let config = json!({"mode": mode});
        let engine = TestEngine::new(&project, Setup { replies, plans, config, ..Setup::default() });
        engine.plan("change f and g").await.expect("a plan");
        let (_, shown) = engine.approve().await;
        let text = question(&shown).map(|(text, _)| text.to_owned());
        let words =
            "Step 1 (“one”) failed: nothing was changed; the model says “done”; its goal is not reached. What now?";
        assert_eq!(text.as_deref(), asks.then_some(words), "{mode}: {}", engine.trace());
        assert_eq!(engine.model.asked.lock().unwrap().len(), if asks { 1 } else { 2 }, "{mode}");
    }
}
