//! What the editor gets of ours beside what its server says, and what the engine hears of the editor.

use serde_json::{Value, json};
use sextant::editors::lsp::link::ProxySays;
use sextant::editors::lsp::link::{EngineSays, ForEditor, OwnAction, OwnActions, OwnDiagnostics, OwnHover, OwnHovers};

use super::{FakeEngine, Place, fake};
use crate::support::helix_client::{HelixClient, HelixVersion};

const WHOLE: &str = "bad = 1\n";

fn script() -> Value {
    json!({
        "capabilities": {"textDocumentSync": {"openClose": true, "change": 1}, "codeActionProvider": true,
            "hoverProvider": true, "executeCommandProvider": {"commands": ["fake.do"]}},
        "log": "log",
        "on": {
            "textDocument/didOpen": [{"publish": {"items": "scan"}}],
            "textDocument/didChange": [{"publish": {"items": "scan"}}],
            "textDocument/codeAction": [{"reply": [{"title": "theirs", "kind": "quickfix", "edit": {}}]}],
            "textDocument/hover": [{"reply": {"contents": {"kind": "markdown", "value": "theirs"}}}],
            "fake.do": [],
            "workspace/executeCommand": [{"reply": "done"}],
        },
    })
}

fn messages(list: &[Value]) -> Vec<&str> {
    list.iter().map(|item| item["message"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_stands_beside_what_the_server_says_and_is_taken_away_again() {
    let place = Place::new(&[("a.py", WHOLE)]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &fake(&place, &script())), &place.root);
    let mut link = engine.accept().await;
    let server = link.hello.server.as_ref().expect("a server");
    assert_eq!((link.hello.client.name.as_str(), server.name.as_str()), ("helix", "python3"));
    assert_eq!(link.hello.root, place.root);
    let commands = helix.capabilities["executeCommandProvider"]["commands"].as_array().unwrap();
    assert!(commands.contains(&json!("fake.do")) && commands.contains(&json!("agent.ask")));
    assert_eq!(helix.capabilities["textDocumentSync"]["save"], true);

    let uri = helix.open("a.py", "python");
    let ProxySays::Opened(opened) = link.next().await else { panic!("not opened") };
    assert_eq!((opened.uri.as_str(), &*opened.text, opened.version), (uri.as_str(), WHOLE, 0));
    helix.diagnostics(&uri, |shown| messages(shown) == ["this is bad"]);

    let range: sextant::base::positions::Range =
        serde_json::from_value(json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}))
            .unwrap();
    let mine = json!({"range": range, "message": "introduced", "source": "sextant"});
    let diagnostics = OwnDiagnostics { uri: uri.clone(), diagnostics: vec![mine] };
    link.sender.notify(&EngineSays::Diagnostics(diagnostics));
    helix.diagnostics(&uri, |shown| messages(shown) == ["this is bad", "introduced"]);
    helix.replace(&uri, "1", "2");
    let ProxySays::Changed(changed) = link.next().await else { panic!("not changed") };
    assert_eq!((&*changed.text, changed.version), ("bad = 2\n", 1));
    let of_one = |seen: &mut crate::support::helix_client::Seen| {
        let publish = seen.messages.iter().rfind(|message| message["params"]["version"] == 1)?;
        Some(publish["params"]["diagnostics"].as_array()?.len())
    };
    assert_eq!(helix.wait("the next publish", of_one), 2, "they stay with the server's next list");
    link.sender.notify(&EngineSays::Diagnostics(OwnDiagnostics { uri: uri.clone(), diagnostics: Vec::new() }));
    helix.diagnostics(&uri, |shown| messages(shown) == ["this is bad"]);

    let action = OwnAction {
        range: Some(range),
        title: "Approve".into(),
        kind: "quickfix".into(),
        is_preferred: true,
        command: "agent.approve".into(),
        arguments: vec![json!(1)],
    };
    link.sender.notify(&EngineSays::Actions(OwnActions { uri: uri.clone(), items: vec![action] }));
    let hover = OwnHover { range, markdown: "ours".into() };
    link.sender.notify(&EngineSays::Hovers(OwnHovers { uri: uri.clone(), items: vec![hover] }));
    // The link is in order: what was said before this answer is known by now.
    link.ask("workspace/workspaceFolders", Value::Null).await;
    let actions = helix.actions(&uri, 0..1);
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    let fix = "Sextant: fix these diagnostics";
    assert_eq!(titles, ["Approve", "theirs", fix, "Sextant: ask about this symbol"], "a preferred one goes first");
    helix.take(&actions[0]);
    let ProxySays::Command(command) = link.next().await else { panic!("no command") };
    assert_eq!((command.command.as_str(), &command.arguments[..]), ("agent.approve", &[json!(1)][..]));
    assert_eq!(command.document.as_deref(), Some(uri.as_str()));
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}});
    let answer = helix.request("textDocument/hover", at);
    assert_eq!(answer["result"]["contents"]["value"], "theirs\n\n---\n\nours");

    assert_eq!(helix.command("fake.do", json!([]))["result"], "done");
    assert_eq!(helix.command("agent.ask", json!(["x", {"lines": [1, 2]}]))["result"], Value::Null);
    let ProxySays::Command(command) = link.next().await else { panic!("no command") };
    assert_eq!(command.arguments, [json!("x"), json!({"lines": [1, 2]})]);
    helix.save(&uri);
    assert!(matches!(link.next().await, ProxySays::Saved(_)));
    helix.close(&uri);
    assert!(matches!(link.next().await, ProxySays::Closed(_)));
    helix.quit();
    let log = std::fs::read_to_string(place.path().join("log")).unwrap();
    assert!(!log.contains("agent.") && !log.contains("didSave"), "the server hears nothing of ours: {log}");
    assert!(
        std::fs::read_dir(place.sessions())
            .unwrap()
            .flatten()
            .all(|file| { !file.file_name().to_string_lossy().starts_with("proxy-") })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_the_agent_is_the_editors_to_make_and_its_text_comes_before_the_answer() {
    let place = Place::new(&[("a.py", WHOLE)]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Release, &mut place.proxy(&[], &fake(&place, &script())), &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let edit = |version: i64, new: &str| {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}});
        let edits = json!([{"range": range, "newText": new}]);
        json!({"edit": {"documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": edits}]}})
    };
    assert_eq!(link.ask("workspace/applyEdit", edit(0, "good")).await["applied"], true);
    let ProxySays::Changed(changed) = link.next().await else { panic!("no change") };
    assert_eq!((&*changed.text, changed.version), ("good = 1\n", 1));
    let refused = link.ask("workspace/applyEdit", edit(0, "late")).await;
    assert_eq!((&refused["applied"], &refused["failureReason"]), (&json!(false), &json!("document has changed")));
    let error = link.asked("window/showMessageRequest", json!({"message": "?"})).await.unwrap_err();
    assert_eq!(error.code, -32601, "25.07.1 does not know it");
    let said = ForEditor { method: "window/showMessage".into(), params: json!({"type": 3, "message": "done"}) };
    link.sender.notify(&EngineSays::Notify(said));
    helix.wait("a message", |seen| seen.said.iter().any(|said| said == "done").then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn alone_it_is_a_server_of_its_own() {
    let place = Place::new(&[("notes.md", "text\n")]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &[]), &place.root);
    let mut link = engine.accept().await;
    assert_eq!(link.hello.server, None);
    let uri = helix.open("notes.md", "markdown");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    helix.edit(&uri, 4..4, "ä😀");
    helix.edit(&uri, 10..10, "!");
    // A text that is old already may be left out.
    loop {
        let ProxySays::Changed(changed) = link.next().await else { panic!("no change") };
        if changed.version == 2 {
            assert_eq!(&*changed.text, "textä😀!\n");
            break;
        }
        assert_eq!(&*changed.text, "textä😀\n");
    }
    let mine =
        json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "message": "m"});
    link.sender.notify(&EngineSays::Diagnostics(OwnDiagnostics { uri: uri.clone(), diagnostics: vec![mine] }));
    helix.diagnostics(&uri, |shown| messages(shown) == ["m"]);
    assert_eq!(helix.actions(&uri, 0..1).len(), 2);
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}});
    assert_eq!(helix.request("textDocument/hover", at)["result"], Value::Null);
    assert_eq!(helix.request("textDocument/rename", json!({}))["error"]["code"], -32601);
    assert!(helix.quit().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_comment_asks_is_offered_on_it() {
    let place = Place::new(&[("a.py", "x = 1\n# Add a test\n# for x.\n")]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &[]), &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let on_comment = |lines| {
        let offered = helix.actions(&uri, lines);
        offered.into_iter().find(|action| action["title"] == "Sextant: do what this comment asks")
    };
    assert_eq!(on_comment(0..0), None);
    let action = on_comment(2..2).expect("an action");
    let place = json!({"file": uri, "lines": [2, 3]});
    assert_eq!(action["command"]["arguments"], json!(["Add a test for x.", place]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_ours_holds_no_symbol_to_ask_about() {
    let place = Place::new(&[("notes.md", "# Notes\n")]);
    let engine = FakeEngine::new(&place);
    let page = place.sessions().join("answer.md");
    std::fs::write(&page, "# Sextant\n").expect("a page");
    let helix = HelixClient::start(HelixVersion::Release, &mut place.proxy(&[], &[]), &place.root);
    let _link = engine.accept().await;
    let titles = |file: &str| -> Vec<String> {
        let uri = helix.open(file, "markdown");
        let offered = helix.actions(&uri, 0..1);
        offered.iter().map(|action| action["title"].as_str().expect("a title").to_owned()).collect()
    };
    assert_eq!(titles("notes.md"), ["Sextant: ask about this symbol"]);
    assert!(titles(page.to_str().expect("a path")).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_proxy_offers_nothing_and_follows_all_the_same() {
    let place = Place::new(&[("a.py", WHOLE)]);
    let engine = FakeEngine::new(&place);
    let command = &mut place.proxy(&["--quiet"], &fake(&place, &script()));
    let helix = HelixClient::configured(HelixVersion::Master, command, &place.root, json!({"sextant": {"mode": "x"}}));
    let mut link = engine.accept().await;
    assert_eq!(link.hello.options, json!({"mode": "x"}));
    assert_eq!(helix.capabilities["executeCommandProvider"]["commands"], json!(["fake.do"]));
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let action = OwnAction {
        range: None,
        title: "Approve".into(),
        kind: "quickfix".into(),
        is_preferred: false,
        command: "agent.approve".into(),
        arguments: vec![],
    };
    link.sender.notify(&EngineSays::Actions(OwnActions { uri: uri.clone(), items: vec![action] }));
    link.ask("workspace/workspaceFolders", Value::Null).await;
    // Its turn never comes, and the engine is gone: nothing is waited for.
    drop(link);
    assert_eq!(helix.actions(&uri, 0..1).len(), 1, "the proxy beside it offers what is ours");
    helix.quit();
    let log = std::fs::read_to_string(place.path().join("log")).unwrap();
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(first["params"]["initializationOptions"], Value::Null, "ours is not the server's");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_is_gone_is_said_and_takes_away_what_it_showed() {
    let place = Place::new(&[("a.py", WHOLE)]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &fake(&place, &script())), &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let mine =
        json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "message": "m"});
    link.sender.notify(&EngineSays::Diagnostics(OwnDiagnostics { uri: uri.clone(), diagnostics: vec![mine] }));
    let begin = json!({"token": "t", "value": {"kind": "begin", "title": "x"}});
    link.sender.notify(&EngineSays::Notify(ForEditor { method: "$/progress".into(), params: begin }));
    helix.diagnostics(&uri, |shown| messages(shown) == ["this is bad", "m"]);
    drop(link);
    helix.diagnostics(&uri, |shown| messages(shown) == ["this is bad"]);
    let ended = |message: &Value| message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end";
    helix.wait("the end of the progress", |seen| seen.messages.iter().any(ended).then_some(()));
    let way_out = |said: &String| said.contains("ended early; agent.resume goes on");
    helix.wait("a word of it", |seen| seen.said.iter().any(way_out).then_some(()));
    let last = helix.seen().messages.last().cloned().unwrap_or_default();
    assert_eq!(last["method"], "window/showMessage", "the end of a progress clears the status line");
    assert_eq!(helix.command("agent.stop", json!([]))["result"], Value::Null);
    let mut link = engine.accept().await;
    assert!(matches!(link.next().await, ProxySays::Opened(opened) if &*opened.text == WHOLE));
    assert!(matches!(link.next().await, ProxySays::Command(command) if command.command == "agent.stop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_answers_a_pull_with_is_not_published_beside_it() {
    let place = Place::new(&[("a.py", WHOLE)]);
    let mut script = script();
    let other = json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}},
        "message": "slow"});
    script["capabilities"]["diagnosticProvider"] =
        json!({"interFileDependencies": false, "workspaceDiagnostics": false});
    script["capabilities"]["textDocumentSync"]["save"] = json!(true);
    script["on"]["textDocument/didOpen"] = json!([]);
    script["on"]["textDocument/diagnostic"] = json!([{"reply": {"pull": "scan"}}]);
    script["on"]["textDocument/didSave"] = json!([[{"publish": {"items": "scan"}}], [{"publish": {"items": [other]}}]]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &fake(&place, &script)), &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    let about = json!({"textDocument": {"uri": uri}});
    let pulled = helix.request("textDocument/diagnostic", about.clone());
    assert_eq!(pulled["result"]["items"].as_array().map(Vec::len), Some(1), "{pulled}");
    helix.save(&uri);
    helix.diagnostics(&uri, |shown| shown.is_empty());
    // What is in no answer is passed on, beside ours, which the editor pulls.
    helix.save(&uri);
    helix.diagnostics(&uri, |shown| messages(shown) == ["slow"]);
    helix.quit();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_published_before_the_pull_is_taken_back_with_its_answer() {
    let place = Place::new(&[("a.py", WHOLE)]);
    let mut script = script();
    script["capabilities"]["diagnosticProvider"] =
        json!({"interFileDependencies": false, "workspaceDiagnostics": false});
    script["on"]["textDocument/diagnostic"] = json!([{"reply": {"pull": "scan"}}]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &fake(&place, &script)), &place.root);
    let _link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    helix.diagnostics(&uri, |shown| shown.len() == 1);
    let pulled = helix.request("textDocument/diagnostic", json!({"textDocument": {"uri": uri}}));
    assert_eq!(pulled["result"]["items"].as_array().map(Vec::len), Some(1), "{pulled}");
    helix.diagnostics(&uri, |shown| shown.is_empty());
    helix.quit();
}
