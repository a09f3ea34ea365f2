//! A plan's check by a command: the gate, the user's word and the limits of `run_command`, and nothing beside them.

use serde_json::{Value, json};
use sextant::engine::{Event, Request, Steps};
use sextant::llm::step::{PlanReply, PlanReplyStep};

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act};
use crate::support::project::Project;
use crate::support::servers::{CHANGE, OPEN, fake_config};

fn setup(check: &str, config: Value) -> Setup {
    let step = PlanReplyStep {
        title: "change f".into(),
        symbols: vec!["a.py::f".into()],
        because: "asked".into(),
        expect: "changed".into(),
        checks: vec![check.into()],
        ..PlanReplyStep::default()
    };
    let plan = || PlanReply {
        title: "T".into(),
        reason: "R".into(),
        steps: vec![step.clone()],
        confidence: 1.0,
        declined: false,
    };
    let edit = act("edit_file", replace("return 1", "return 11"));
    Setup { replies: vec![edit], plans: vec![plan(), plan(), plan()], config, ..Setup::default() }
}

fn request() -> Request {
    Request { text: "change f".into(), symbols: vec!["a.py::f".into()], ..Request::default() }
}

/// Makes the plan and runs its step; the plan as it is shown last.
async fn run(engine: &mut TestEngine) -> String {
    engine.session.plan(&request(), &engine.cancel).await.result.expect("a plan");
    let ending = engine.session.approve(Steps::One, &engine.cancel).await;
    let shown = ending.events.iter().find_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown.clone()),
        _ => None,
    });
    shown.unwrap_or_else(|| format!("{:?}", ending.result))
}

fn scripted(script: &str) -> Project {
    Project::new(&[("a.py", TEXT), ("check.sh", script)])
}

#[tokio::test]
async fn a_listed_command_is_run_and_its_status_counts() {
    let config = || json!({"commands_allowed": ["sh check.sh"]});
    for (wanted, state) in [("return 11", "- [x]"), ("return 99", "- [!]")] {
        let project = scripted(&format!("grep -q '{wanted}' a.py\n"));
        let mut engine = TestEngine::new(&project, setup("command sh check.sh passes", config()));
        let shown = run(&mut engine).await;
        assert!(shown.contains(state), "{wanted}: {shown}");
        let why = "check `command sh check.sh passes` does not hold: sh check.sh: exit status 1";
        assert_eq!(shown.contains(why), state == "- [!]", "{shown}");
    }
}

#[tokio::test]
async fn it_is_killed_at_the_limit_of_a_command() {
    let config = json!({"commands_allowed": ["sleep"], "limits": {"command_seconds": 1}});
    let folder = project();
    let mut engine = TestEngine::new(&folder, setup("command sleep 1000 passes", config));
    let shown = run(&mut engine).await;
    assert!(shown.contains("sleep 1000: killed after 1 s"), "{shown}");
}

#[tokio::test]
async fn what_nobody_can_allow_is_no_plan() {
    let folder = project();
    let engine = TestEngine::new(&folder, setup("command touch made passes", json!({})));
    let failure = engine.session.plan(&request(), &engine.cancel).await.result.expect_err("no plan");
    assert!(failure.message.contains("touch made is not on the user's list"), "{failure:?}");
    assert!(!folder.root().join("made").exists());
}

#[tokio::test]
async fn the_user_is_asked_and_a_no_runs_nothing_and_proves_nothing() {
    for (answer, runs) in [(3, false), (1, true)] {
        let folder = project();
        let mut engine = TestEngine::new(&folder, setup("command touch made passes", json!({})));
        engine.session.answers_come();
        engine.session.plan(&request(), &engine.cancel).await.result.expect("a plan");
        let session = engine.session.clone();
        let cancel = engine.cancel.clone();
        let answers = async {
            let (text, _) = engine.question().await;
            assert_eq!(text, "Run `touch made` in the workspace?");
            session.answer_waiting(answer).expect("it waits").expect("an option");
        };
        let (ended, ()) = tokio::join!(session.approve(Steps::One, &cancel), answers);
        let shown = format!("{:?}", ended.events);
        assert_eq!(folder.root().join("made").exists(), runs, "{shown}");
        assert_eq!(shown.contains("1 check that nobody can tell"), !runs, "{shown}");
    }
}

#[tokio::test]
async fn no_new_diagnostics_means_none_also_of_a_kind_that_the_file_had_before() {
    let warning = |line: u32| {
        let range = json!({"start": {"line": line, "character": 4}, "end": {"line": line, "character": 10}});
        json!({"range": range, "severity": 2, "code": "W", "message": "a usual thing"})
    };
    let publish = |items: Value| json!([[{"publish": {"version": "same", "items": items}}]]);
    let script = json!({"on": {
        OPEN: publish(json!([warning(1)])),
        CHANGE: publish(json!([warning(1), warning(5)])),
    }});
    let folder = project();
    let servers = vec![fake_config(&folder.beside("fake"), &script)];
    let mut engine = TestEngine::new(&folder, Setup { servers, ..setup("no new diagnostics", json!({})) });
    let shown = run(&mut engine).await;
    assert!(shown.contains("check `no new diagnostics` does not hold: 1 new: warning"), "{shown}");
}
