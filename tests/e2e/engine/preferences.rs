//! What the user prefers, as prompts carry it; and that an undo counts once, in what is learned and in the statistics.

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::engine::{Event, Target};

use crate::engine::{project, replace};
use crate::support::engine::{Setup, TestEngine, act, last};

#[tokio::test]
async fn the_newest_and_the_relevant_come_first_and_what_has_no_room_is_said() {
    let project = project();
    let mut engine = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    // By alphabet the oldest would come first.
    for n in 0..12 {
        let letter = char::from(b'a' + n);
        let text = format!("remember that {letter}-rule: word{n}");
        assert!(engine.ask(&text).await["summary"].as_str().is_some_and(|words| words.contains("Kept")), "{text}");
    }
    let kept = engine.ask("remember that colours: red, green, and blue, in this order").await;
    assert!(kept["summary"].as_str().is_some_and(|words| words.contains("red, green, and blue, in")), "{kept}");
    engine.seen();
    engine.ask("apply word0 to f").await;
    let told = engine.model.asked.lock().unwrap().last().expect("a question").context.memory.lines.clone();
    assert!(told[0].starts_with("prefers a-rule: word0"), "what the request is about: {told:?}");
    assert_eq!(told[1], "prefers colours: red, green, and blue, in this order", "then the newest");
    assert!(told[2].starts_with("prefers l-rule"), "{told:?}");
    let left: usize = 13 - told.iter().filter(|line| line.starts_with("prefers ")).count();
    assert!(left > 0, "{told:?}");
    let words = format!("(no room for {left} more preferences)");
    assert!(told.contains(&words), "{told:?}");
    let said = engine.seen().into_iter().find_map(|event| match event {
        Event::Progress { text } if text.contains("had no room") => Some(text),
        _ => None,
    });
    assert!(said.as_ref().is_some_and(|text| text.starts_with(&format!("{left} of your preferences"))), "{said:?}");
}

/// Two steps of a simple task, each an edit.
async fn done(project: &crate::support::project::Project) -> TestEngine {
    let replies = vec![
        act("edit_file", replace("return 1", "return 11")),
        last("edit_file", replace("return f()", "return f() + 1")),
    ];
    let engine = TestEngine::new(project, Setup { replies, memory: true, ..Setup::default() });
    let request =
        sextant::engine::Request { text: "raise both".into(), path: Some("a.py".into()), ..Default::default() };
    assert_eq!(engine.ask_about(&request).await["ok"], json!(true));
    engine
}

#[tokio::test]
async fn an_undo_counts_once_however_often_and_in_whichever_parts_and_a_redo_takes_it_off() {
    let project = project();
    let engine = done(&project).await;
    let counted = async || {
        let page = engine.session.learned().await.expect("a page");
        page.lines().find(|line| line.contains("for raise both")).unwrap_or_default().to_owned()
    };
    let success = async || {
        let page = engine.session.statistics().await.expect("a page");
        let row = page.lines().find(|line| line.starts_with("| success")).unwrap_or_default();
        row.split('|').nth(2).unwrap_or_default().trim().to_owned()
    };
    assert!(counted().await.contains("good 2 of 2 times"), "{}", counted().await);
    assert_eq!(success().await, "100 %");
    engine.session.undo_part(&Target::Step(Some(2)), false).await.result.expect("undone");
    assert!(counted().await.contains("good 1 of 2 times"), "{}", counted().await);
    assert_eq!(success().await, "100 %", "a part of it stands");
    engine.session.undo().await.result.expect("the rest");
    assert!(counted().await.contains("bad 2 of 2 times"), "{}", counted().await);
    assert_eq!(success().await, "0 %", "nothing of it stands");
    for _ in 0..3 {
        engine.session.redo().await.result.expect("brought back");
        assert!(counted().await.contains("good 1 of 2 times"), "{}", counted().await);
        assert_eq!(success().await, "100 %");
        engine.session.undo().await.result.expect("undone again");
        assert!(counted().await.contains("bad 2 of 2 times"), "never more than it did: {}", counted().await);
    }
    engine.session.redo().await.result.expect("brought back");
    engine.session.redo().await.result.expect("all of it");
    assert!(counted().await.ends_with("good 2 of 2 times"), "without a remark: {}", counted().await);
    assert_eq!(success().await, "100 %");
}
