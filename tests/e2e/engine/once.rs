//! Edits that carry a name of their own: made once, whichever process is asked, and known to have been made.

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::base::failure::Failure;
use sextant::engine::{OutsideAnswer, OutsideClient};

use crate::support::engine::{Setup, TestEngine};
use crate::support::project::Project;
use crate::support::replies::change;

fn engine(project: &Project, memory: bool) -> TestEngine {
    TestEngine::new(project, Setup { memory, ..Setup::default() })
}

fn append(line: &str) -> Value {
    change("a.txt", "one\n", format!("one\n{line}\n"))
}

async fn edit(engine: &TestEngine, client: &str, once: &str, given: Value) -> Result<OutsideAnswer, Failure> {
    let client = OutsideClient::new(client, "agent");
    engine.session.call(&client, "edit_file", given, Some(once), &engine.cancel).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_with_a_name_is_made_once_by_all_processes_together() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let first = engine(&project, true);
    edit(&first, "1", "first-edit", append("two")).await.expect("it is made");
    for client in ["1", "2"] {
        let again = edit(&first, client, "first-edit", append("two")).await.expect("an answer");
        assert!(again.text.contains("made already") && again.text.contains("a.txt"), "{}", again.text);
    }
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
    let mut other = append("two");
    other["path"] = json!("b.txt");
    let refused = edit(&first, "2", "first-edit", other).await.expect_err("another edit");
    assert!(refused.message.contains("names an edit of a.txt, and this one is of b.txt"), "{refused:?}");
    first.session.close().await;

    let second = engine(&project, true);
    let known = second.session.made("first-edit").await.expect("it is known");
    assert!(known.made && known.lost.is_empty() && known.files == ["a.txt"], "{known:?}");
    let again = edit(&second, "1", "first-edit", append("two")).await.expect("an answer");
    assert_eq!(again.data.expect("data")["made_before"], true);
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
    let known = second.session.made("another-edit").await.expect("it is known");
    assert!(!known.made, "{known:?}");
    edit(&second, "1", "another-edit", append("three")).await.expect("it is made");
    assert_eq!(project.read("a.txt"), "one\nthree\ntwo\n");

    // What was taken back was made, and is there no more.
    second.session.undo().await.result.expect("taken back");
    let known = second.session.made("another-edit").await.expect("it is known");
    assert!(known.made && known.lost == ["a.txt"], "{known:?}");
    second.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_memory_a_process_knows_its_own_edits_and_says_that_others_are_not_known() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let engine = engine(&project, false);
    edit(&engine, "1", "first-edit", append("two")).await.expect("it is made");
    let again = edit(&engine, "1", "first-edit", append("two")).await.expect("an answer");
    assert!(again.text.contains("made already"), "{}", again.text);
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
    let failure = engine.session.made("another-edit").await.expect_err("nobody knows");
    assert!(failure.message.contains("not known"), "{failure:?}");
    for name in ["", &"x".repeat(101)] {
        let failure = edit(&engine, "1", name, append("three")).await.expect_err("no name");
        assert!(failure.message.contains("`once` has 1 to 100 characters"), "{failure:?}");
    }
}
