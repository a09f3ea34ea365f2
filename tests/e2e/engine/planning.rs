//! A plan that is made in the conversation that carries it out: the model looks before it plans.

use serde_json::json;
use sextant::engine::{PlanRefused, Request, StepState};
use sextant::llm::chat::ChatReply;
use sextant::llm::step::PlanReplyStep;
use sextant::symbols::symbol_path::SymbolPath;

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, calls, plan_of, plan_text, planned, says};
use crate::support::project::Project;

fn talk(chats: Vec<ChatReply>) -> Setup {
    Setup { chats, syntax: true, ..Setup::default() }
}

#[tokio::test]
async fn a_planner_looks_first_changes_nothing_and_its_steps_know_what_it_read() {
    let project = project();
    let chats = vec![
        calls(&[
            ("read_symbol", json!({"symbol": "a.py::f"})),
            ("edit_file", replace("return 1", "return 9")),
            ("no_such_tool", json!({})),
        ]),
        says(&format!("```json\n{}\n```", plan_text(&plan_of([planned("change f", &["a.py::f"])])))),
        calls(&[("edit_file", replace("return 1", "return 11"))]),
        says("f gives 11."),
    ];
    let engine = TestEngine::new(&project, talk(chats));
    let plan = engine.plan("make f return 11").await.expect("a plan");
    assert_eq!(plan.steps.len(), 1);
    assert!(project.read("a.py").contains("return 1\n"), "nothing is changed before there is a plan");
    let talked = engine.talked();
    assert!(talked[0].last().contains("Now make a plan for the request"), "{}", talked[0].last());
    let told = talked[1].last();
    assert!(told.contains("read_symbol true") && told.contains("not run: the plan comes first"), "{told}");
    let (outcome, _) = engine.approve().await;
    assert!(outcome.expect("it ran").ok && project.read("a.py").contains("return 11\n"));
    let talked = engine.talked();
    let told = talked[2].last();
    assert!(
        told.contains("Your step of the plan for it: change f") && told.contains("(as you have read it)"),
        "{told}"
    );
    assert!(talked.windows(2).all(|pair| pair[1].messages.starts_with(&pair[0].messages)));
    assert!(talked.windows(2).all(|pair| pair[1].tools == pair[0].tools), "what a provider caches stays");
}

#[tokio::test]
async fn a_plan_with_a_fault_is_asked_for_again_with_that_fault_in_the_same_conversation() {
    let project = project();
    let faulty = plan_of([planned("change h", &["a.py::no_such_symbol"])]);
    let sound = plan_of([planned("change f", &["a.py::f"])]);
    let chats = vec![says(&plan_text(&faulty)), says("I would change f."), says(&plan_text(&sound))];
    let engine = TestEngine::new(&project, talk(chats));
    let plan = engine.plan("make f return 11").await.expect("a plan");
    assert_eq!(plan.steps[0].title, "change f");
    let talked = engine.talked();
    assert!(talked[1].last().contains("no_such_symbol") && talked[1].last().contains("whole plan once more"));
    assert!(talked[2].last().contains("What was wrong with your last plan"), "{}", talked[2].last());
    assert_eq!(talked.len(), 3);
}

#[tokio::test]
async fn who_only_looks_is_asked_for_the_plan_and_ends_with_an_error() {
    let project = project();
    let chats = vec![calls(&[("read_symbol", json!({"symbol": "a.py::f"}))]); 60];
    let engine = TestEngine::new(&project, talk(chats));
    let failure = engine.plan("make f return 11").await.expect_err("no plan came");
    assert!(failure.message.starts_with("no usable plan came back"), "{failure}");
    assert!(engine.talked().len() < 40, "{}", engine.talked().len());
}

#[tokio::test]
async fn a_new_plan_goes_on_in_the_conversation_that_found_the_old_one_wrong() {
    let project = project();
    let first = PlanReplyStep { after: vec![], ..planned("change f", &["a.py::f"]) };
    let chats = vec![
        says(&plan_text(&plan_of([first]))),
        calls(&[("replan", json!({"reason": "g is what has to change"}))]),
        says(&plan_text(&plan_of([planned("change g", &["a.py::g"])]))),
        calls(&[("edit_file", replace("return f()", "return f() + 1"))]),
        says("g is changed"),
    ];
    let config = json!({"mode": "planner"});
    let engine = TestEngine::new(&project, Setup { config, ..talk(chats) });
    engine.plan("make g larger").await.expect("a plan");
    let (outcome, _) = engine.approve().await;
    let outcome = outcome.expect("it ran");
    assert!(outcome.ok && project.read("a.py").contains("f() + 1"), "{outcome:?}");
    let talked = engine.talked();
    assert!(talked[2].last().contains("g is what has to change"), "{}", talked[2].last());
    assert!(talked.windows(2).all(|pair| pair[1].messages.starts_with(&pair[0].messages)));
}

#[tokio::test]
async fn a_step_of_a_plan_text_names_what_it_changes_and_nothing_of_another_text() {
    let project = Project::new(&[
        ("a.py", "def f() -> int:\n    return 1\n"),
        ("b.py", "def g() -> int:\n    return 1\n"),
        ("conftest.py", "x = 1\n"),
        (".env", "K=1\n"),
    ]);
    let plans = vec![plan_of([planned("change f", &["a.py::f"])])];
    let engine = TestEngine::new(&project, Setup { plans, ..Setup::default() });
    let request = Request { text: "change f".into(), path: Some("a.py".into()), ..Request::default() };
    engine.plan_for(&request).await.expect("a plan");
    let text = |step: &str| format!("# Plan\n\nasked\n\n- [ ] {step}\n");
    for (step, symbols) in [
        ("change conftest.py", "conftest.py"),
        ("change a.py and do not touch b.py", "a.py"),
        ("change f() in a.py, but leave b.py as it is", "a.py::f"),
        ("change g() in b.py without changing conftest.py", "b.py::g"),
    ] {
        let plan = engine.session.edit_plan(&text(step), None).await.expect(step).plan;
        let found: Vec<String> = plan.steps[0].symbols.iter().map(ToString::to_string).collect();
        assert_eq!(found, [symbols], "{step}");
    }
    for (step, part) in [
        ("change the key in .env", ".env may hold secrets"),
        ("change ../out.py", "../out.py is outside the workspace"),
        ("sort a.py as in ../out.py", "../out.py is outside the workspace"),
    ] {
        let Err(PlanRefused::Faults(faults)) = engine.session.edit_plan(&text(step), None).await else {
            panic!("{step}")
        };
        assert!(faults.len() == 1 && faults[0].line == 5 && faults[0].message.contains(part), "{step}: {faults:?}");
    }
    let plan = engine.session.edit_plan(&text("tidy up"), None).await.expect("a plan").plan;
    assert_eq!(plan.steps[0].symbols, [SymbolPath::new("a.py", "")]);
}

#[tokio::test]
async fn a_step_is_skipped_as_data_and_the_words_of_the_others_stay() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n")]);
    // Read back from a document, a bracket at the end is the leftover of a pair.
    let plans = vec![plan_of([planned("change f", &["a.py::f"]), planned("end g with ]", &["a.py::g"])])];
    let engine = TestEngine::new(&project, Setup { plans, ..Setup::default() });
    let made = engine.plan("change both").await.expect("a plan");
    let plan = engine.session.mark_step(1, StepState::Skipped).await.expect("a plan").plan;
    assert_eq!(plan.steps[0].state, StepState::Skipped);
    assert_eq!((plan.steps[1].title.as_str(), &plan.steps[1]), ("end g with ]", &made.steps[1]));
    for (number, why) in [(0, "does not exist"), (1, "is skipped already"), (3, "does not exist")] {
        let Err(PlanRefused::Failure(failure)) = engine.session.mark_step(number, StepState::Skipped).await else {
            panic!("{number}")
        };
        assert_eq!(failure.message, format!("step {number} {why}"));
    }
}
