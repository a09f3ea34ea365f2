//! What the statistics count: by mode, with what was spared, planned anew, asked and recalled.

use serde_json::{Value, json};
use sextant::engine::Request;
use sextant::llm::price::Price;
use sextant::llm::step::{PlanReplyStep, StepReply};

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;

/// The figures of a mode, as `sextant stats --json` prints them.
fn figures(project: &Project, mode: &str) -> Value {
    let memory = project.memory();
    let stats = serde_json::to_value(memory.stats().expect("figures")).expect("data");
    let mut modes = stats["modes"].as_array().expect("modes").clone().into_iter();
    modes.find(|one| one["mode"] == mode).expect("the mode")
}

fn read(symbol: &str) -> StepReply {
    act("read_symbol", json!({"symbol": symbol}))
}

#[tokio::test]
async fn reads_answered_again_and_looks_asked_for_together_are_counted_as_saved() {
    let project = project();
    let together = StepReply {
        more: vec![read("a.py::f").action.unwrap(), act("search", json!({"pattern": "def"})).action.unwrap()],
        ..read("a.py::g")
    };
    let replies = vec![together, read("a.py::f"), read("a.py::g"), last("edit_file", replace("return 1", "return 2"))];
    let engine = TestEngine::new(&project, Setup { replies, memory: true, tokens: 10, cached: 9, ..Setup::default() });
    let outcome = engine.ask("change f").await;
    assert_eq!(outcome["ok"], true);
    let summary = outcome["summary"].as_str().expect("a summary");
    assert!(summary.contains("40 tokens (36 of them cached) in 4 calls"), "{summary}");
    engine.session.close().await;
    let simple = figures(&project, "simple");
    assert_eq!(simple["calls"], 4, "{simple}");
    assert_eq!(simple["calls_saved"], 4, "two further looks, and two reads that were known: {simple}");
    assert_eq!((&simple["steps"], &simple["tokens_in"]), (&json!(6), &json!(40)), "{simple}");
    assert_eq!(figures(&project, "planner")["runs"], 0);
    let page = engine.session.statistics().await.expect("a page");
    for (name, count) in [("calls saved", " 4 "), ("of them cached", " 36 ")] {
        let row = page.lines().find(|line| line.contains(name)).expect("a row");
        assert!(row.contains(count), "{row}");
    }
}

#[tokio::test]
async fn plans_made_anew_and_questions_are_counted_by_their_mode() {
    for (mode, field, other) in [("planner", "replanned", "escalated"), ("supervised", "escalated", "replanned")] {
        let project = project();
        let checked = PlanReplyStep { checks: vec!["symbol a.py::f gone".into()], ..planned("one", &["a.py::f"]) };
        let plans = vec![plan_of([checked]), plan_of([planned("again", &["a.py::f"])])];
        let replies = vec![
            last("edit_file", replace("return 1", "return 11")),
            StepReply::default(),
            StepReply::default(),
            last("edit_file", replace("return 11", "return 12")),
        ];
        let price = Some(Price { input: 1000.0, output: 0.0, ..Price::default() });
        let config = json!({"mode": mode});
        let engine = TestEngine::new(
            &project,
            Setup { replies, plans, config, memory: true, tokens: 10, price, ..Setup::default() },
        );
        engine.plan("change f").await.expect("a plan");
        engine.approve().await.0.expect("an outcome");
        engine.session.close().await;
        let stats = figures(&project, mode);
        assert_eq!((&stats["runs"], &stats[field]), (&json!(1), &json!(1.0)), "{mode}: {stats}");
        assert_eq!(stats[other], 0.0, "{mode}: {stats}");
        // Planner: two plans and two steps at ten tokens, a thousand a million, and the check that does not hold is
        // given back twice. Supervised stops at its question.
        let questions = if mode == "planner" { 6 } else { 4 };
        assert_eq!(
            (&stats["calls"], &stats["cost_micros"]),
            (&json!(questions), &json!(questions * 10_000)),
            "{stats}"
        );
        assert!(stats["mean_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{stats}");
        assert_eq!(figures(&project, "simple")["runs"], 0);
    }
}

#[tokio::test]
async fn hits_retrieval_time_and_compression_are_measured() {
    let project = project();
    let long = "a request that goes on and on ".repeat(12);
    for n in 0..6 {
        let missing = act("edit_file", replace(&format!("return 7{n} {long}"), "x"));
        let engine = TestEngine::new(&project, Setup { replies: vec![missing], memory: true, ..Setup::default() });
        let request =
            Request { text: format!("change f {n} {long}"), symbols: vec!["a.py::f".into()], ..Request::default() };
        engine.ask_about(&request).await;
        engine.session.close().await;
    }
    let simple = figures(&project, "simple");
    let hits = simple["hit_rate"].as_f64().expect("a rate");
    assert!(hits > 0.0 && hits < 1.0, "the first task found nothing: {simple}");
    assert!(simple["mean_retrieval_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{simple}");
    let memory = project.memory();
    let compression = memory.stats().expect("figures").compression;
    assert!(
        compression.is_some_and(|factor| factor > 1.0),
        "what was found is more than what was told: {compression:?}"
    );
}
