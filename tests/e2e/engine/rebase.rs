//! An edit of a file that somebody changes between the thought and the edit.

use std::sync::Arc;

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::base::failure::Failure;
use sextant::engine::{OutsideAnswer, OutsideClient};
use tokio_util::sync::CancellationToken;

use crate::engine::TEXT;
use crate::support::engine::{Setup, Stall, TestEngine};
use crate::support::project::Project;
use crate::support::replies::change;

async fn call(engine: &TestEngine, tool: &str, given: Value) -> Result<OutsideAnswer, Failure> {
    engine.session.call(&OutsideClient::new("1", "codex"), tool, given, None, &CancellationToken::new()).await
}

/// An edit of a file that needs the user's word, which comes after they have typed in it.
async fn edited(meanwhile: (&str, &str)) -> (Project, Result<OutsideAnswer, Failure>) {
    let project = Project::new(&[("conftest.py", TEXT)]);
    let mut engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
    engine.session.answers_come();
    let session = Arc::clone(&engine.session);
    let given = change("conftest.py", "return f()", "return f() + (1");
    let called = tokio::spawn(async move {
        session.call(&OutsideClient::new("1", "codex"), "edit_file", given, None, &CancellationToken::new()).await
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
    let engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
    call(&engine, "read_file", json!({"path": "a.py"})).await.expect("a text");
    let typed = TEXT.replace("return 1", "return 3");
    project.write("a.py", &typed);
    let whole = json!({"path": "a.py", "content": TEXT.replace("return f()", "return 0")});
    let refused = call(&engine, "write_file", whole).await.unwrap_err();
    assert!(refused.hint.text().contains("return 3"), "{refused:?}");
    let typed = typed.replace("return 3", "return 4");
    project.write("a.py", &typed);
    let given = change("a.py", "return f()", "return f() + 1");
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

/// What becomes of an edit by a client that has read `seen`, where the file is `now`.
async fn client_edits(seen: &str, now: &str, tool: &str, given: Value) -> (String, Result<OutsideAnswer, Failure>) {
    let project = Project::new(&[("a.py", seen)]);
    let engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
    call(&engine, "read_file", json!({"path": "a.py"})).await.expect("a text");
    project.write("a.py", now);
    let answer = call(&engine, tool, given).await;
    (project.read("a.py"), answer)
}

#[tokio::test]
async fn what_a_call_means_is_what_it_meant_in_the_text_that_was_seen() {
    let two = "def f():\n    x = 1\n    return None\n\n\ndef g():\n    y = 2\n    return None\n";
    let renamed = "def total():\n    return 1\n\n\nclass Cart:\n    def total(self):\n        return 2\n";
    let quoted = change("a.py", "return None", "return 42");
    let named =
        |action: &str| json!({"symbol": "a.py::total", "action": action, "content": "def total():\n    return 5\n"});
    for (seen, now, tool, given) in [
        // It was not clear which one was meant, and one of them is gone.
        (two, two.replace("2\n    return None", "2\n    return y"), "edit_file", quoted),
        // The name stands for another symbol by now.
        (renamed, renamed.replacen("total", "grand", 1), "edit_symbol", named("delete")),
        (renamed, renamed.replacen("total", "grand", 1), "edit_symbol", named("replace")),
        // All of them: one has come that was not seen.
        (
            TEXT,
            format!("{TEXT}\n\ndef h() -> int:\n    return 1\n"),
            "edit_file",
            json!({"path": "a.py", "old_string": "return 1", "new_string": "return 2", "replace_all": true}),
        ),
    ] {
        let (text, answer) = client_edits(seen, &now, tool, given).await;
        let refused = answer.expect_err(&now);
        assert!(refused.message.contains("changed since it was read"), "{refused:?}");
        assert_eq!(text, now);
    }
}

#[tokio::test]
async fn what_the_user_has_deleted_does_not_come_back_with_an_edit_beside_it() {
    let seen = "class Cart:\n    def add(self):\n        return 1\n\n    def drop(self):\n        return 2\n";
    let now = "class Cart:\n    def add(self):\n        return 1\n";
    let content = seen.replace("return 1", "return 10");
    let given = json!({"symbol": "a.py::Cart", "action": "replace", "content": content});
    let (text, answer) = client_edits(seen, now, "edit_symbol", given).await;
    let told = answer.expect("an edit").text;
    assert_eq!(text, now.replace("return 1", "return 10"));
    assert!(told.contains("-    def drop(self):"), "what is gone is told: {told}");
}

#[tokio::test]
async fn what_an_answer_has_not_shown_is_not_taken_for_seen() {
    let functions = |changed: &[usize]| -> String {
        let body = |n: &usize| if changed.contains(n) { "typed()" } else { "1" };
        (0..60).map(|n| format!("def f{n}():\n    return {}\n\n\n", body(&n))).collect()
    };
    let edit = |n: usize, new: &str| {
        change("a.py", format!("def f{n}():\n    return 1"), format!("def f{n}():\n    return {new}"))
    };
    let whole = |n: usize| json!({"symbol": format!("a.py::f{n}"), "action": "replace", "content": format!("def f{n}():\n    return 20\n")});
    // The first call is refused for a reason of its own, or shows a part; what the user has typed in f55 is told by none.
    for (tool, first) in [
        ("edit_file", edit(7, "\"[secret removed]\"")),
        ("edit_symbol", whole(1)),
        ("read_symbol", json!({"symbol": "a.py::f7"})),
        ("read_file", json!({"path": "a.py", "offset": 1, "limit": 20})),
    ] {
        let project = Project::new(&[("a.py", &functions(&[]))]);
        let engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
        call(&engine, "read_file", json!({"path": "a.py"})).await.expect("a text");
        project.write("a.py", &functions(&[1, 55]));
        let answer = call(&engine, tool, first.clone()).await;
        let told = format!("{answer:?}").contains("f55");
        if told {
            assert_eq!(tool, "edit_symbol", "a refusal shows changes that are far from each other");
            assert!(call(&engine, "edit_symbol", whole(55)).await.is_ok());
            continue;
        }
        let refused = call(&engine, "edit_symbol", whole(55)).await.expect_err(&first.to_string());
        assert!(refused.message.contains("changed since it was read"), "{refused:?}");
        assert_eq!(project.read("a.py"), functions(&[1, 55]));
        let shown = refused.hint.text();
        assert!(shown.contains("    return typed()") && shown.contains("def f55():"), "{shown}");
        call(&engine, "edit_symbol", whole(55)).await.expect("an edit");
    }
}

#[tokio::test]
async fn what_others_break_between_two_edits_of_a_burst_is_not_the_burst_s() {
    let project = Project::new(&[("a.py", TEXT)]);
    let engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
    let edit =
        |old: &str, new: &str| json!({"path": "a.py", "old_string": old, "new_string": new, "diagnostics": "defer"});
    call(&engine, "edit_file", edit("return 1", "return 2")).await.expect("an edit");
    project.write("a.py", &project.read("a.py").replace("return f()", "return (f()"));
    let refused = call(&engine, "edit_file", edit("return 2", "return 3")).await.unwrap_err();
    assert!(refused.message.contains("changed since it was read"), "{refused:?}");
}

#[tokio::test]
async fn what_is_too_much_to_be_told_is_not_passed_over() {
    let project = Project::new(&[("a.py", TEXT)]);
    let engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
    call(&engine, "read_file", json!({"path": "a.py"})).await.expect("a text");
    project.write("a.py", &format!("{}{TEXT}", "x = 1\n".repeat(100)));
    let given = change("a.py", "return f()", "return f() + 1");
    let refused = call(&engine, "edit_file", given).await.unwrap_err();
    assert!(refused.message.contains("changed since it was read"), "{refused:?}");
}

/// What becomes of an edit of a README by a client that has read it, where somebody has changed it since.
async fn readme_edited(now: impl Fn(&str) -> String, old: &str, new: &str) -> (String, Result<OutsideAnswer, Failure>) {
    let seen = format!("# Title\n\nWords of it.\n\n{}- last\n", "- a line of many\n".repeat(30));
    let project = Project::new(&[("README.md", &seen)]);
    let engine = TestEngine::new(&project, Setup::default());
    call(&engine, "read_file", json!({"path": "README.md"})).await.expect("a text");
    project.write("README.md", &now(&seen));
    let given = change("README.md", old, new);
    let answer = call(&engine, "edit_file", given).await;
    (project.read("README.md"), answer)
}

#[tokio::test]
async fn outside_of_symbols_an_edit_lands_where_its_quoted_place_is_as_it_was() {
    let appended = |seen: &str| format!("{seen}- mine\n");
    let (text, answer) = readme_edited(appended, "# Title", "# Name").await;
    let told = answer.expect("an edit").text;
    assert!(text.starts_with("# Name\n") && text.ends_with("- last\n- mine\n"), "{text}");
    assert!(told.contains("had changed since it was read") && told.contains("+- mine"), "{told}");

    // The quoted place itself has changed, in a line that the edit would have left alone; or there are two of it.
    let quoted = ("# Title\n\nWords of it.", "# Title\n\nText of it.");
    for now in [
        |seen: &str| seen.replace("# Title", "# My title"),
        |seen: &str| format!("{seen}# Title\n\nWords of it.\n"),
        |seen: &str| seen.replace("Words of it.", "My words of it."),
    ] {
        let (text, answer) = readme_edited(now, quoted.0, quoted.1).await;
        let refused = answer.expect_err("it is not as it was");
        assert!(refused.message.contains("changed since it was read"), "{refused:?}");
        assert!(!text.contains("Text of it"), "{text}");
        let shown = refused.hint.text();
        assert!(shown.contains("what has changed:"), "{shown}");
        assert!(shown.matches("- a line of many").count() <= 6, "no more than what has changed: {shown}");
    }
}

#[tokio::test]
async fn an_edit_that_waits_for_a_pause_in_the_typing_keeps_no_other_file_waiting() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", TEXT)]);
    let engine = TestEngine::new(&project, Setup { syntax: true, ..Setup::default() });
    engine.calls.stall(Some(Stall::Typing("a.py")));
    let session = Arc::clone(&engine.session);
    let given = change("a.py", "return 1", "return 2");
    let waits = tokio::spawn(async move {
        session.call(&OutsideClient::new("1", "codex"), "edit_file", given, None, &CancellationToken::new()).await
    });
    // It has met the typing twice.
    while engine.calls.names().iter().filter(|name| **name == "apply").count() < 2 {
        tokio::task::yield_now().await;
    }
    let other = OutsideClient::new("2", "qwen");
    let given = change("b.py", "return 1", "return 2");
    engine.session.call(&other, "edit_file", given, None, &CancellationToken::new()).await.expect("an edit");
    assert!(!waits.is_finished(), "the edit beside the typing is answered first");
    engine.calls.stall(None);
    waits.await.expect("no panic").expect("an edit");
    assert_eq!(
        [project.read("a.py"), project.read("b.py")],
        [TEXT.replace("return 1", "return 2"), TEXT.replace("return 1", "return 2")]
    );
}
