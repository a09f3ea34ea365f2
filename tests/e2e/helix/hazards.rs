//! What must never happen to somebody who types: a page that opens, or a question that a stray key answers.

use serde_json::json;

use crate::helix::with_model;
use crate::nvim::ask::step;
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

fn done() -> Reply {
    Reply::Json(json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "done"}))
}

fn touch() -> Reply {
    step("run_command", json!({"command": ["touch", "made"]}), true)
}

fn is_asked(told: &Told) -> bool {
    told.messages.iter().any(|message| message.starts_with("(space a: answers) Run `touch made`"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_offers_first_what_decides_nothing_and_no_answer_is_none() {
    for stray in [None, Some("Later".to_owned())] {
        let project = Project::new(&[("a.py", TEXT)]);
        let _engine = engine(&project);
        let server = ModelServer::start([touch(), done()]).await;
        let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
        link.told.lock().unwrap().answer = stray.clone();
        link.open("a.py");
        let uri = link.uri("a.py");
        link.command("agent.ask", json!(["look at it"]), Some(&uri));
        let titles = link.until("the question", |told| told.asked.first().cloned()).await;
        assert_eq!((titles[0].as_str(), titles[1].as_str()), ("Later", "no"), "{titles:?}");
        assert!(titles.last().is_some_and(|title| title.starts_with("run it")), "{titles:?}");
        let actions = link.until("code actions", |told| told.actions.get(&uri).filter(|all| !all.is_empty()).cloned());
        assert!(actions.await[0].title.contains("“no”"), "what does least stands first");
        // It is open still, and nothing was decided.
        link.command("agent.answer", json!(["nonsense"]), Some(&uri));
        link.message("has to be one of those offered").await;
        assert!(!project.root().join("made").exists());
        link.command("agent.answer", json!(["no"]), Some(&uri));
        link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
        assert!(!project.root().join("made").exists(), "{stray:?}");
        assert!(server.requests()[1].said_by("user").contains("the user said no to touch made"));
        assert_eq!(link.told.lock().unwrap().shown, Vec::<String>::new(), "nothing opens that was not asked for");
        let gone = link.until("no more actions", |told| told.actions.get(&uri).filter(|all| all.is_empty()).cloned());
        gone.await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_types_is_asked_on_the_status_line_alone_and_a_number_answers() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let _engine = engine(&project);
    let server = ModelServer::start([touch(), done()]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    link.open("b.py");
    let (uri, other) = (link.uri("a.py"), link.uri("b.py"));
    link.command("agent.ask", json!(["look at it"]), Some(&uri));
    link.type_until(&other, "the question", is_asked).await;
    assert!(link.told.lock().unwrap().asked.is_empty(), "the next key would answer it");
    link.command("agent.answer", json!([1]), Some(&uri));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    assert!(project.root().join("made").exists());
    assert!(link.told.lock().unwrap().shown.is_empty(), "nothing opens while somebody types");
}
