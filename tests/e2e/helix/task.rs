//! A request: what it changes in buffers and on disk, and what the editor is told.

use serde_json::json;

use crate::helix::{CART, PRICE, with_model};
use crate::rpc::{sextant, stderr, stdout};
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::mcp::McpClient;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::scripted::calls;

#[tokio::test(flavor = "multi_thread")]
async fn an_open_file_is_mended_in_its_buffer_and_undone_there() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    // The buffer goes before the disk.
    link.type_text(&uri, &format!("{CART}# mine\n"));
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    let said = link.message(":wa writes 1 buffer").await;
    assert!(!said.contains('\n'), "{said}");
    let mended = format!("{}# mine\n", CART.replace("import os\n", ""));
    assert_eq!(link.text(&uri), mended);
    assert_eq!(project.read("cart.py"), CART, "what is open is never written");
    let kinds = link.until("the end of the progress", |told| {
        let kinds: Vec<String> = told.progress.iter().map(|value| value["kind"].as_str().unwrap().to_owned()).collect();
        (kinds.last().map(String::as_str) == Some("end")).then_some(kinds)
    });
    assert_eq!(kinds.await.first().map(String::as_str), Some("begin"));
    let last = link.told.lock().unwrap().status.clone().unwrap_or_default();
    assert!(last.contains(":wa writes 1 buffer"), "the end of the progress clears Helix's status line: {last}");
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("undone").await;
    assert_eq!(link.text(&uri), format!("{CART}# mine\n"));
    link.command("agent.redo", json!([]), Some(&uri));
    link.message("brought back").await;
    assert_eq!(link.text(&uri), mended);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_not_open_are_written_and_a_shell_joins() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask", json!(["fix all the warnings", {"workspace": true}]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    assert!(!link.text(&uri).contains("import") && project.read("cart.py") == CART);
    assert!(!project.read("price.py").contains("import"), "nobody has it open");
    let undone = sextant(&project, &["undo"]).await;
    assert!(undone.status.success(), "{}{}", stdout(&undone), stderr(&undone));
    assert!(stderr(&undone).contains("working in the session lsp-"), "{}", stderr(&undone));
    assert_eq!((link.text(&uri), project.read("price.py")), (CART.to_owned(), PRICE.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_edited_while_the_user_types_nor_where_the_editor_refuses() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.told.lock().unwrap().refuses = true;
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    link.message("nothing was changed").await;
    assert_eq!((link.text(&uri).as_str(), link.told.lock().unwrap().edits), (CART, 0));
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    assert!(link.text(&page).contains("changed since it was read"), "{}", link.text(&page));
    link.told.lock().unwrap().refuses = false;
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    // Typed now, so the edit has to wait until the keys rest.
    let typed = std::time::Instant::now();
    link.type_text(&uri, &format!("{CART}# typed\n"));
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    // The page is edited meanwhile, since nobody types in it.
    link.until("an edit", |told| (!told.texts[&uri].1.contains("import os")).then_some(())).await;
    assert!(typed.elapsed() >= std::time::Duration::from_millis(1500), "{:?}", typed.elapsed());
    assert!(link.text(&uri).ends_with("# typed\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_the_user_types_behind_at_once_is_done_and_can_be_undone() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.told.lock().unwrap().types = Some("# typed\n".to_owned());
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    let mended = CART.replace("import os\n", "");
    assert_eq!(link.text(&uri), format!("{mended}# typed\n"));
    link.command("agent.undo", json!([]), Some(&uri));
    link.until("an answer", |told| told.messages.last().cloned()).await;
    assert!(link.text(&uri).ends_with("# typed\n"), "what the user has typed stays: {}", link.text(&uri));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_no_document_is_about_the_file_that_the_editor_has_open() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    // A server that is up already has the file, and the one that is asked starts still.
    let mut first = EditorLink::to(&project).await;
    first.open("cart.py");
    let uri = first.uri("cart.py");
    first.command("agent.stop", json!([]), None);
    first.message("nothing is running").await;
    let mut other = EditorLink::to(&project).await;
    other.command("agent.ask", json!(["fix the warnings"]), None);
    other.message(":wa writes 1 buffer").await;
    assert_eq!(first.text(&uri), CART.replace("import os\n", ""));
    assert_eq!(project.read("price.py"), PRICE, "it was not asked about all of the workspace");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_cannot_be_done_says_how_it_is_written() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    for (command, arguments, part) in [
        ("agent.ask", json!(["x", {"file": "../other.py"}]), "outside of the workspace"),
        ("agent.ask", json!(["x", {"lnies": [1, 2]}]), "unknown field"),
        ("agent.answer", json!([1]), "no question is open"),
        ("agent.stop", json!([]), "nothing is running"),
        ("agent.mode", json!(["fast"]), "there is no mode \"fast\" (use"),
        ("agent.skip", json!([]), "agent.skip 2"),
        ("agent.retry", json!([]), "agent.retry 2"),
        ("agent.change", json!(["x"]), "no plan waits"),
        ("agent.dance", json!([]), "no command of this version"),
        ("agent.approve", json!([]), "there is no plan"),
    ] {
        link.command(command, arguments, Some(&uri));
        link.message(part).await;
    }
    link.command("agent.diagnostics", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    assert!(page.ends_with("/diagnostics.md"));
    assert!(link.text(&page).contains("lsp:ruff: 1 diagnostic"), "{}", link.text(&page));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_edit_introduces_is_shown_once_however_many_servers_the_editor_runs() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    // The servers have only just been started.
    let patient = hello(&project, None, json!({"diagnostics": {"timeout_ms": 60_000}}));
    let mut first = EditorLink::with(&project, patient).await.expect("taken");
    let mut second = EditorLink::to(&project).await;
    first.open("cart.py");
    let uri = first.uri("cart.py");
    let mut client = McpClient::open(&project, "probe", &[]).await;
    let edit = change("cart.py", "sum(prices)", "sum(price)");
    let answer = client.call("edit_file", edit).await;
    assert_eq!(answer["structuredContent"]["ok"], true, "{answer}");
    let shown = |told: &Told| told.diagnostics.get(&uri).map_or(0, Vec::len);
    first.until("what is new", |told| (shown(told) > 0).then_some(())).await;
    // The server of another language comes later.
    let mut third = EditorLink::to(&project).await;
    for link in [&mut second, &mut third] {
        link.command("agent.stop", json!([]), None);
        link.message("nothing is running").await;
        assert_eq!(shown(&link.told.lock().unwrap()), 0);
    }
    assert!(shown(&first.told.lock().unwrap()) > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buffer_outside_of_the_workspace_is_refused_and_nothing_else_is_edited_for_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let outside = project.beside("elsewhere").join("other.py");
    std::fs::write(&outside, PRICE).expect("a file");
    let uri = sextant::base::path::to_uri(&outside).expect("absolute");
    link.open_uri(&uri, PRICE);
    for command in ["agent.ask", "agent.plan"] {
        link.command(command, json!(["fix all the warnings"]), Some(&uri));
        link.message("is outside of the workspace").await;
    }
    assert_eq!((link.text(&link.uri("cart.py")).as_str(), project.read("cart.py").as_str()), (CART, CART));
    assert_eq!(link.text(&uri), PRICE);
    // Its user may mean the workspace all the same.
    link.command("agent.ask", json!(["fix all the warnings", {"workspace": true}]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    assert!(!link.text(&link.uri("cart.py")).contains("import"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_editors_with_a_file_the_one_that_asks_is_edited_and_the_other_is_notified() {
    let project = Project::new(&[("cart.py", CART)]);
    let _engine = engine(&project);
    let editor =
        |pid| sextant::editors::lsp::link::Hello { editor_pid: Some(pid), ..hello(&project, None, json!(null)) };
    let mut asks = EditorLink::with(&project, editor(1)).await.expect("taken");
    let mut other = EditorLink::with(&project, editor(2)).await.expect("taken");
    asks.open("cart.py");
    other.open("cart.py");
    let uri = asks.uri("cart.py");
    other.type_text(&uri, &format!("{CART}# typed elsewhere\n"));
    other.command("agent.stop", json!([]), Some(&uri));
    other.message("nothing is running").await;
    asks.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    other.message("another editor changed cart.py").await;
    asks.message(":wa writes 1 buffer").await;
    assert_eq!(asks.text(&uri), CART.replace("import os\n", ""));
    assert_eq!(other.text(&uri), format!("{CART}# typed elsewhere\n"));
    assert_eq!((other.told.lock().unwrap().edits, project.read("cart.py").as_str()), (0, CART));
    // Whoever takes it back is the one that is edited, too.
    other.type_text(&uri, &format!("{CART}# typed again\n"));
    asks.command("agent.undo", json!([]), Some(&uri));
    asks.message("undone").await;
    assert_eq!((asks.text(&uri).as_str(), other.told.lock().unwrap().edits), (CART, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_and_its_last_word_are_apart_on_the_page() {
    let project = Project::new(&[("cart.py", CART)]);
    let read = calls("I do so.", &[("read_file", json!({"path": "cart.py"}))]);
    let server = ModelServer::start([read, calls("I did so.", &[("done", json!({"answer": "Finished."}))])]).await;
    let mut options = with_model(&server);
    options["model"]["style"] = json!("conversation");
    options["model"]["context"] = json!(64_000);
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask", json!(["what is this?"]), Some(&uri));
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.iter().find(|uri| uri.ends_with("answer.md")).cloned()).await;
    let said = |told: &Told| Some(told.texts[&page].1.clone()).filter(|text| text.contains("Finished."));
    let text = link.until("the last word", said).await;
    assert!(text.contains("I did so.") && !text.contains("so.Finished"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_beside_a_neovim_with_the_same_request_takes_the_task_that_is_named() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask", json!(["fix the warnings"]), Some(&uri));
    link.until("the edit", |told| (!told.texts[&uri].1.contains("import")).then_some(())).await;
    link.until("the end", |told| (told.progress.last()?["kind"] == "end").then_some(())).await;
    let mut nvim = crate::nvim::two::used(&project, "price.py").await;
    nvim.command("AgentAsk fix the warnings").await;
    nvim.finished().await;
    let price = project.read("price.py");
    assert!(!price.contains("import"), "{price}");
    link.command("agent.undo", json!([]), Some(&uri));
    let refused = |told: &Told| told.messages.iter().find(|text| text.contains("agent.undo \"task ")).cloned();
    let refused = link.until("the refusal", refused).await;
    let (_, name) = refused.split_once("agent.undo \"task ").unwrap_or_else(|| panic!("{refused}"));
    let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
    assert!(!link.text(&uri).contains("import"));
    link.command("agent.undo", json!([format!("task {name}")]), Some(&uri));
    link.until("the undo", |told| told.texts[&uri].1.contains("import os").then_some(())).await;
    link.message("undone").await;
    assert_eq!(project.read("price.py"), price, "the other session's edit stands");
    // In Neovim the same words mean its own task now, since no other one stands.
    nvim.command("AgentUndo fix the warnings").await;
    nvim.finished().await;
    assert_eq!(project.read("price.py"), PRICE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_about_the_buffer_that_it_names_and_not_about_the_last_one_that_was_opened() {
    let project = Project::new(&[("cart.py", CART), ("sub/cart.py", PRICE), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let mut link = EditorLink::to(&project).await;
    link.open("sub/cart.py");
    link.open("cart.py");
    link.open("price.py");
    let (cart, price) = (link.uri("cart.py"), link.uri("price.py"));
    // As `hx cart.py price.py` sends it: all files are opened, and the first one has the focus.
    link.command("agent.ask", json!([{"lines": [1, 5], "buffer": "cart.py"}, "fix the warnings"]), Some(&price));
    link.until("the edit", |told| (!told.texts[&cart].1.contains("import")).then_some(())).await;
    assert_eq!((link.text(&price), link.text(&link.uri("sub/cart.py"))), (PRICE.to_owned(), PRICE.to_owned()));
}
