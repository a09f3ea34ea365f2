//! Changed lines that are taken back alone: they are again as the task found them.

use serde_json::Value;
use sextant::engine::{OutsideClient, Target};
use tokio_util::sync::CancellationToken;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine};
use crate::support::undo::UndoWords;

async fn edit(engine: &TestEngine, given: Value) {
    let client = OutsideClient::new("id of claude", "claude");
    engine.session.call(&client, "edit_file", given, None, &CancellationToken::new()).await.expect("an edit");
}

#[tokio::test]
async fn lines_that_two_edits_changed_are_as_before_both() {
    let project = project();
    let engine = TestEngine::new(&project, Setup { syntax: true, memory: true, ..Setup::default() });
    for (old, new) in
        [("return 1", "return wrong"), ("return f()", "return f() + 1"), ("return wrong", "return 12  # repaired")]
    {
        edit(&engine, replace(old, new)).await;
    }
    let changed = project.read("a.py");
    let found = engine.session.standing_changes().await.expect("changes");
    let symbols: Vec<&str> = found.iter().map(|one| one.symbol.as_str()).collect();
    assert_eq!(symbols, ["a.py::f", "a.py::g"], "{found:?}");
    let target = Target::Lines(found[0].name.clone());
    engine.session.undo_part(&target, false).await.result.expect("an undo");
    assert_eq!(project.read("a.py"), TEXT.replace("return f()", "return f() + 1"));
    let left = engine.session.standing_changes().await.expect("changes");
    assert_eq!(left.iter().map(|one| one.symbol.as_str()).collect::<Vec<_>>(), ["a.py::g"]);
    engine.session.redo().await.result.expect("a redo");
    assert_eq!(project.read("a.py"), changed);
}
