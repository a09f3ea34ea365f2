//! The place of Sextant's actions among those of the servers: by kind, and by who answers first.

use serde_json::{Value, json};
use sextant::editors::lsp::link::ProxySays;

use super::{FakeEngine, Place, fake};
use crate::support::helix_client::{HelixClient, HelixVersion};

fn script() -> Value {
    let actions = json!([
        {"title": "extract", "kind": "refactor.extract", "edit": {}},
        {"title": "theirs", "kind": "quickfix", "diagnostics": [{"message": "m"}], "edit": {}},
        {"title": "organize", "kind": "source.organizeImports", "edit": {}},
    ]);
    json!({
        "capabilities": {"textDocumentSync": 1, "codeActionProvider": true, "hoverProvider": true},
        "on": {
            "textDocument/codeAction": [{"reply": actions}],
            "textDocument/hover": [{"reply": {"contents": "theirs"}}],
        },
    })
}

fn request(uri: &str) -> Value {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": [], "triggerKind": 1}})
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_stand_behind_the_quick_fixes_and_the_engine_hears_when_they_are_answered() {
    let place = Place::new(&[("a.py", "x = 1\n")]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Release, &mut place.proxy(&[], &fake(&place, &script())), &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let actions = helix.actions(&uri, 0..1);
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["theirs", "Sextant: ask about this symbol", "extract", "organize"]);
    assert!(matches!(link.any().await, ProxySays::ActionsAsked(file) if file.uri == uri));
    assert!(matches!(link.any().await, ProxySays::ActionsAnswered(file) if file.uri == uri));
    helix.quit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_proxy_answers_when_its_turn_has_come_or_the_engine_is_gone() {
    let place = Place::new(&[("a.py", "x = 1\n")]);
    let engine = FakeEngine::new(&place);
    let command = &mut place.proxy(&["--quiet"], &fake(&place, &script()));
    let helix = HelixClient::start(HelixVersion::Release, command, &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let asked = helix.ask("textDocument/codeAction", request(&uri));
    assert!(matches!(link.any().await, ProxySays::ActionsTurn(file) if file.uri == uri));
    // The server answers in order, and its later answer is there.
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}});
    assert_eq!(helix.request("textDocument/hover", at)["result"]["contents"], "theirs");
    let is_there = |id: i64| helix.seen().messages.iter().any(|message| message["id"] == id);
    assert!(!is_there(asked), "it waits");
    link.sender.reply(link.turn.expect("a request"), &Ok(Value::Null));
    assert_eq!(helix.answer(asked)["result"].as_array().map(Vec::len), Some(3));
    let again = helix.ask("textDocument/codeAction", request(&uri));
    assert!(matches!(link.any().await, ProxySays::ActionsTurn(_)));
    drop(link);
    assert_eq!(helix.answer(again)["result"].as_array().map(Vec::len), Some(3));
}
