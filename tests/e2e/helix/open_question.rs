//! An open question of the work: how it stays in sight, and where it can be answered.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::durable::TEXT;
use crate::helix::with_model;
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::says;
use crate::support::scripted::calls;

fn in_conversation(server: &ModelServer) -> Value {
    let mut options = with_model(server);
    options["model"]["style"] = json!("conversation");
    options["model"]["context"] = json!(64_000);
    options
}

fn reported(told: &Told, part: &str) -> Option<usize> {
    told.progress.iter().rposition(|value| value["message"].as_str().is_some_and(|message| message.contains(part)))
}

/// The seconds of the work in a report.
fn in_all(report: &Value) -> Option<u64> {
    let message = report["message"].as_str()?.split_once(" s in all")?.0;
    message.rsplit(' ').next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_progress_and_a_refusal_name_the_open_question_and_any_file_offers_its_answers() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n"), ("c.py", "y = 1\n")]);
    let _engine = engine(&project);
    let question = json!({"question": "Which number?", "options": ["ten", "twelve"]});
    let held = Arc::new(Notify::new());
    let end = calls("As you wish.", &[]);
    let replies = [calls("", &[("ask_user", question)]), Reply::Held(Box::new(end), Arc::clone(&held))];
    let server = ModelServer::start(replies).await;
    let mut link = EditorLink::with(&project, hello(&project, None, in_conversation(&server))).await.expect("taken");
    link.open("a.py");
    link.open("b.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["change it"]), Some(&uri));
    link.message("Which number?").await;
    let waits = "waits for your answer (space a, agent.answer) ";
    let first = link.until("the question in the progress", |told| reported(told, waits)).await;
    link.until("its seconds", |told| reported(told, waits).filter(|at| *at > first)).await;
    link.command("agent.ask", json!(["and this?"]), Some(&uri));
    let refused = link.message("a question is open: Which number?").await;
    assert!(refused.contains("space a: answers") && refused.contains("agent.stop"), "{refused}");
    // A file that was open before the question, and one that is opened behind it.
    link.open("c.py");
    for path in ["a.py", "b.py", "c.py"] {
        let uri = link.uri(path);
        let answers = |told: &Told| {
            let all = told.actions.get(&uri)?.iter();
            let all: Vec<_> = all.filter(|action| action.command == "agent.answer").cloned().collect();
            (all.len() == 2).then_some(all)
        };
        link.until(&format!("the answers in {path}"), answers).await;
    }
    link.command("agent.answer", json!([2]), Some(&link.uri("b.py")));
    link.until("the work behind it", |told| {
        let last = told.progress.iter().rev().find_map(|value| value["message"].as_str());
        last.is_some_and(|message| message.contains("waiting for the model")).then_some(())
    })
    .await;
    held.notify_one();
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    for path in ["a.py", "b.py", "c.py"] {
        let uri = link.uri(path);
        assert_eq!(link.told.lock().unwrap().actions[&uri], [], "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_over_another_link_of_the_editor_stays_on_the_line_that_the_progress_uses() {
    let project = Project::new(&[("a.py", TEXT)]);
    let held = Arc::new(Notify::new());
    let end = says("It is so.");
    let server = ModelServer::start([Reply::Held(Box::new(end), Arc::clone(&held))]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    let mut pages = EditorLink::to(&project).await;
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["is it so?"]), Some(&uri));
    link.until("the seconds", |told| reported(told, "waiting for the model 2 s · ")).await;
    pages.command("agent.ask", json!(["and this?"]), Some(&uri));
    pages.message("a task is running already").await;
    // A report comes each second, but for the time in which the refusal is read.
    let pause = |told: &Told| {
        let seconds: Vec<u64> = told.progress.iter().filter_map(in_all).collect();
        seconds.windows(2).any(|pair| pair[1] >= pair[0] + 4).then_some(())
    };
    link.until("the pause of the reports", pause).await;
    held.notify_one();
    link.message("It is so.").await;
}
