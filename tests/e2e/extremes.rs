//! Servers that send numbers, texts and lists that nobody should: every answer comes soon, and is of the text.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sextant::diagnostics::model::{Freshness, MOST};
use sextant::engine::Request;

use crate::support::engine::{Setup, TestEngine, last};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{CHANGE, Fake, OPEN, PATIENCE_MS, fake_config};

fn item(start: [Value; 2], end: [Value; 2], message: Value) -> Value {
    let place = |[line, character]: [Value; 2]| json!({"line": line, "character": character});
    json!({"range": {"start": place(start), "end": place(end)}, "severity": 1, "code": "bad", "message": message})
}

/// What no honest server sends.
pub fn hostile() -> Vec<Value> {
    let ends: [Value; 7] =
        [json!(2_000_000_000), json!(u32::MAX), json!(u64::MAX), json!(i64::MIN), json!(-1), json!(1e300), json!(0.5)];
    let mut items: Vec<Value> =
        ends.iter().map(|end| item([json!(0), json!(0)], [end.clone(), end.clone()], json!("this is bad"))).collect();
    items
        .extend(ends.iter().map(|start| {
            item([start.clone(), start.clone()], [json!(0), json!(0)], json!("it ends before it begins"))
        }));
    items.push(item([json!(0), json!(0)], [json!(0), json!(3)], json!("x".repeat(1_000_000))));
    items.push(item([json!(0), json!(0)], [json!(0), json!(3)], json!({"kind": "markdown", "value": "in markdown"})));
    items
}

fn publishing(items: &Value) -> Value {
    let publish = json!({"publish": {"version": "same", "items": items}});
    json!({"on": {OPEN: [publish], CHANGE: [publish]}})
}

const TEXT: &str = "def f() -> int:\n    return 1\n";

#[tokio::test]
async fn every_range_is_one_of_the_text_and_no_message_is_endless() {
    let fake = Fake::new(&publishing(&json!(hostile())));
    let report = fake.ask(TEXT, PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Versioned, hostile().len()), "{report:?}");
    for said in &report.diagnostics {
        let range = said.location.range().expect("a range");
        assert!(range.start <= range.end && range.end.line <= 2 && range.end.character <= 15, "{range:?}");
        assert!(said.message.chars().count() < 5_000);
    }
}

#[tokio::test]
async fn a_report_that_is_cut_proves_nothing() {
    let one = item([json!(0), json!(0)], [json!(0), json!(3)], json!("this is bad"));
    let fake = Fake::new(&publishing(&json!(vec![one; MOST + 1])));
    let report = fake.ask(TEXT, PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Quiet, MOST));
    assert!(report.note.is_some_and(|note| note.contains("too many")));
}

#[tokio::test]
async fn an_item_that_cannot_be_read_makes_the_report_a_part() {
    let fake = Fake::new(&publishing(&json!([{"message": "nowhere"}, hostile()[0]])));
    let report = fake.ask(TEXT, PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Quiet, 1));
}

/// Two servers with the same mad answer: their words are held against each other line by line.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_over_mad_ranges_ends_in_time() {
    for items in [hostile(), vec![hostile()[0].clone(); MOST]] {
        let project = Project::new(&[("a.py", TEXT)]);
        let script = publishing(&json!(items));
        let servers = ["one", "two"].map(|name| {
            let mut config = fake_config(&project.beside(name), &script);
            name.clone_into(&mut config.name);
            config
        });
        let edit = change("a.py", "return 1", "return 11");
        let config = json!({"diagnostics": {"timeout_ms": 30_000}});
        let setup =
            Setup { replies: vec![last("edit_file", edit)], servers: servers.into(), config, ..Setup::default() };
        let engine = TestEngine::new(&project, setup);
        let begin = Instant::now();
        let request = Request { text: "change it".into(), path: Some("a.py".into()), ..Request::default() };
        let outcome = engine.ask_about(&request).await;
        assert_eq!(outcome["diagnostics_status"], "complete", "{outcome}");
        assert_eq!(outcome["new_diagnostics"], json!([]), "they were there before");
        // The engine of the tests gives up on a task that hangs.
        println!("{} items: {:?}", items.len(), begin.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_says_what_it_offers_is_waited_for_once() {
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let script = json!({"log": "log", "on": {
        OPEN: [publish], CHANGE: [publish], "textDocument/codeAction": [{"wait_for": "never"}],
    }});
    let project = Project::new(&[("a.py", &"bad\n".repeat(12))]);
    let folder = project.beside("fake");
    let server = fake_config(&folder, &script);
    let config = json!({"diagnostics": {"start_timeout_ms": 3000}});
    let engine = TestEngine::new(&project, Setup { servers: vec![server], config, ..Setup::default() });
    let started = Instant::now();
    let _ = engine.plan("fix the errors").await;
    let asked = || {
        let log = std::fs::read_to_string(folder.join("log")).expect("a log");
        log.matches("textDocument/codeAction").count()
    };
    // The first is asked about once more, with the long wait, and the others without it. The server may still be
    // reading the last ones.
    let all = async {
        while asked() < 13 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(30), all).await;
    assert!(read.is_ok() && asked() == 13, "{} were asked in {:?}", asked(), started.elapsed());
}
