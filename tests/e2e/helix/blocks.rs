//! Code blocks of the conversation: offered with the symbol that each is for, applied there, refused with the way out.

use serde_json::{Value, json};

use crate::helix::with_model;
use crate::support::link_client::{EditorLink, engine, hello};
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::says;

const CART: &str = "import os\n\n\nclass Cart:\n    def total(self) -> int:\n        return 1\n\n    def add(self, x: int) -> int:\n        return x\n\n\ndef main() -> None:\n    print(os.name)\n";
const OFFER: &str = "Sextant: apply this block to cart.py::Cart::add (replaces it)";

/// An editor whose agent has answered about line 6 of `cart.py`, with the conversation open.
async fn answered(project: &Project, server: &ModelServer) -> (EditorLink, String) {
    let mut link = EditorLink::with(project, hello(project, None, with_model(server))).await.expect("taken");
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.ask", json!(["how would you write it?", {"lines": [6, 6]}]), Some(&uri));
    link.message("nothing was changed").await;
    link.command("agent.show", json!([]), Some(&uri));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    (link, page)
}

/// The offer with these words, as a command and its arguments.
async fn offer(link: &mut EditorLink, page: &str, title: &str) -> (u32, Value) {
    let page = page.to_owned();
    let found = link.until("the offer", |told| {
        told.actions.get(&page)?.iter().find(|action| action.title == title && action.command == "agent.apply").cloned()
    });
    let found = found.await;
    (found.range.expect("a place").start.line, json!(found.arguments))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_is_offered_for_its_symbol_applied_there_and_taken_back() {
    let project = Project::new(&[("cart.py", CART)]);
    let answer = "Like this:\n\n```python\ndef add(self, x: int) -> int:\n    return 2 * x\n```\n\nor new:\n\n```python\ndef sum(self) -> int:\n    return 4\n```\n";
    let server = ModelServer::start([says(answer)]).await;
    let _engine = engine(&project);
    let (mut link, page) = answered(&project, &server).await;
    let uri = link.uri("cart.py");
    let (line, arguments) = offer(&mut link, &page, OFFER).await;
    let text = link.text(&page);
    assert_eq!(text.lines().nth(usize::try_from(line).unwrap()), Some("```python"), "{text}");
    link.command("agent.apply", arguments, Some(&page));
    link.message(":wa writes 1 buffer").await;
    assert_eq!(link.text(&uri), CART.replace("        return x\n", "        return 2 * x\n"));
    // A new one goes behind the symbol that the request was about.
    let title = "Sextant: apply this block to cart.py::Cart::sum (new, after Cart::total)";
    let (_, arguments) = offer(&mut link, &page, title).await;
    link.command("agent.apply", arguments, Some(&page));
    link.message(":wa writes 1 buffer").await;
    assert!(link.text(&uri).contains("        return 1\n\n    def sum(self) -> int:\n        return 4\n"));
    link.command("agent.undo", json!([]), Some(&uri));
    link.message("undone").await;
    assert!(!link.text(&uri).contains("def sum"));
    // From the code, without a place there: the last block, at the symbol that the user names.
    link.command("agent.apply", json!(["cart.py::sum"]), Some(&uri));
    link.message(":wa writes 1 buffer").await;
    let wanted = "        return 2 * x\n\n\ndef sum(self) -> int:\n    return 4\n\n\ndef main()";
    assert!(link.text(&uri).contains(wanted), "{}", link.text(&uri));
    assert_eq!(server.requests().len(), 1, "no model is asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_of_the_conversation_its_last_block_is_meant() {
    let project = Project::new(&[("cart.py", CART)]);
    let answer = "Like this:\n\n```python\ndef add(self, x: int) -> int:\n    return 2 * x\n```\n\nThat is all.\n";
    let server = ModelServer::start([says(answer)]).await;
    let _engine = engine(&project);
    let (mut link, page) = answered(&project, &server).await;
    offer(&mut link, &page, OFFER).await;
    let end = link.told.lock().unwrap().actions[&page].last().and_then(|action| action.range).expect("a range").end;
    assert_eq!(end.line, u32::MAX, "as far as the page reaches");
    let last = link.text(&page).lines().count();
    link.command("agent.apply", json!([{"line": last}]), Some(&page));
    link.message(":wa writes 1 buffer").await;
    assert_eq!(link.text(&link.uri("cart.py")), CART.replace("        return x\n", "        return 2 * x\n"));
    link.command("agent.apply", json!([{"line": 1}]), Some(&page));
    link.message("no code block is here").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_is_for_the_file_of_its_request_wherever_the_user_has_been_since() {
    let project = Project::new(&[("cart.py", CART), ("big.py", "def other() -> int:\n    return 2\n")]);
    let answer = "Like this:\n\n```python\ndef add(self, x: int) -> int:\n    return 2 * x\n```\n";
    let server = ModelServer::start([says(answer)]).await;
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("cart.py");
    link.open("big.py");
    let (cart, big) = (link.uri("cart.py"), link.uri("big.py"));
    link.command("agent.ask", json!(["how would you write it?", {"lines": [6, 6]}]), Some(&cart));
    link.message("nothing was changed").await;
    // A key without the buffer's name: the proxy adds the file that it has seen last.
    link.command("agent.show", json!([]), Some(&big));
    let page = link.until("the page", |told| told.shown.last().cloned()).await;
    let (_, arguments) = offer(&mut link, &page, OFFER).await;
    link.command("agent.apply", arguments, Some(&page));
    link.message(":wa writes 1 buffer").await;
    assert_eq!(link.text(&cart), CART.replace("        return x\n", "        return 2 * x\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_that_cannot_be_meant_is_refused_with_the_way_out() {
    let project = Project::new(&[("cart.py", CART)]);
    let answer = "So:\n\n```rust\nfn add() {}\n```\n\n```diff\n- x\n```\n";
    let server = ModelServer::start([says(answer)]).await;
    let _engine = engine(&project);
    let (mut link, page) = answered(&project, &server).await;
    let (_, arguments) = offer(&mut link, &page, "Sextant: apply this block").await;
    link.command("agent.apply", arguments, Some(&page));
    let said = link.message("the code block is rust, and cart.py is python").await;
    assert!(said.contains("FILE::SYMBOL"), "{said}");
    link.command("agent.apply", json!([{"line": 1}]), Some(&page));
    link.message("no code block is here").await;
    let text = link.text(&page);
    let diff = text.lines().position(|line| line == "- x").expect("a line") + 1;
    link.command("agent.apply", json!([{"line": diff}]), Some(&page));
    link.message("no code block is here").await;
    assert_eq!(link.told.lock().unwrap().actions[&page].len(), 1, "what shows a change is no code");
    assert_eq!(link.text(&link.uri("cart.py")), CART);
}
