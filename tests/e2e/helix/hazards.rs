//! What must never happen to somebody who types: a page that opens, or a question that a stray key answers.

use serde_json::{Value, json};
use sextant::editors::lsp::link::OwnAction;

use crate::helix::with_model;
use crate::nvim::ask::step;
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::says;
use crate::support::scripted::calls;

const TEXT: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

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
        let server = ModelServer::start([touch(), says("done")]).await;
        let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
        link.told.lock().unwrap().answer = stray.clone();
        link.open("a.py");
        let uri = link.uri("a.py");
        link.command("agent.ask", json!(["look at it"]), Some(&uri));
        let titles = link.until("the question", |told| told.asked.first().cloned()).await;
        assert_eq!((titles[0].as_str(), titles[3].as_str()), ("Later", "no"), "{titles:?}");
        assert!(titles[1].starts_with("run it"), "{titles:?}");
        let actions = link.until("code actions", |told| told.actions.get(&uri).filter(|all| !all.is_empty()).cloned());
        assert!(actions.await[0].title.contains("“no”"), "a stray Enter gives no consent");
        // It is open still, and nothing was decided.
        link.command("agent.answer", json!([" "]), Some(&uri));
        assert!(link.message("the answer is empty").await.contains("1 run it"), "the options are named");
        assert!(!project.root().join("made").exists());
        // Words are as good as a no, and the model hears them.
        let (words, heard) = match stray {
            None => ("no", "the user said no to touch made"),
            Some(_) => ("run the tests first", "the user did not agree to touch made, and says: run the tests first"),
        };
        link.command("agent.answer", json!([words]), Some(&uri));
        link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
        assert!(!project.root().join("made").exists(), "{stray:?}");
        let told = server.requests()[1].said_by("user").to_owned();
        assert!(told.contains(heard), "{told}");
        assert_eq!(link.told.lock().unwrap().shown, Vec::<String>::new(), "nothing opens that was not asked for");
        let gone = link.until("no more actions", |told| told.actions.get(&uri).filter(|all| all.is_empty()).cloned());
        gone.await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_types_is_asked_on_the_status_line_alone_and_a_number_answers() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let _engine = engine(&project);
    let server = ModelServer::start([touch(), says("done")]).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn words_of_the_users_own_answer_a_question_and_stand_in_the_conversation() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let question = json!({"question": "Which number?", "options": ["ten", "twelve"]});
    let server = ModelServer::start([calls("", &[("ask_user", question)]), calls("As you wish.", &[])]).await;
    let mut options = with_model(&server);
    options["model"]["style"] = json!("conversation");
    options["model"]["context"] = json!(64_000);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["change it"]), Some(&uri));
    link.message("Which number?").await;
    link.command("agent.answer", json!(["the number of days in a week"]), Some(&uri));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    let heard = server.requests()[1].body.to_string();
    assert!(heard.contains("The user answers: the number of days in a week"), "{heard}");
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    assert!(link.text(&page).contains("→ the number of days in a week\n"), "{}", link.text(&page));
    link.command("agent.answer", json!(["seven"]), Some(&uri));
    link.message("no question is open").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_question_before_is_no_answer_to_this_one() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let _engine = engine(&project);
    let asks = |question: &str| json!({"question": question, "options": ["ten", "twelve"]});
    let server = ModelServer::start([
        calls("", &[("ask_user", asks("Which number?"))]),
        calls("", &[("ask_user", asks("Delete the rest?"))]),
        calls("As you wish.", &[]),
    ])
    .await;
    let mut options = with_model(&server);
    options["model"]["style"] = json!("conversation");
    options["model"]["context"] = json!(64_000);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    link.open("a.py");
    link.open("b.py");
    let (uri, other) = (link.uri("a.py"), link.uri("b.py"));
    link.command("agent.ask", json!(["change it"]), Some(&uri));
    link.message("Which number?").await;
    let answers = |told: &Told, uri: &str| -> Vec<OwnAction> {
        let all = told.actions.get(uri).into_iter().flatten();
        all.filter(|action| action.command == "agent.answer").cloned().collect()
    };
    let offered = link.until("the answers", |told| Some(answers(told, &uri)).filter(|all| all.len() == 2)).await;
    // The user goes on in another file, and answers from there.
    link.command("agent.diagnostics", json!([]), Some(&other));
    link.command("agent.answer", json!([1]), Some(&other));
    link.message("Delete the rest?").await;
    let new = link.until("the new answers", |told| Some(answers(told, &other)).filter(|all| all.len() == 2)).await;
    assert_eq!(answers(&link.told.lock().unwrap(), &uri), new, "where the question before was asked");
    assert_ne!(new, offered);
    link.command(&offered[0].command, json!(offered[0].arguments), Some(&uri));
    link.message("the question of this answer is closed").await;
    assert_eq!(server.requests().len(), 2, "the second question is open");
    link.command("agent.answer", json!([2]), Some(&other));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    let heard = server.requests()[2].body.to_string();
    assert!(heard.contains("The user answers: ten") && heard.contains("The user answers: twelve"), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_options_of_the_slower_server_count_and_the_quick_one_without_any_waits() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let server = ModelServer::start([says("It is so.")]).await;
    let quick = EditorLink::with(&project, hello(&project, None, Value::Null));
    let slow = EditorLink::with(&project, hello(&project, None, with_model(&server)));
    let (quick, _slow) = tokio::join!(quick, slow);
    let mut quick = quick.expect("taken");
    quick.open("a.py");
    quick.command("agent.ask", json!(["is it so?"]), Some(&quick.uri("a.py")));
    quick.message("It is so.").await;
}
