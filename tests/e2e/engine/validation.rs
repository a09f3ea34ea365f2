//! What is held against the project before a plan runs, and what the user is shown of it and of its risk.

use serde_json::json;
use sextant::engine::{Event, Request, Steps};
use sextant::llm::step::PlanReplyStep;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, last, plan_of, planned};
use crate::support::project::Project;

/// Everything that must not have happened.
const RAN: &[&str] = &["step", "apply"];

#[tokio::test]
async fn each_thing_that_a_plan_may_get_wrong_is_named_and_nothing_runs() {
    let one = |fields: PlanReplyStep| PlanReplyStep { title: "x".into(), ..fields };
    let here = || planned("x", &["a.py::f"]);
    let creating = |path: &str| PlanReplyStep { creates: vec![path.into()], ..planned("x", &[]) };
    for (step, wanted) in [
        (planned("x", &["a.py::nobody"]), "no single symbol nobody"),
        (planned("x", &["nowhere.py::f"]), "nowhere.py does not exist"),
        (planned("x", &["../b.py::f"]), "../b.py is outside the workspace"),
        (planned("x", &["/etc/passwd"]), "/etc/passwd is outside the workspace"),
        (planned("x", &[".env"]), ".env may hold secrets"),
        (planned("x", &[".sextant/memory.db"]), "is Sextant's own record"),
        (planned("x", &["link.py::f"]), "link.py leads out of the workspace"),
        (creating("../new.py"), "../new.py is outside the workspace"),
        (planned("x", &[]), "it names no symbol"),
        (PlanReplyStep { kind: "shell".into(), ..here() }, "there is no kind \"shell\""),
        (PlanReplyStep { with: vec!["x = step1.output".into()], ..here() }, "step1.output: step 1 is not an earlier"),
        (PlanReplyStep { with: vec!["x = session.nobody".into()], ..here() }, "session.nobody is not known"),
        (PlanReplyStep { with: vec!["nonsense".into()], ..here() }, "write `name = value`"),
        (PlanReplyStep { after: vec![7], ..here() }, "after 7: step 7 is not an earlier step"),
        (PlanReplyStep { checks: vec!["it works".into()], ..here() }, "a check is one of `no new diagnostics`"),
        (
            PlanReplyStep { checks: vec!["command pytest passes".into()], ..here() },
            "no command pytest has reported, and pytest is not on the user",
        ),
        (PlanReplyStep { kind: "search".into(), ..planned("x", &[]) }, "a search needs words"),
    ] {
        let project = project();
        project.write(".env", "KEY=1\n");
        std::os::unix::fs::symlink("/etc/hostname", project.root().join("link.py")).expect("a link");
        let before = project.bytes();
        let plans = vec![plan_of([one(step)]); 3];
        let engine = TestEngine::new(&project, Setup { plans, ..Setup::default() });
        let request = Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
        let failure = engine.plan_for(&request).await.expect_err(wanted);
        assert!(
            failure.message.contains(&format!("step 1: {wanted}")) || failure.message.contains(wanted),
            "{wanted}\n{failure:?}"
        );
        let planned = engine.model.planned.lock().unwrap().clone();
        assert!(
            planned.len() == 3 && planned[1].ask.problems[0].contains(wanted),
            "the model is told: {:?}",
            planned[1]
        );
        assert!(engine.calls.names().iter().all(|name| !RAN.contains(name)), "{wanted}: {:?}", engine.calls.names());
        assert!(engine.session.approve(Steps::All, &engine.cancel).await.result.is_err());
        assert_eq!(project.bytes(), before, "{wanted}");
    }
}

#[tokio::test]
async fn a_step_outside_of_the_scope_is_marked_and_only_who_has_read_it_approves_it() {
    let project = project();
    let test = PlanReplyStep { creates: vec!["test_a.py".into()], ..planned("test it", &[]) };
    let plans = vec![plan_of([planned("one", &["a.py::f"]), planned("two", &["a.py::g"]), test])];
    let written = json!({"path": "test_a.py", "content": "from a import f\n"});
    let replies = vec![
        last("edit_file", replace("return 1", "return 11")),
        last("edit_file", replace("return f()", "return f() + 1")),
        last("write_file", written),
    ];
    let engine = TestEngine::new(&project, Setup { plans, replies, ..Setup::default() });
    let request = Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    let before = project.bytes();
    let made = engine.session.plan(&request, &engine.cancel).await;
    let shown = made.events.iter().find_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown.clone()),
        _ => None,
    });
    let shown = shown.expect("a plan");
    assert_eq!(engine.model.planned.lock().unwrap().len(), 1, "it is no fault");
    assert_eq!(shown.matches("  - outside: ").count(), 2, "{shown}");
    assert!(shown.contains("  - outside: `a.py::g`\n") && shown.contains("  - outside: `test_a.py`\n"), "{shown}");
    let refused =
        engine.session.approve_unseen(Steps::All, &engine.cancel).await.result.expect_err("nobody has read it");
    let wanted = "the plan changes a.py::g, test_a.py, outside the scope of the request; nothing was run";
    assert_eq!(refused.message, wanted, "{refused:?}");
    assert_eq!(project.bytes(), before);
    // A text that the user saves keeps the marks of the steps that they leave as they are.
    let edited = engine.session.edit_plan(&shown.replace("[ ] one\n", "[ ] first\n"), None).await.expect("a plan");
    let saved = format!("{:?}", edited.event);
    assert!(saved.contains("- outside: `a.py::g`"), "{saved}");
    let outcome = engine.session.approve(Steps::All, &engine.cancel).await.result.expect("an outcome");
    assert!(outcome.summary.contains("3 of 3 steps done"), "{}", outcome.summary);
    let wanted = TEXT.replace("return 1", "return 11").replace("return f()", "return f() + 1");
    assert_eq!((project.read("a.py"), project.read("test_a.py")), (wanted, "from a import f\n".to_owned()));
}

#[tokio::test]
async fn what_runs_by_itself_is_not_widened() {
    let project = project();
    // The first step finds nothing, so that the run plans again; nobody sees that plan before it runs.
    let misses = vec![last("edit_file", replace("return 77", "return 1")); 3];
    let plans =
        [vec![plan_of([planned("one", &["a.py::f"])])], vec![plan_of([planned("two", &["a.py::g"])]); 3]].concat();
    let config = json!({"mode": "planner"});
    let engine =
        TestEngine::new(&project, Setup { plans, replies: vec![misses; 3].concat(), config, ..Setup::default() });
    let request = Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    engine.plan_for(&request).await.expect("a plan");
    let failure = engine.session.approve(Steps::All, &engine.cancel).await.result.expect_err("no usable plan");
    assert!(failure.message.contains("step 2: a.py::g is outside a.py::f"), "{failure:?}");
}

#[tokio::test]
async fn a_plan_that_fails_to_be_made_leaves_none_that_approving_would_run() {
    let good = || plan_of([planned("Change it", &["a.py::f"])]);
    let bad = || plan_of([planned("x", &["a.py::nobody"])]);
    // What was kept of the plan before it is none to approve either; nor is it behind a plan without steps.
    for (memory, failing) in [(false, vec![bad(), bad(), bad()]), (true, vec![bad(), bad(), bad()]), (true, vec![])] {
        let project = project();
        let before = project.bytes();
        let plans = [vec![good()], failing].concat();
        let replies = vec![last("edit_file", replace("return 1", "return 2"))];
        let engine = TestEngine::new(&project, Setup { plans, replies, memory, ..Setup::default() });
        engine.plan("change f").await.expect("the first one fits");
        let second = engine.plan("change nobody").await;
        assert!(second.map_or(true, |plan| plan.steps.is_empty()), "memory {memory}");
        let failure =
            engine.session.approve(Steps::All, &engine.cancel).await.result.expect_err("there is nothing to approve");
        assert!(failure.message.contains("none to approve"), "{failure:?}");
        assert!(engine.calls.names().iter().all(|name| !RAN.contains(name)), "{:?}", engine.calls.names());
        assert_eq!(project.bytes(), before, "memory {memory}");
        if memory {
            engine
                .session
                .resume(true, &engine.cancel)
                .await
                .result
                .expect("the user's own word for the one before it");
            assert_ne!(project.bytes(), before);
        }
    }
}

#[tokio::test]
async fn a_plan_that_was_wrong_is_refined_by_what_was_wrong_with_it() {
    let project = project();
    let plans = vec![plan_of([planned("x", &["a.py::nobody"])]), plan_of([planned("Change it", &["a.py::f"])])];
    let engine = TestEngine::new(&project, Setup { plans, ..Setup::default() });
    let plan = engine.plan("change it").await.expect("the second one fits");
    assert_eq!((plan.steps.len(), plan.steps[0].title.as_str()), (1, "Change it"));
    assert_eq!(engine.model.planned.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_plan_shows_all_that_it_stands_on() {
    let project = project();
    let step = PlanReplyStep {
        with: vec!["found = step1.output".into()],
        checks: vec!["symbol a.py::f exists".into(), "no errors".into()],
        fallback: "write it anew".into(),
        creates: vec!["a.py::h".into()],
        ..planned("Change f", &["a.py::f"])
    };
    let look = PlanReplyStep { kind: "examine".into(), ..planned("Look", &["a.py::g"]) };
    let mut engine = TestEngine::new(&project, Setup { plans: vec![plan_of([look, step])], ..Setup::default() });
    let request = Request { text: "change f".into(), workspace: true, ..Request::default() };
    let ending = engine.session.plan(&request, &engine.cancel).await;
    let shown = ending.events.iter().find_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown.clone()),
        _ => None,
    });
    let shown = shown.expect("the document");
    for line in [
        "- [ ] Look\n",
        "- [ ] Change f\n",
        "  - symbols: `a.py::f`\n",
        "  - because: asked\n",
        "  - expect: it is so\n",
        "  - with: found = step1.output\n",
        "  - check: symbol a.py::f exists\n",
        "  - check: no errors\n",
        "  - fallback: write it anew\n",
        "  - creates: `a.py::h`\n",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(engine.seen().iter().any(|event| matches!(event, Event::Risk { .. })));
    assert_eq!(project.read("a.py"), TEXT);
}

fn risks(engine: &mut TestEngine) -> Vec<Event> {
    engine.seen().into_iter().filter(|event| matches!(event, Event::Risk { .. })).collect()
}

#[tokio::test]
async fn the_risk_is_told_with_its_reasons_and_decides_nothing() {
    let wide = Project::new(&[("a.py", TEXT)]);
    let mut engine =
        TestEngine::new(&wide, Setup { plans: vec![plan_of(vec![planned("x", &["a.py::f"]); 3])], ..Setup::default() });
    engine.plan("delete every unused function of the project").await.expect("a plan all the same");
    let told = risks(&mut engine);
    let [Event::Risk { level, reasons, .. }, Event::Risk { steps, confidence: sure, .. }] = &told[..] else {
        panic!("before the plan and with it: {told:?}")
    };
    assert_eq!(level, "high");
    let said = reasons.join("; ");
    assert!(said.contains("the whole workspace") && said.contains("“every”") && said.contains("“delete”"), "{said}");
    assert_eq!(*steps, 3, "the steps are those of the plan");
    let Event::Risk { confidence, complexity: high, .. } = &told[0] else { unreachable!("seen above") };
    assert!(confidence < sure && (0.6..=1.0).contains(high), "{told:?}");

    let narrow = project();
    let replies = vec![last("edit_file", replace("return 1", "return 11"))];
    let mut engine = TestEngine::new(&narrow, Setup { replies, ..Setup::default() });
    assert_eq!(engine.ask("make f return eleven").await["ok"], true);
    let told = risks(&mut engine);
    let [Event::Risk { level, complexity, .. }] = &told[..] else { panic!("{told:?}") };
    assert!(level == "low" && *complexity < 0.3, "{told:?}");
    assert_eq!(json!(told[0])["type"], "risk");
}
