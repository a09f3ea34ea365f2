//! An engine that dies in the middle of a task: what it has done is gone on with, and the plan's page is as the user
//! left it.

use std::time::Duration;

use serde_json::json;

use crate::durable::{TEXT, plan, replace};
use crate::helix::with_model;
use crate::support::link_client::{EditorLink, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use sextant::editors::lsp::link::Hello;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_engine_was_killed_is_gone_on_with_and_undone_whole() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut first = engine(&project);
    let server = ModelServer::start([replace("return 1", "return 11", true), Reply::Stall("{".into())]).await;
    let link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["change f"]), Some(&uri));
    server.requests_seen(2).await;
    first.kill().await.expect("killed");
    assert_eq!(project.read("a.py"), TEXT.replacen("return 1", "return 11", 1));
    drop(link);

    server.push(replace("return 11", "return 111", false));
    let _second = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.command("agent.resume", json!([]), Some(&uri));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    assert_eq!(project.read("a.py"), TEXT.replacen("return 1", "return 111", 1), "{:?}", link.told.lock().unwrap());
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("undone").await;
    assert_eq!(project.read("a.py"), TEXT, "what both engines did");
    link.command("agent.resume", json!([]), Some(&uri));
    link.message("nothing to resume").await;
}

/// Has a plan of two steps made. Returns the page that shows it.
async fn planned(link: &mut EditorLink, uri: &str) -> String {
    link.command("agent.plan", json!(["change both"]), Some(uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    link.until("the plan", |told| (told.texts[&page].1.matches("- [ ] ").count() == 2).then_some(())).await;
    page
}

/// A plan of `f` and `g` whose engine was killed in its second step. The first one is in a buffer alone.
struct KilledPlan {
    server: ModelServer,
    uri: String,
    page: String,
    buffer: String,
}

impl KilledPlan {
    async fn of(project: &Project) -> Self {
        let mut first = engine(project);
        let script = [plan(&["f", "g"]), replace("return 1", "return 11", false), Reply::Stall("{".into())];
        let server = ModelServer::start(script).await;
        let mut link = EditorLink::with(project, hello(project, None, with_model(&server))).await.expect("taken");
        link.open("a.py");
        let uri = link.uri("a.py");
        let page = planned(&mut link, &uri).await;
        link.command("agent.approve", json!([]), Some(&page));
        server.requests_seen(3).await;
        link.until("the first step", |told| told.texts[&page].1.contains("1 of 2 done").then_some(())).await;
        let buffer = link.text(&uri);
        assert!(buffer.contains("return 11"));
        first.kill().await.expect("killed");
        assert_eq!(project.read("a.py"), TEXT, "it was never written");
        Self { server, uri, page, buffer }
    }
}

/// The editor was killed with its engine.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_was_in_a_buffer_which_is_gone_is_run_again() {
    let project = Project::new(&[("a.py", TEXT)]);
    let KilledPlan { server, uri, .. } = KilledPlan::of(&project).await;
    server.push(replace("return 1", "return 11", false));
    server.push(replace("return 2", "return 22", false));
    let _second = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    link.command("agent.resume", json!([]), Some(&uri));
    link.message("2 of 2 steps done").await;
    let wanted = TEXT.replacen("return 1", "return 11", 1).replacen("return 2", "return 22", 1);
    assert_eq!(link.text(&uri), wanted, "both steps are in the file");
    let said = link.told.lock().unwrap().progress.clone();
    let again = |value: &serde_json::Value| {
        value["message"].as_str().is_some_and(|text| text.contains("step 1 was done") && text.contains("run again"))
    };
    assert!(said.iter().any(again), "{said:?}");
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("undone").await;
    assert_eq!(link.text(&uri), TEXT);
}

/// A plan of which one step was carried out by `agent.step`, into a buffer that is gone with its editor.
async fn a_step_by_itself(kills_engine: bool) {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut first = engine(&project);
    let server = ModelServer::start([plan(&["f", "g"]), replace("return 1", "return 11", false)]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    let page = planned(&mut link, &uri).await;
    link.command("agent.step", json!([]), Some(&page));
    link.until("the first step", |told| told.texts[&page].1.contains("1 of 2 done").then_some(())).await;
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    assert!(link.text(&uri).contains("return 11"));
    if kills_engine {
        first.kill().await.expect("killed");
    }
    drop(link);
    assert_eq!(project.read("a.py"), TEXT, "it was never written");

    server.push(replace("return 1", "return 11", false));
    server.push(replace("return 2", "return 22", false));
    let _second = kills_engine.then(|| engine(&project));
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    link.command("agent.resume", json!([]), Some(&uri));
    // Nobody has approved the plan: it waits, and its first step is open again.
    link.message("0 of 2 steps done").await;
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    link.command("agent.approve", json!([]), Some(&page));
    link.message("2 of 2 steps done").await;
    let wanted = TEXT.replacen("return 1", "return 11", 1).replacen("return 2", "return 22", 1);
    assert_eq!(link.text(&uri), wanted, "both steps are in the file: {:?}", link.told.lock().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_step_in_a_buffer_which_is_gone_with_its_engine_is_run_again() {
    a_step_by_itself(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_step_in_a_buffer_which_is_gone_is_run_again_by_the_same_engine() {
    a_step_by_itself(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_told_which_of_its_edits_are_gone_with_a_buffer() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut first = engine(&project);
    let server = ModelServer::start([replace("return 1", "return 11", true), Reply::Stall("{".into())]).await;
    let link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!(["change f"]), Some(&uri));
    server.requests_seen(2).await;
    first.kill().await.expect("killed");
    drop(link);

    server.push(replace("return 1", "return 111", false));
    let _second = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    link.command("agent.resume", json!([]), Some(&uri));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    assert_eq!(link.text(&uri), TEXT.replacen("return 1", "return 111", 1), "{:?}", link.told.lock().unwrap());
    let requests = server.requests();
    let told = requests[2].said_by("user");
    assert!(told.contains("edited in a.py before the interruption is not there any more"), "{told}");
}

/// Kills the engine behind an open plan of which one step is done; `edit` is what the user makes of the page meanwhile.
/// What the page has when the plan has ended.
async fn resumed(edit: impl Fn(&str) -> String) -> (String, String) {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut first = engine(&project);
    let script = [plan(&["f", "g"]), replace("return 1", "return 11", false), Reply::Stall("{".into())];
    let server = ModelServer::start(script).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    let uri = link.uri("a.py");
    let page = planned(&mut link, &uri).await;
    link.command("agent.approve", json!([]), Some(&page));
    server.requests_seen(3).await;
    link.until("the first step", |told| told.texts[&page].1.contains("1 of 2 done").then_some(())).await;
    first.kill().await.expect("killed");
    let left = link.text(&page);
    drop(link);

    server.push(replace("return 2", "return 22", false));
    let _second = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    let edited = edit(&left);
    link.open_uri(&page, &edited);
    let actions = link.until("an action", |told| told.actions.get(&page).cloned()).await;
    assert_eq!(actions[0].command, "agent.resume", "{actions:?}");
    assert_eq!(link.text(&page), edited, "nothing is put over it");
    link.command("agent.resume", json!([]), Some(&page));
    link.message("2 of 2 steps done").await;
    assert_eq!(project.read("a.py"), TEXT.replacen("return 1", "return 11", 1).replacen("return 2", "return 22", 1));
    if edited == left {
        link.until("the end", |told| told.texts[&page].1.contains("<!-- done, 2 of 2").then_some(())).await;
    }
    // Whatever is still to be put comes before this is shown.
    link.command("agent.show", json!([]), Some(&page));
    link.until("the conversation", |told| told.shown.iter().find(|uri| uri.ends_with("answer.md")).cloned()).await;
    (edited, link.text(&page))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_dead_engine_is_brought_up_to_date_by_the_next_one() {
    let (left, now) = resumed(str::to_owned).await;
    assert!(left.contains("1 of 2 done") && now.contains("- [x] change g"), "{left}\n{now}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_edited_in_the_page_of_a_dead_engine_is_never_lost() {
    let (mine, now) = resumed(|text| format!("{text}\nNot before Friday.\n")).await;
    assert_eq!(now, mine);
}

/// The editor lives on, with two proxies. The one of the plan's page is back first.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_in_a_buffer_that_another_proxy_has_open_is_kept() {
    let project = Project::new(&[("a.py", TEXT)]);
    let KilledPlan { server, uri, page, buffer } = KilledPlan::of(&project).await;
    server.push(replace("return 2", "return 22", false));
    let _second = engine(&project);
    let back = || Hello { again: true, ..hello(&project, None, with_model(&server)) };
    let of_page = EditorLink::with(&project, back()).await.expect("taken");
    of_page.command("agent.resume", json!([]), Some(&page));
    let early = tokio::time::timeout(Duration::from_millis(300), server.requests_seen(4)).await;
    assert!(early.is_err(), "the model is asked before the other proxy is back");
    let mut of_code = EditorLink::with(&project, back()).await.expect("taken");
    of_code.open_uri(&uri, &buffer);
    let wanted = TEXT.replacen("return 1", "return 11", 1).replacen("return 2", "return 22", 1);
    of_code.until("the second step", |told| (told.texts[&uri].1 == wanted).then_some(())).await;
    assert_eq!(server.requests().len(), 4, "the finished step is not asked for again");
}
