//! Forgetting through the engine: it asks where it costs an undo, finds packed texts, and says what went.

use std::path::Path;

use crate::support::undo::UndoWords;
use sextant::base::failure::FailureKind;
use sextant::engine::Request;
use tokio_util::sync::CancellationToken;

use crate::engine::replace;
use crate::support::engine::{Setup, TestEngine, last};
use crate::support::project::Project;

/// True if any file below the folder holds the word, packed or not.
fn on_disk(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).expect("a folder").flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return on_disk(&path, word);
        }
        let bytes = std::fs::read(&path).unwrap_or_default().to_ascii_lowercase();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    })
}

/// A long text, so that it is packed, with a word that no packing hides from the test's own question.
fn text() -> String {
    let filler: String = (0..200).map(|n| format!("# an ordinary line, number {n}\n")).collect();
    format!("def f() -> int:\n    return 1\n\n\nquebracho = 7\n{filler}")
}

async fn changed(project: &Project) -> TestEngine {
    let replies = vec![last("edit_file", replace("return 1", "return 11"))];
    let engine = TestEngine::new(project, Setup { replies, memory: true, ..Setup::default() });
    let request = Request { text: "raise f".into(), path: Some("a.py".into()), ..Request::default() };
    assert_eq!(engine.ask_about(&request).await["ok"], true);
    engine
}

async fn answered(engine: &mut TestEngine, text: &str, choice: usize) -> (String, String) {
    engine.session.answers_come();
    let session = engine.session.clone();
    let request = Request { text: text.into(), ..Request::default() };
    let cancel = engine.cancel.clone();
    let answer = async {
        let (question, options) = engine.question().await;
        assert_eq!(options.len(), 3, "{options:?}");
        session.answer_waiting(choice).expect("it waits").expect("an option");
        question
    };
    let (ended, question) = tokio::join!(session.ask(&request, &cancel), answer);
    let outcome = ended.result.expect("an outcome");
    (question, format!("{}\n{}", outcome.summary, outcome.answer))
}

#[tokio::test]
async fn a_stop_ends_the_question_and_nothing_is_forgotten() {
    let project = Project::new(&[("a.py", &text())]);
    let mut engine = changed(&project).await;
    engine.session.answers_come();
    let (session, cancel) = (engine.session.clone(), CancellationToken::new());
    let asked = session.forget("quebracho", &cancel);
    let stopped = async {
        engine.question().await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(asked, stopped);
    let failure = ended.expect_err("it was stopped");
    assert_eq!(failure.kind, FailureKind::Cancelled, "{failure:?}");
    let again = session.forget("quebracho", &cancel).await;
    assert!(again.is_err_and(|failure| failure.kind == FailureKind::Cancelled), "nor is anything begun");
    let left = project.memory().forget_costs(&sextant::memory::forget::Forget::text("quebracho")).expect("read");
    assert!(!left.is_empty());
}

#[tokio::test]
async fn what_is_only_in_kept_contents_is_found_asked_about_and_gone() {
    for choice in [3, 2, 1] {
        let project = Project::new(&[("a.py", &text())]);
        let mut engine = changed(&project).await;
        let (question, said) = answered(&mut engine, "forget quebracho", choice).await;
        assert!(question.contains("“raise f”") && question.contains("quebracho"), "{question}");
        let left = project.memory().forget_costs(&sextant::memory::forget::Forget::text("quebracho")).expect("read");
        if choice == 1 {
            assert!(
                said.contains("checkpoints: ") && said.contains("cannot be undone or resumed any more: 1"),
                "{said}"
            );
            assert!(left.is_empty() && !on_disk(&project.state_folder(), "quebracho"), "{left:?}");
            let none = engine.session.undo().await.result.expect_err("its texts are gone");
            assert_eq!(none.message, "there is nothing to undo");
        } else {
            assert_eq!(left.len(), 1, "{said}");
            engine.session.undo().await.result.expect("the undo is kept");
            assert_eq!(project.read("a.py"), text());
        }
    }
}

#[tokio::test]
async fn without_anybody_to_ask_nothing_that_costs_an_undo_is_forgotten() {
    let project = Project::new(&[("a.py", &text())]);
    let engine = changed(&project).await;
    let refused = engine.ask("olvida todo").await;
    assert!(refused["failed"]["hint"].as_str().is_some_and(|hint| hint.contains("--answer")), "{refused}");
    engine.session.undo().await.result.expect("the undo is kept");
}

#[tokio::test]
async fn everything_is_everything_and_the_answer_counts_it() {
    let project = Project::new(&[("a.py", &text())]);
    let mut engine = changed(&project).await;
    engine.ask("remember that colours: quebracho, and red").await;
    let (question, said) = answered(&mut engine, "forget everything", 1).await;
    assert!(question.contains("everything") && question.contains("“raise f”"), "{question}");
    for part in
        ["everything: forgotten: entries: ", "preferences: 1", "checkpoints: ", "task states: 1", "trace records: "]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    for word in ["quebracho", "raise f", "colours"] {
        assert!(!on_disk(&project.state_folder(), word), "{word}");
    }
    assert_eq!(project.memory().entry_count().expect("read"), 0);
    // Nothing is left that an undo would cost: it is not asked again.
    let again = engine.ask("olvida todo").await;
    assert_eq!(again["summary"], "everything: nothing was found to forget.", "{again}");
}
