//! What the user sees of a task: the page of the conversation, thinking in it, and the progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sextant::editors::lsp::link::Hello;
use tokio::sync::Notify;

use crate::durable::TEXT;
use crate::helix::with_model;
use crate::nvim::ask::step;
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::scripted::calls;
use crate::support::wires::{Wire, says};

const DONE: &str =
    r#"{"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": "It returns one."}"#;

#[tokio::test(flavor = "multi_thread")]
async fn thinking_is_one_line_once_the_answer_begins_and_no_part_of_the_message() {
    let project = Project::new(&[("a.py", TEXT)]);
    let thought = "It has a body.\nThe body has one line, and that returns the number one to its caller.";
    let server = ModelServer::start([Wire::Chat.reply(&says(DONE).thinking(thought))]).await;
    let mut options = with_model(&server);
    options["model"]["show_reasoning"] = json!(true);
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["what does f return?"]), Some(&uri));
    let said = link.message("It returns one.").await;
    assert!(!said.contains("body"), "{said}");
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    let text = link.text(&page);
    assert!(
        text.contains("\n\n> Thought: It has a body. The body has one line, and that …\n\nIt returns one."),
        "{text}"
    );
    assert!(!text.contains("to its caller"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_message_of_an_answer_has_the_answer_and_not_the_reasons_before_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let read = step("read_file", json!({"path": "a.py"}), true);
    let end = json!({"action": null, "reasoning": "Nothing is left.", "continue": false, "confidence": 1,
        "answer": "It returns one."});
    let server = ModelServer::start([read, Reply::Json(end)]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["what does f return?"]), Some(&uri));
    let said = link.message("nothing was changed").await;
    assert!(said.starts_with("It returns one. — nothing was changed"), "{said}");
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    assert!(link.text(&page).contains("Nothing is left.\nIt returns one."), "{}", link.text(&page));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conversation_is_shown_at_its_end_while_a_task_runs_and_at_the_answer_behind_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let held = Arc::new(Notify::new());
    let read = calls("I read it.", &[("read_file", json!({"path": "a.py"}))]);
    let end = calls("It returns one,\n\nand that is all.", &[]);
    let server = ModelServer::start([read, Reply::Held(Box::new(end), Arc::clone(&held))]).await;
    let mut options = with_model(&server);
    options["model"]["style"] = json!("conversation");
    options["model"]["context"] = json!(64_000);
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["what does f return?"]), Some(&uri));
    server.requests_seen(2).await;
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    let line = |told: &Told| told.lines.last().copied().flatten().and_then(|line| usize::try_from(line).ok());
    let behind = link.text(&page).matches('\n').count();
    assert_eq!(line(&link.told.lock().unwrap()), Some(behind), "{}", link.text(&page));
    held.notify_one();
    link.until("the end", |told| told.texts[&page].1.contains("nothing was changed").then_some(())).await;
    link.command("agent.show", json!([]), Some(&uri));
    link.until("the page again", |told| (told.shown.len() == 2).then_some(())).await;
    let text = link.text(&page);
    let at = line(&link.told.lock().unwrap()).and_then(|line| text.lines().nth(line));
    assert_eq!(at, Some("It returns one,"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_progress_names_the_phase_with_its_seconds_and_leaves_time_to_read_a_message() {
    let project = Project::new(&[("a.py", TEXT)]);
    let held = Arc::new(Notify::new());
    let busy = Reply::Status(503, vec![("retry-after", "1".to_owned())], "{}".to_owned());
    let end = Wire::Chat.reply(&says(DONE));
    let server = ModelServer::start([busy, Reply::Held(Box::new(end), Arc::clone(&held))]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["what does f return?"]), Some(&uri));
    let reported = |told: &Told, part: &str| {
        told.progress.iter().rposition(|value| value["message"].as_str().is_some_and(|message| message.contains(part)))
    };
    let retry = link.until("the retry", |told| reported(told, "retry 2 of 2 in ")).await;
    let waits = link.until("the seconds", |told| reported(told, "waiting for the model 2 s · ")).await;
    assert!(waits > retry, "{:?}", link.told.lock().unwrap().progress);
    link.command("agent.ask", json!(["and g?"]), Some(&uri));
    link.message("what does f return?").await;
    let (at, count) = (Instant::now(), link.told.lock().unwrap().progress.len());
    link.until("the next report", |told| (told.progress.len() > count).then_some(())).await;
    assert!(at.elapsed() > Duration::from_secs(3), "{:?}", at.elapsed());
    held.notify_one();
    link.message("It returns one.").await;
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_the_conversation_goes_on_with_it_about_the_code_that_the_user_came_from() {
    let project = Project::new(&[("a.py", TEXT)]);
    let server = ModelServer::start([Wire::Chat.reply(&says(DONE)), Wire::Chat.reply(&says(DONE))]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!([{"lines": [1, 1]}, "what does f return?"]), Some(&uri));
    link.message("It returns one.").await;
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    // The keys send the line of the cursor, which is one of the page.
    link.command("agent.ask", json!([{"lines": [79, 79]}, "and in which line?"]), Some(&page));
    link.until("the end", |told| (told.texts[&page].1.matches("It returns one.").count() == 2).then_some(())).await;
    let requests = server.requests();
    let told = requests.last().expect("a request").said_by("user").to_owned();
    assert!(told.contains("what does f return?") && told.contains("It returns one."), "the exchange before: {told}");
    assert!(told.contains("May edit: a.py::f"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_two_editors_has_the_conversation_and_its_next_turn() {
    let project = Project::new(&[("a.py", TEXT)]);
    let reply = || Wire::Chat.reply(&says(DONE));
    let server = ModelServer::start([reply(), reply(), reply()]).await;
    let _engine = engine(&project);
    let editor = |pid| Hello { editor_pid: Some(pid), ..hello(&project, None, with_model(&server)) };
    let mut one = EditorLink::with(&project, editor(1)).await.expect("taken");
    let mut other = EditorLink::with(&project, editor(2)).await.expect("taken");
    one.open("a.py");
    let uri = one.uri("a.py");
    one.command("agent.show", json!([]), Some(&uri));
    let page = one.until("the page", |told| told.shown.last().cloned()).await;
    one.command("agent.ask", json!(["what does f return?"]), Some(&uri));
    // A question before the end of a turn is refused.
    let turns = |told: &Told| told.texts.get(&page).map_or(0, |(_, text)| text.matches("nothing was changed").count());
    one.until("the answer", |told| (turns(told) == 1).then_some(())).await;
    other.command("agent.show", json!([]), Some(&uri));
    other.until("the answer in the other editor", |told| (turns(told) == 1).then_some(())).await;
    other.type_text(&page, &format!("{}mine\n", other.text(&page)));
    // Either one may ask.
    for (asks, count) in [(1, 2), (2, 3)] {
        let asking = if asks == 1 { &one } else { &other };
        asking.command("agent.ask", json!(["and g?"]), Some(&uri));
        one.until("the next answer", |told| (turns(told) == count).then_some(())).await;
        other.until("the next answer there", |told| (turns(told) == count).then_some(())).await;
    }
    assert!(other.text(&page).contains("mine\n") && !one.text(&page).contains("mine\n"), "{}", other.text(&page));
}
