//! An edit that needs the user's word: asked about with what it would introduce, and answered in the editor.

use serde_json::json;

use crate::helix::with_model;
use crate::nvim::ask::step;
use crate::support::link_client::{EditorLink, engine, hello};
use crate::support::mcp::McpClient;
use crate::support::model_server::ModelServer;
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
    assert_eq!(link.told.lock().unwrap().asked[0][..2], ["Later", "change it once"]);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_question_before_an_edit_holds_the_text_that_would_be_written() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server = ModelServer::start([
        step("edit_file", change("a.py", "return 1", "return 11"), true),
        step("edit_file", change("a.py", "return 11", "return 12"), false),
    ])
    .await;
    let mut options = with_model(&server);
    options["review"] = json!("before");
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["make it larger", {"workspace": true}]), Some(&uri));
    let offered = link.until("the answers", |told| {
        let here = told.actions.get(&uri)?.iter().filter(|action| action.command == "agent.answer");
        Some(here.cloned().collect::<Vec<_>>()).filter(|offered| !offered.is_empty())
    });
    let offered = offered.await;
    let titles: Vec<&str> = offered.iter().map(|action| action.title.as_str()).collect();
    let options = ["no", "write every edit of this task", "write it"];
    assert_eq!(titles, options.map(|option| format!("Sextant: answer “{option}”")), "a stray Enter gives no consent");
    // The line and the popup name the page, and the page has the change.
    let said = link.message("Write this edit of a.py?").await;
    assert!(said.starts_with("(space a: answers; agent.show: the change) "), "{said}");
    let popup = link.until("the popup", |told| told.questions.first().cloned()).await;
    assert!(popup.contains("Write this edit of a.py?") && popup.ends_with("; agent.show: the change"), "{popup}");
    link.command("agent.show", json!([]), Some(&uri));
    let page =
        link.until("the page", |told| told.shown.iter().find(|page| page.ends_with("/answer.md")).cloned()).await;
    let change = "```diff\na.py, line 2:\n-     return 1\n+     return 11\n```\n\n1. write it\n";
    assert!(link.text(&page).contains(change), "{}", link.text(&page));
    let line = link.told.lock().unwrap().lines.last().copied().flatten().expect("a line");
    let shown = link.text(&page);
    assert!(shown.lines().nth(usize::try_from(line).unwrap()).unwrap().starts_with("? Write this edit"), "{line}");
    // The diff is that of the change, and not of an earlier task.
    link.command("agent.diff", json!([]), Some(&uri));
    let proposed =
        link.until("the diff", |told| told.shown.iter().find(|page| page.contains("/proposed")).cloned()).await;
    let proposed = link.text(&proposed);
    assert!(proposed.starts_with("# What would be changed\n\nWrite this edit of a.py?"), "{proposed}");
    assert!(proposed.contains("-     return 1\n+     return 11\n"), "{proposed}");
    link.command(&offered[1].command, json!(offered[1].arguments), Some(&uri));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    assert!(link.text(&uri).contains("return 12"), "{}", link.text(&uri));
    link.command("agent.diff", json!([]), Some(&uri));
    let diff = link.until("the diff", |told| told.shown.iter().find(|page| page.ends_with("/diff.md")).cloned()).await;
    assert!(link.text(&diff).starts_with("# What “make it larger” changed\n"), "{}", link.text(&diff));
}
