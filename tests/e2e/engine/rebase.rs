//! An edit of a file that somebody changes between the thought and the edit.

use std::sync::Arc;

use serde_json::{Value, json};
use sextant::agent::commands::outside::OutsideAnswer;
use sextant::agent::state::outside::OutsideClient;
use sextant::base::failure::Failure;
use tokio_util::sync::CancellationToken;

use crate::engine::TEXT;
use crate::support::engine::{Engine, Setup};
use crate::support::project::Project;

async fn call(engine: &Engine, tool: &str, given: Value) -> Result<OutsideAnswer, Failure> {
    engine.session.call(&OutsideClient::new("1", "codex"), tool, given, &CancellationToken::new()).await
}

/// An edit of a file that needs the user's word, which comes after they have typed in it.
async fn edited(meanwhile: (&str, &str)) -> (Project, Result<OutsideAnswer, Failure>) {
    let project = Project::new(&[("conftest.py", TEXT)]);
    let mut engine = Engine::new(&project, Setup { syntax: true, ..Setup::default() });
    engine.session.answers_come();
    let session = Arc::clone(&engine.session);
    let given = json!({"path": "conftest.py", "old_string": "return f()", "new_string": "return f() + (1"});
    let called = tokio::spawn(async move {
        session.call(&OutsideClient::new("1", "codex"), "edit_file", given, &CancellationToken::new()).await
    });
    engine.question().await;
    project.write("conftest.py", &TEXT.replace(meanwhile.0, meanwhile.1));
    engine.session.answer_waiting(1).expect("a question").expect("an answer");
    let came_of_it = called.await.expect("no panic");
    if came_of_it.is_ok() {
        let made = project.read("conftest.py");
        engine.session.undo().await.result.expect("an undo");
        assert_eq!(
            project.read("conftest.py"),
            TEXT.replace(meanwhile.0, meanwhile.1),
            "what was typed is no part of it"
        );
        project.write("conftest.py", &made);
    }
    (project, came_of_it)
}

#[tokio::test]
async fn an_edit_lands_in_its_symbol_though_another_was_changed_while_the_user_was_asked() {
    let meanwhile = ("def f() -> int:\n    return 1\n", "import os\n\n\ndef f() -> int:\n    return len(os.sep)\n");
    let (project, answer) = edited(meanwhile).await;
    let answer = answer.expect("an edit");
    let data = answer.data.expect("data");
    assert_eq!(
        project.read("conftest.py"),
        TEXT.replace(meanwhile.0, meanwhile.1).replace("return f()", "return f() + (1")
    );
    assert!(
        answer.text.contains("had changed since it was read") && answer.text.contains("import os"),
        "{}",
        answer.text
    );
    assert_eq!(data["symbols"], json!(["conftest.py::g"]), "{data}");
    // The baseline is of the text that was edited.
    assert_eq!(data["new_diagnostics"].as_array().map(Vec::len), Some(1), "{data}");
}

#[tokio::test]
async fn an_edit_of_a_symbol_that_was_changed_while_the_user_was_asked_is_refused() {
    for meanwhile in [("return f()", "return f() or 2"), ("def g() -> int:\n    return f()\n", "")] {
        let (project, answer) = edited(meanwhile).await;
        let refused = answer.unwrap_err();
        assert!(refused.message.contains("changed since it was read"), "{refused:?}");
        assert_eq!(project.read("conftest.py"), TEXT.replace(meanwhile.0, meanwhile.1));
    }
}

#[tokio::test]
async fn a_client_that_has_read_another_text_edits_what_has_not_changed_and_nothing_else() {
    let project = Project::new(&[("a.py", TEXT)]);
    let engine = Engine::new(&project, Setup { syntax: true, ..Setup::default() });
    call(&engine, "read_file", json!({"path": "a.py"})).await.expect("a text");
    let typed = TEXT.replace("return 1", "return 3");
    project.write("a.py", &typed);
    let whole = json!({"path": "a.py", "content": TEXT.replace("return f()", "return 0")});
    let refused = call(&engine, "write_file", whole).await.unwrap_err();
    assert!(refused.hint.text().contains("return 3"), "{refused:?}");
    let typed = typed.replace("return 3", "return 4");
    project.write("a.py", &typed);
    let given = json!({"path": "a.py", "old_string": "return f()", "new_string": "return f() + 1"});
    let text = call(&engine, "edit_file", given).await.expect("an edit").text;
    assert!(text.contains("had changed since it was read") && text.contains("return 4"), "{text}");
    assert_eq!(project.read("a.py"), typed.replace("return f()", "return f() + 1"));
    // It was told of that: the next edit says nothing of it.
    let given = json!({"symbol": "a.py::f", "action": "replace", "content": "def f() -> int:\n    return 5\n"});
    let text = call(&engine, "edit_symbol", given).await.expect("an edit").text;
    assert!(!text.contains("changed since"), "{text}");
    // A symbol as the client had it in mind takes nothing back that came meanwhile.
    project.write("a.py", &project.read("a.py").replace("return 5", "return 6"));
    let given = json!({"symbol": "a.py::f", "action": "replace", "content": "def f() -> int:\n    return 5 + 0\n"});
    let refused = call(&engine, "edit_symbol", given).await.unwrap_err();
    assert!(refused.message.contains("changed since it was read"), "{refused:?}");
    assert!(project.read("a.py").contains("return 6"));
}

#[tokio::test]
async fn what_is_too_much_to_be_told_is_not_passed_over() {
    let project = Project::new(&[("a.py", TEXT)]);
    let engine = Engine::new(&project, Setup { syntax: true, ..Setup::default() });
    call(&engine, "read_file", json!({"path": "a.py"})).await.expect("a text");
    project.write("a.py", &format!("{}{TEXT}", "x = 1\n".repeat(100)));
    let given = json!({"path": "a.py", "old_string": "return f()", "new_string": "return f() + 1"});
    let refused = call(&engine, "edit_file", given).await.unwrap_err();
    assert!(refused.message.contains("changed since it was read"), "{refused:?}");
}
