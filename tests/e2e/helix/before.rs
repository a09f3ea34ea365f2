//! An edit that needs the user's word: asked about with what it would introduce, and answered in the editor.

use serde_json::json;

use crate::support::link_client::{EditorLink, engine, hello};
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::replies::change;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_about_an_edit_says_what_it_would_introduce_wherever_it_is_shown() {
    let project = Project::new(&[("conftest.py", "x = 1\n")]);
    let _engine = engine(&project);
    let patient = hello(&project, None, json!({"diagnostics": {"timeout_ms": 60_000}}));
    let mut link = EditorLink::with(&project, patient).await.expect("taken");
    link.open("conftest.py");
    let uri = link.uri("conftest.py");
    link.type_text(&uri, "x = 1\ny = 1\n");
    // Who is typing gets no message: the user rests for longer than that.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    // As a message: the answer that decides nothing comes first, and then no.
    link.told.lock().unwrap().answer = Some("no".into());
    link.command("agent.show", json!([]), Some(&uri));
    let edit = change("conftest.py", "x = 1", "x = missing");
    let refused = client.call("edit_file", edit.clone()).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let said = link.until("the question", |told| told.questions.first().cloned()).await;
    assert!(said.contains("codex: Change conftest.py?"), "{said}");
    assert!(said.contains("It would introduce 1 error:") && said.contains(" error conftest.py:1 "), "{said}");
    assert_eq!(link.told.lock().unwrap().asked[0][..2], ["Later", "no"]);
    assert_eq!(link.text(&uri), "x = 1\ny = 1\n");
    // In the conversation, where the answers are code actions.
    link.told.lock().unwrap().answer = None;
    let calling = client.call("edit_file", edit);
    let answering = async {
        let page = link.until("the page", |told| told.shown.last().cloned()).await;
        let offered = link.until("the answers", |told| {
            let once = told.actions.get(&page)?.iter().find(|action| action.title.contains("change it once"))?;
            (told.questions.len() > 1).then(|| once.clone())
        });
        let action = offered.await;
        assert!(link.text(&page).contains("It would introduce 1 error:"), "{}", link.text(&page));
        link.command(&action.command, json!(action.arguments), Some(&page));
    };
    let (made, ()) = tokio::join!(calling, answering);
    assert_eq!(made["structuredContent"]["ok"], true, "{made}");
    assert_eq!(link.text(&uri), "x = missing\ny = 1\n");
    // The conversation has both answers, each behind its question.
    let page = link.told.lock().unwrap().shown.last().cloned().expect("the page");
    link.until("the answers", |told| {
        let (_, text) = &told.texts[&page];
        let no = text.find("\n→ no\n")?;
        (text.find("\n→ change it once")? > no).then_some(())
    })
    .await;
    // What a client has changed can be taken back on its line, like what a task of the user's has.
    let back = link.until("the offer", |told| {
        told.actions.get(&uri)?.iter().find(|action| action.title == "Sextant: take this change back").cloned()
    });
    let back = back.await;
    assert_eq!(back.range.map(|range| (range.start.line, range.end.line)), Some((0, 0)));
    link.command(&back.command, json!(back.arguments), Some(&uri));
    link.until("the text before", |told| (told.texts[&uri].1 == "x = 1\ny = 1\n").then_some(())).await;
}
