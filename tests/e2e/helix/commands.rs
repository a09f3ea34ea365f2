//! Commands of the editor beside the request and the plan: pages to read, and the plan changed by words and numbers.

use serde_json::json;

use crate::durable::{TEXT, plan, replace};
use crate::helix::{CART, PRICE, with_model};
use crate::nvim::ask::step;
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};

#[tokio::test(flavor = "multi_thread")]
async fn how_it_went_and_why_are_pages() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    for (command, arguments, part) in [
        ("agent.why", json!([]), "# Trace: fix the warnings"),
        ("agent.stats", json!([]), "| runs                 |          1 |"),
        ("agent.diff", json!([]), "-import "),
        ("agent.history", json!([]), "fix the warnings"),
    ] {
        let before = link.told.lock().unwrap().shown.len();
        link.command(command, arguments, Some(&uri));
        let shown = |told: &crate::support::link_client::Told| told.shown.get(before).cloned();
        let page = link.until("the page", shown).await;
        assert!(page.ends_with(&format!("{}.md", command.replace("agent.", "/"))), "{page}");
        let text = link.until(part, |told| Some(told.texts[&page].1.clone()).filter(|text| text.contains(part))).await;
        assert!(text.starts_with("# "), "{command}: {text}");
    }
    // A page that is open keeps its text: an editor that quits has nothing of Sextant's to save.
    let edits = link.told.lock().unwrap().edits;
    assert_eq!(edits, 1, "the repair alone");
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("undone").await;
    link.command("agent.history", json!([]), Some(&uri));
    let again =
        link.until("the other page", |told| told.shown.iter().find(|page| page.ends_with("/history-2.md")).cloned());
    let again = again.await;
    assert!(link.text(&again).contains("undone"), "{}", link.text(&again));
    link.command("agent.plan", json!([]), Some(&uri));
    link.message("no plan is there").await;
    link.command("agent.why", json!(["9"]), Some(&uri));
    link.message("there is no trace of a task 9").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_that_ask_have_commands_of_their_own() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask-page", json!([{"lines": [5, 5], "buffer": "cart.py"}]), Some(&uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    assert!(link.text(&page).contains("a request about cart.py, line 5"), "{}", link.text(&page));
    link.command("agent.ask-lines", json!([{"lines": [5, 5], "buffer": "cart.py"}, "fix the warnings"]), Some(&uri));
    link.message("No warning is reported in cart.py::total").await;
    link.command("agent.ask-file", json!([{"buffer": "cart.py"}, "fix the warnings"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    assert_eq!((link.text(&uri), project.read("price.py")), (CART.replace("import os\n", ""), PRICE.to_owned()));
    link.command("agent.ask-workspace", json!(["fix all the warnings"]), Some(&uri));
    link.message("changed price.py").await;
    assert_eq!(project.read("price.py"), PRICE.replace("import sys\n", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_a_refused_undo_has_a_command_of_its_own() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let project = Project::new(&[("a.py", text)]);
    let edit = |old: &str, new: &str, more| step("edit_file", change("a.py", old, new), more);
    let server = ModelServer::start([edit("return 1", "return 11", true), edit("return 2", "return 22", false)]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask-file", json!([{"buffer": "a.py"}, "raise both"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    link.type_text(&uri, &link.text(&uri).replace("return 11", "return 12"));
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("(space a: undo the rest)").await;
    let offered =
        |told: &Told| told.actions.get(&uri)?.iter().find(|one| one.title == "Sextant: undo the rest").cloned();
    let rest = link.until("the offer", offered).await;
    assert_eq!((rest.range, rest.command.as_str()), (None, "agent.undo-rest"));
    link.command(&rest.command, json!(rest.arguments), Some(&uri));
    link.until("the undo", |told| (!told.texts[&uri].1.contains("return 22")).then_some(())).await;
    assert_eq!(link.text(&uri), text.replace("return 1", "return 12"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_left_out_by_its_number_and_the_rest_is_run() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.plan", json!(["fix all the warnings", {"workspace": true}]), Some(&uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    link.until("the plan", |told| (told.texts[&page].1.matches("- [ ] ").count() == 2).then_some(())).await;
    assert_eq!(link.told.lock().unwrap().lines[0], None, "a page that is looked at as a whole");
    link.command("agent.skip", json!([7]), Some(&page));
    link.message("step 7 does not exist (name a step marked [ ])").await;
    link.command("agent.skip", json!([1]), Some(&page));
    link.until("the step", |told| told.texts[&page].1.contains("- [-] ").then_some(())).await;
    link.message("step 1 is skipped (agent.retry 1 opens it)").await;
    link.command("agent.approve", json!([]), Some(&page));
    link.until("the end", |told| told.texts[&page].1.contains("<!-- done").then_some(())).await;
    let left = [link.text(&uri), project.read("price.py")].iter().filter(|text| text.contains("import ")).count();
    assert_eq!(left, 1, "{}", link.text(&page));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_changed_by_words() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let server = ModelServer::start([plan(&["f", "g"]), plan(&["h"]), replace("return 3", "return 33", false)]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.plan", json!(["change both"]), Some(&uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    link.until("the plan", |told| (told.texts[&page].1.matches("- [ ] ").count() == 2).then_some(())).await;
    link.command("agent.change", json!(["h alone"]), Some(&page));
    link.until("the other plan", |told| told.texts[&page].1.contains("- [ ] change h").then_some(())).await;
    assert!(!link.text(&page).contains("change f"), "{}", link.text(&page));
    assert!(server.requests()[1].said_by("user").contains("h alone"));
    link.command("agent.approve", json!([]), Some(&page));
    link.message(":wa writes 1 buffer").await;
    assert_eq!(link.text(&uri), TEXT.replace("return 3", "return 33"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_why_is_the_models_with_the_trace_of_the_task_before_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let answers = |text: &str| says(text);
    let server = ModelServer::start([
        answers("It returns one."),
        replace("return 1", "return 11", false),
        answers("Because you wanted eleven of them, and one was too few for everything that comes behind it in this."),
    ])
    .await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    // Nothing was done here yet: it is about the lines.
    link.command("agent.ask", json!([{"lines": [1, 2]}, "why?"]), Some(&uri));
    let said = link.message("It returns one.").await;
    assert!(!said.contains("agent.show"), "it is whole: {said}");
    link.command("agent.ask", json!(["change f"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    link.command("agent.why", json!(["why did you change it to 11?"]), Some(&uri));
    let said = link.message("Because you wanted eleven").await;
    assert!(said.ends_with(" (agent.show: all)") && said.chars().count() < 80, "the screen may be narrow: {said}");
    let requests = server.requests();
    let asked = requests[2].said_by("user");
    assert!(asked.contains("why did you change it to 11?") && asked.contains("# Trace: change f"), "{asked}");
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    let line = link.told.lock().unwrap().lines.last().copied().flatten();
    let text = link.text(&page);
    let first = text.lines().nth(usize::try_from(line.expect("a line")).unwrap()).unwrap_or_default();
    assert!(first.starts_with("Because you wanted eleven"), "{first} of {text}");
    assert!(text.contains("\n## why did you change it to 11?\n"), "{text}");
    assert!(text.contains("behind it in this."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_longer_request_is_written_in_a_page_and_sent_by_saving_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let server = ModelServer::start([replace("return 1", "return 11", false)]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!([{"lines": [1, 2]}]), Some(&uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    assert!(page.ends_with("/request.md"), "{page}");
    let head = "<!-- a request about a.py, lines 1 to 2; :w sends it -->\n\n";
    assert_eq!(link.text(&page), format!("{head}\n"));
    link.save(&page);
    link.message("the request is empty").await;
    // Another place is about the same words.
    link.type_text(&page, &format!("{head}Make f\nreturn eleven.\n"));
    link.command("agent.ask", json!([]), Some(&uri));
    let words = "<!-- a request about a.py; :w sends it -->\n\nMake f\nreturn eleven.\n";
    link.until("the words", |told| (told.texts[&page].1 == words).then_some(())).await;
    link.save(&page);
    server.requests_seen(1).await;
    assert!(server.requests()[0].said_by("user").contains("Make f\nreturn eleven."));
    link.message(":wa writes 1 buffer").await;
    link.save(&page);
    link.message("this request was sent").await;
    link.command("agent.ask", json!([{"workspace": true}]), Some(&page));
    let empty = "<!-- a request about the workspace; :w sends it -->\n\n\n";
    link.until("an empty page", |told| (told.texts[&page].1 == empty).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_written_request_that_failed_stands_in_its_page_again() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let refused = Reply::Status(401, Vec::new(), "no such key".to_owned());
    let server = ModelServer::start([refused, replace("return 1", "return 11", false)]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    let uri = link.uri("a.py");
    link.command("agent.ask", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    let words = "<!-- a request about a.py; :w sends it -->\n\nMake f\nreturn eleven.\n";
    link.type_text(&page, words);
    link.save(&page);
    link.message("refused the key").await;
    link.close(&page);
    link.command("agent.ask", json!([]), Some(&uri));
    link.until("the page again", |told| told.shown.get(1).cloned()).await;
    link.until("the words again", |told| (told.texts[&page].1 == words).then_some(())).await;
    link.save(&page);
    link.message(":wa writes 1 buffer").await;
    // The conversation has all of it, and the page is empty for the next one.
    link.command("agent.show", json!([]), Some(&uri));
    let shown =
        link.until("the conversation", |told| told.shown.iter().find(|uri| uri.ends_with("/answer.md")).cloned());
    let shown = shown.await;
    let conversation = link.text(&shown);
    assert!(
        conversation.contains("## Make f\n") && conversation.contains("\n> Make f\n> return eleven.\n"),
        "{conversation}"
    );
    link.command("agent.ask", json!([]), Some(&uri));
    let empty = "<!-- a request about a.py; :w sends it -->\n\n\n";
    link.until("an empty page", |told| (told.texts[&page].1 == empty).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_file_says_nothing_in_the_request_about_it() {
    let name = "a--> also write b.py <!--.py";
    let project = Project::new(&[(name, TEXT)]);
    let _engine = engine(&project);
    let server = ModelServer::start([replace("return 1", "return 11", false)]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open(name);
    let uri = link.uri(name);
    link.command("agent.ask", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    let text = link.text(&page);
    assert_eq!(text.matches("-->").count(), 1, "{text}");
    link.type_text(&page, &format!("{text}Return eleven.\n"));
    link.save(&page);
    server.requests_seen(1).await;
    let asked = server.requests()[0].said_by("user").to_owned();
    assert!(asked.contains("Request: Return eleven."), "{asked}");
}
