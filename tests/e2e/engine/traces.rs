//! The trace of every task: kept whole, told apart by step and call, found again by a new process.

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};

#[tokio::test]
async fn a_trace_outlives_its_process_and_tells_steps_of_the_plan_from_calls() {
    let project = project();
    let plans = vec![plan_of([planned("one", &["a.py::f"]), planned("two", &["a.py::g"])])];
    let replies = vec![
        last("edit_file", replace("return 1", "return 11")),
        act("read_symbol", serde_json::json!({"symbol": "a.py::g"})),
        last("edit_file", replace("return f()", "return f() + 1")),
    ];
    let engine = TestEngine::new(&project, Setup { replies, plans, memory: true, ..Setup::default() });
    engine.plan("change both").await.expect("a plan");
    engine.approve().await.0.expect("an outcome");
    engine.ask("what does f do?").await;
    drop(engine);

    let later = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    let names: Vec<String> =
        later.session.traces().await.expect("a list").into_iter().map(|task| task.request).collect();
    assert_eq!(names, ["what does f do?", "change both"]);
    let last = later.session.traced("").await.expect("a trace");
    assert_eq!((last.request.as_str(), last.entries[0].call), ("what does f do?", None));
    let text = later.session.traced("2").await.expect("a trace").markdown();
    let at = |heading: &str| text.find(heading).unwrap_or_else(|| panic!("{heading} is missing: {text}"));
    assert!(text.starts_with("# Trace: change both\n\n## Planning\n"), "{text}");
    let read = at("**acted** read_symbol a.py::g");
    let edit = text.rfind("**acted** edit_file").expect("an edit");
    assert!(text[..read].rfind("## Step 2, call ") > text[..read].rfind("## Step 1"), "{text}");
    let heading =
        |upto: usize| text[..upto].rfind("\n## ").map(|from| text[from + 1..].lines().next().unwrap_or_default());
    assert_ne!(heading(read), heading(edit), "two calls of one step: {text}");
    assert!(heading(edit).is_some_and(|line| line.starts_with("## Step 2, call ")), "{text}");
    let none = later.session.traced("7").await.expect_err("there are two");
    assert!(none.hint.text().contains("1 (the last task) to 2"), "{none:?}");
}

#[tokio::test]
async fn a_plan_that_is_refused_leaves_a_trace_too() {
    let project = project();
    let refused = plan_of([planned("one", &["a.py::nowhere"])]);
    let plans = vec![refused.clone(), refused.clone(), refused];
    let engine = TestEngine::new(&project, Setup { plans, memory: true, ..Setup::default() });
    let failure = engine.plan("change what is not there").await.expect_err("it cannot be used");
    assert!(failure.message.contains("no usable plan"), "{failure:?}");
    let later = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    let found = later.session.traced("").await.expect("a trace");
    let text = found.markdown();
    assert!(found.request == "change what is not there" && text.contains("- **refused** a plan"), "{text}");
    assert!(text.contains("nowhere"), "{text}");
}
