//! Budgets that end a task with what it has done, reads that are answered from the task's own results.

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::engine::{Event, Request, Steps};
use sextant::llm::price::Price;
use sextant::llm::step::{PlanReply, PlanReplyStep};

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, act};

#[tokio::test]
async fn a_budget_of_tokens_stops_the_task_and_keeps_what_is_done() {
    let project = project();
    let read = || act("read_symbol", json!({"symbol": "a.py::f"}));
    let replies = vec![act("edit_file", replace("return 1", "return 11")), read(), read(), read()];
    let config = json!({"limits": {"tokens": 100}});
    let engine = TestEngine::new(&project, Setup { replies, config, tokens: 60, ..Setup::default() });
    let outcome = engine.ask("change f").await;
    let failure = &outcome["failed"];
    assert_eq!(failure["kind"], "limit", "{outcome}");
    assert_eq!(failure["message"], "stopped: it has used 120 of 100 tokens (`limits.tokens`)");
    assert!(failure["hint"]["text"].as_str().unwrap().contains("kept: a.py"), "{failure}");
    assert_eq!(engine.model.asked.lock().unwrap().len(), 2, "the third question is not asked");
    assert!(project.read("a.py").contains("return 11"));
    let undone = engine.session.undo().await.result.expect("the task can be undone");
    assert!(undone.contains("a.py") && project.read("a.py").contains("return 1\n"), "{undone}");
}

#[tokio::test]
async fn a_budget_of_money_stops_the_task_and_says_what_it_cost() {
    let project = project();
    let read = || act("read_symbol", json!({"symbol": "a.py::f"}));
    let replies = vec![act("edit_file", replace("return 1", "return 11")), read(), read(), read()];
    let (config, price) =
        (json!({"limits": {"cost": 0.1}}), Some(Price { input: 1000.0, output: 0.0, ..Price::default() }));
    let engine = TestEngine::new(&project, Setup { replies, config, tokens: 60, price, ..Setup::default() });
    let failure = engine.ask("change f").await["failed"].clone();
    assert_eq!(
        (&failure["kind"], &failure["message"]),
        (&json!("limit"), &json!("stopped: it has cost 0.1200 of 0.1 (`limits.cost`)"))
    );
    assert!(failure["hint"]["text"].as_str().unwrap().contains("kept: a.py"), "{failure}");
    assert_eq!(engine.model.asked.lock().unwrap().len(), 2, "the third question is not asked");
    assert!(project.read("a.py").contains("return 11"));
}

#[tokio::test]
async fn a_budget_of_money_without_a_price_is_said_to_be_none() {
    let project = project();
    let config = json!({"limits": {"cost": 0.1}});
    for (price, said) in [(None, 1), (Some(Price { input: 0.1, output: 0.1, ..Price::default() }), 0)] {
        let mut engine = TestEngine::new(&project, Setup { config: config.clone(), price, ..Setup::default() });
        assert_eq!(engine.ask("look at f").await["ok"], true);
        let told = engine.seen().into_iter().filter(
            |event| matches!(event, Event::Progress { text } if text.contains("`limits.cost` cannot stop this")),
        );
        assert_eq!(told.count(), said);
    }
}

#[tokio::test]
async fn a_budget_of_steps_stops_the_task_and_keeps_what_is_done() {
    let project = project();
    let read = || act("read_symbol", json!({"symbol": "a.py::g"}));
    let replies = vec![act("edit_file", replace("return 1", "return 11")), read(), read(), read()];
    let config = json!({"limits": {"steps": 3}});
    let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
    let outcome = engine.ask("change f").await;
    assert_eq!(outcome["ok"], false, "{outcome}");
    assert!(outcome["summary"].as_str().unwrap().contains("stopped after 3 steps"), "{outcome}");
    assert_eq!((engine.model.asked.lock().unwrap().len(), &outcome["files"]), (3, &json!(["a.py"])));
    assert!(engine.session.undo().await.result.is_ok() && project.read("a.py").contains("return 1\n"));
}

#[tokio::test]
async fn a_budget_of_time_ends_a_model_that_says_nothing() {
    let folder = project();
    let engine = TestEngine::new(
        &folder,
        Setup { config: json!({"limits": {"seconds": 1}}), silent_from: Some(0), ..Setup::default() },
    );
    let failure = engine.ask("change f").await["failed"].clone();
    assert_eq!(failure["message"], "stopped: its time of 1 s is over (`limits.seconds`)", "{failure}");
    assert!(failure["hint"]["text"].as_str().unwrap().starts_with("nothing was changed"), "{failure}");
}

#[tokio::test]
async fn a_command_takes_no_more_than_what_is_left_of_the_task_s_time() {
    let folder = project();
    let replies = vec![act("run_command", json!({"command": ["sleep", "1000"]}))];
    let config = json!({"commands_allowed": ["sleep"], "limits": {"seconds": 1, "command_seconds": 900}});
    let engine = TestEngine::new(&folder, Setup { replies, config, ..Setup::default() });
    let failure = engine.ask("wait").await["failed"].clone();
    assert_eq!(failure["message"], "stopped: its time of 1 s is over (`limits.seconds`)", "{failure}");
    assert!(engine.trace().contains("sleep 1000: killed after 1 s"), "{}", engine.trace());
}

#[tokio::test]
async fn the_same_read_is_answered_from_the_task_until_something_changes() {
    let project = project();
    let read = || act("read_symbol", json!({"symbol": "f"}));
    let search = || act("search", json!({"pattern": "return"}));
    let replies = vec![
        read(),
        read(),
        search(),
        search(),
        act("edit_file", replace("return 1", "return 11")),
        search(),
        act("read_file", json!({"path": "a.py"})),
        act("read_file", json!({"path": "a.py", "limit": 1})),
    ];
    let engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    assert_eq!(engine.ask("change f").await["ok"], true);
    let told = engine.told();
    let again: Vec<bool> = told.iter().map(|text| text.contains("nothing has changed since")).collect();
    assert_eq!(again, [false, true, false, true, false, false, false, false], "{told:#?}");
    assert_eq!(told[1], format!("(as in step 1; nothing has changed since)\n{}", told[0]), "the answer is given whole");
    assert!(told[5].contains("return 11"), "{}", told[5]);
}

#[tokio::test]
async fn a_change_behind_the_task_s_back_is_seen() {
    let project = project();
    // A command is the one thing that changes files in a script; here it is allowed, and `cp` does it.
    project.write("b.py", "def f() -> int:\n    return 2\n");
    let read = || act("read_file", json!({"path": "a.py"}));
    let replies = vec![read(), act("run_command", json!({"command": ["cp", "b.py", "a.py"]})), read()];
    let config = json!({"commands_allowed": ["cp b.py"]});
    let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
    engine.ask("change f").await;
    let told = engine.told();
    assert!(told[1].contains("exit status 0") && told[1].contains("it changed a.py"), "{}", told[1]);
    assert!(told[2].contains("return 2") && !told[2].contains("nothing has changed"), "{}", told[2]);
}

#[tokio::test]
async fn what_the_request_names_is_shown_wherever_the_cursor_is() {
    let project = project();
    project.write("b.py", "def helper_one() -> int:\n    return 41\n");
    let engine = TestEngine::new(&project, Setup::default());
    engine.ask("make f call helper_one() of b.py").await;
    let asked = engine.model.asked.lock().unwrap()[0].clone();
    let sources: Vec<&str> = asked.context.sources.texts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(sources, ["a.py::f", "b.py::helper_one", "b.py"]);
    let scope = ["a.py::f", "b.py::helper_one", "the imports of a.py and b.py"];
    assert_eq!(asked.context.request.scope, scope, "where the user stands, and what is named; its file is a place");
    assert!(engine.trace().contains("a change; it names b.py::helper_one, b.py"), "{}", engine.trace());
}

#[tokio::test]
async fn a_plan_at_its_budget_pauses_with_its_next_step_open() {
    let project = project();
    let mut edit = act("edit_file", replace("return 1", "return 11"));
    edit.proceed = false;
    let step = |title: &str| PlanReplyStep {
        title: title.into(),
        symbols: vec!["a.py::f".into()],
        because: "asked".into(),
        expect: "changed".into(),
        ..PlanReplyStep::default()
    };
    let plans = vec![PlanReply {
        title: "T".into(),
        reason: "R".into(),
        steps: vec![step("one"), step("two")],
        confidence: 1.0,
        declined: false,
    }];
    let config = json!({"limits": {"tokens": 120}});
    let engine =
        TestEngine::new(&project, Setup { replies: vec![edit], plans, config, tokens: 60, ..Setup::default() });
    let request = Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
    engine.session.plan(&request, &engine.cancel).await.result.expect("a plan");
    let ended = engine.session.approve(Steps::All, &engine.cancel).await;
    let failure = ended.result.expect_err("the budget is used up");
    assert!(failure.message.contains("120 of 120 tokens") && failure.hint.text().contains("kept: a.py"), "{failure:?}");
    let paused = ended.events.iter().any(|event| {
        matches!(event, Event::Plan { markdown, phase, .. }
            if phase == "paused" && markdown.contains("- [x] one") && markdown.contains("- [ ] two"))
    });
    assert!(paused, "{:?}", ended.events);
    assert!(project.read("a.py").contains("return 11"));
}
