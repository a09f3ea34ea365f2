//! The page of a diff that the user edits and saves: taken over into the file, or refused with the line of the fault.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use crate::helix::with_model;
use crate::nvim::ask::step;
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn edit(path: &str, old: &str, new: &str, more: bool) -> Reply {
    step("edit_file", change(path, old, new), more)
}

/// An editor with `a.py` open whose task has changed it and `b.py`, and the page of the diff.
async fn shown(project: &Project, server: &ModelServer) -> (EditorLink, String) {
    let mut link = EditorLink::with(project, hello(project, None, with_model(server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["change them", {"workspace": true}]), Some(&uri));
    let said = link.message(":wa writes 1 buffer").await;
    assert!(said.chars().count() < 80 && said.contains(" new"), "a narrow screen has it whole: {said}");
    link.command("agent.diff", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    (link, page)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edited_text_of_a_diff_is_taken_over_into_buffers_and_files() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", TEXT)]);
    let replies = [edit("a.py", "return 1", "return len(nothing)", true), edit("b.py", "return 2", "return 22", false)];
    let server = ModelServer::start(replies).await;
    let _engine = engine(&project);
    let (mut link, page) = shown(&project, &server).await;
    let (uri, text) = (link.uri("a.py"), link.text(&page));
    assert!(
        text.starts_with("# What “change them” changed\n\n<!-- edit the lines with a space or +; :w takes them over"),
        "{text}"
    );
    assert!(text.lines().take(4).all(|line| line.chars().count() <= 80), "{text}");
    let note = text.split("+    return len(nothing)\n").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
    assert!(note.starts_with("! new error: f: ") && note.contains("nothing"), "beside its line: {text}");
    // Nothing was changed in it.
    link.save(&page);
    let wanted = text
        .replace("+    return len(nothing)", "+    return 11\n+    # eleven")
        .replace("-    return 2\n+    return 22\n", "     return 2\n");
    link.type_text(&page, &wanted);
    link.save(&page);
    let said = link.message("took over").await;
    assert_eq!(said, "took over 2 changes of the diff into 2 files; :wa writes open buffers");
    assert_eq!(link.text(&uri), TEXT.replace("return 1", "return 11\n    # eleven"));
    assert_eq!(
        (project.read("a.py").as_str(), project.read("b.py")),
        (TEXT, TEXT.to_owned()),
        "an open file is not written"
    );
    // Once more in the same page, whose numbers are not those of the file any more.
    link.type_text(&page, &wanted.replace("+    # eleven\n", "+    # 11\n"));
    link.save(&page);
    link.message("took over 1 change of the diff into a.py").await;
    assert_eq!(link.text(&uri), TEXT.replace("return 1", "return 11\n    # 11"));
    // Its lines can still be taken back alone, and the task with all of them.
    let title = "Sextant: take this change back";
    let offered = |told: &Told| told.actions.get(&uri)?.iter().find(|one| one.title == title).cloned();
    let offer = link.until("the offer", offered).await;
    link.command(&offer.command, offer.arguments.into(), Some(&uri));
    link.message("undone one change of “change them”").await;
    assert_eq!(link.text(&uri), TEXT);
    link.command("agent.redo", json!([]), Some(&uri));
    link.message("brought back").await;
    assert_eq!(link.text(&uri), TEXT.replace("return 1", "return 11\n    # 11"));
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("undone “change them”").await;
    assert_eq!((link.text(&uri).as_str(), project.read("b.py").as_str()), (TEXT, TEXT));
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_in_a_diff_is_refused_with_its_line_and_nothing_is_written() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", TEXT)]);
    let replies = [edit("a.py", "return 1", "return 11", true), edit("b.py", "return 2", "return 22", false)];
    let server = ModelServer::start(replies).await;
    let _engine = engine(&project);
    let (mut link, page) = shown(&project, &server).await;
    let (uri, text) = (link.uri("a.py"), link.text(&page));
    let after = link.text(&uri);
    let line = |part: &str| text.lines().position(|line| line.starts_with(part)).expect("a line") + 1;
    for (old, new, at, words) in [
        ("+    return 11", "    return 12\nx", line("+    return 11") + 1, "begins with a space"),
        ("@@ -1,5 +1,5 @@", "@@ -1,5 +9,5 @@", line("@@ "), "the numbers were changed"),
        ("+++ b/a.py", "+++ b/../c.py", line("--- a/a.py"), "not in the diff that was shown"),
        ("`````diff", "", 1, "is gone"),
        ("-    return 1\n", "-    return 1 + 1\n", line("-    return 1"), "type on a line with `+`"),
        ("-    return 1\n", "", line("@@ "), "a line with `-` is gone"),
    ] {
        assert!(text.contains(old), "{old}\n{text}");
        // A good change beside it is not taken over either.
        link.type_text(&page, &text.replacen(old, new, 1).replace("+    return 22", "+    return 23"));
        link.save(&page);
        let said = link.message("nothing was taken over").await;
        assert!(said.contains(&format!("line {at}: ")) && said.contains(words), "{said}");
        assert!(said.chars().count() < 80, "{said}");
        let told = page.clone();
        let faults = link.until("the fault", |seen| seen.diagnostics.get(&told).filter(|all| !all.is_empty()).cloned());
        assert_eq!(faults.await[0]["range"]["start"]["line"], at - 1, "{said}");
    }
    // The file has changed where the diff was.
    link.type_text(&uri, &after.replace("return 11", "return 111"));
    link.type_text(&page, &text.replace("+    return 11", "+    return 12"));
    link.save(&page);
    let changed = line("+    return 11");
    link.message(&format!("line {changed}: a.py:2 has changed since; change it in a.py")).await;
    assert_eq!(
        (link.text(&uri), project.read("b.py")),
        (after.replace("11", "111"), TEXT.replace("return 2", "return 22"))
    );
    link.type_text(&page, &text);
    link.save(&page);
    let told = page.clone();
    link.until("no fault", |seen| seen.diagnostics.get(&told).filter(|all| all.is_empty()).map(drop)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_the_user_typed_between_two_edits_are_no_change_of_the_task() {
    let project = Project::new(&[("a.py", TEXT)]);
    let held = Arc::new(Notify::new());
    let second = Reply::Held(Box::new(edit("a.py", "return 11", "return 12", false)), Arc::clone(&held));
    let server = ModelServer::start([edit("a.py", "return 1", "return 11", true), second]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["change f", {"file": "a.py"}]), Some(&uri));
    link.until("the first edit", |told| told.texts[&uri].1.contains("return 11").then_some(())).await;
    server.requests_seen(2).await;
    link.type_text(&uri, &link.text(&uri).replace("return 2", "return 2  # mine"));
    held.notify_one();
    link.message(":wa writes 1 buffer").await;
    assert!(link.text(&uri).contains("return 12") && link.text(&uri).contains("# mine"), "{}", link.text(&uri));
    link.command("agent.diff", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    let text = link.text(&page);
    assert!(text.contains("+    return 12") && !text.contains("+    return 2"), "{text}");
}
