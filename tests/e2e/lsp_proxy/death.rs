//! A server that dies or is not there: the editor goes on, and the new one knows everything.

use serde_json::{Value, json};
use sextant::editors::lsp::link::ProxySays;

use super::{FakeEngine, Place, fake};
use crate::support::helix_client::{HelixClient, HelixVersion};

fn script(dies: Value) -> Value {
    json!({
        "capabilities": {"textDocumentSync": 1},
        "log": "log",
        "on": {
            "textDocument/didOpen": [{"publish": {"items": "scan"}}],
            "textDocument/didChange": [{"publish": {"items": "scan"}}],
            "textDocument/definition": dies,
            "textDocument/references": [{"reply": []}],
        },
    })
}

fn logged(place: &Place) -> Vec<Value> {
    let log = std::fs::read_to_string(place.path().join("log")).unwrap_or_default();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_is_started_again_with_all_that_is_open() {
    let place = Place::new(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let engine = FakeEngine::new(&place);
    let dies = script(json!([{"notify": ["$/progress", {"token": "t", "value": {"kind": "begin", "title": "x"}}]},
        {"ask": ["window/workDoneProgress/create", {"token": "u"}]}, {"die": 3}]));
    let config = json!({"fake": 1});
    let command = &mut place.proxy(&[], &fake(&place, &dies));
    let helix = HelixClient::configured(HelixVersion::Master, command, &place.root, config.clone());
    let mut link = engine.accept().await;
    let (a, b) = (helix.open("a.py", "python"), helix.open("b.py", "python"));
    helix.replace(&a, "x", "bad");
    helix.close(&b);
    helix.diagnostics(&a, |shown| shown.len() == 1);
    let at = json!({"textDocument": {"uri": a}, "position": {"line": 0, "character": 0}});
    let answer = helix.request("textDocument/definition", at.clone());
    assert_eq!(answer["error"]["code"], -32803, "nobody waits for ever: {answer}");
    let ended = |message: &Value| message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end";
    helix.wait("the end of its progress", |seen| seen.messages.iter().any(ended).then_some(()));
    // The agent is there meanwhile.
    helix.command("agent.stop", json!([]));
    while !matches!(link.next().await, ProxySays::Command(_)) {}
    // Until the new one is there, requests are refused; then it answers.
    let reply = loop {
        let reply = helix.request("textDocument/references", at.clone());
        if reply["error"].is_null() {
            break reply;
        }
    };
    assert_eq!(reply["result"], json!([]));
    helix.replace(&a, "bad", "bad + bad");
    helix.diagnostics(&a, |shown| shown.len() == 2);
    assert!(helix.seen().said.iter().any(|said| said.contains("started again")));
    helix.quit();
    let log = logged(&place);
    let second = log.iter().rposition(|message| message["method"] == "initialize").unwrap();
    let method = |message: &Value| message["method"].as_str().unwrap_or("answer").to_owned();
    let methods: Vec<String> = log[second..].iter().take(4).map(method).collect();
    let wanted = ["initialize", "initialized", "workspace/didChangeConfiguration", "textDocument/didOpen"];
    assert_eq!(methods, wanted, "no answer to the dead one's question");
    let opened = &log[second + 3]["params"]["textDocument"];
    assert_eq!((&opened["text"], &opened["version"]), (&json!("bad = 1\n"), &json!(1)));
    assert_eq!(log[second]["params"], log[0]["params"]);
    assert_eq!(log[second + 2]["params"]["settings"], config);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_messages_cannot_be_told_apart_is_ended_and_the_agent_goes_on() {
    for length in ["-5", "100000000000000"] {
        let place = Place::new(&[("a.py", "x = 1\n")]);
        let engine = FakeEngine::new(&place);
        let broken = script(json!([{"raw": format!("Content-Length: {length}\r\n\r\n{{}}")}]));
        let command = &mut place.proxy(&[], &fake(&place, &broken));
        let helix = HelixClient::configured(HelixVersion::Master, command, &place.root, json!({}));
        let mut link = engine.accept().await;
        let a = helix.open("a.py", "python");
        let at = json!({"textDocument": {"uri": a}, "position": {"line": 0, "character": 0}});
        let answer = helix.request("textDocument/definition", at.clone());
        assert_eq!(answer["error"]["code"], -32803, "{length}: nobody waits for ever: {answer}");
        helix.command("agent.stop", json!([]));
        while !matches!(link.next().await, ProxySays::Command(_)) {}
        let reply = loop {
            let reply = helix.request("textDocument/references", at.clone());
            if reply["error"].is_null() {
                break reply;
            }
        };
        assert_eq!(reply["result"], json!([]), "{length}");
        helix.quit();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_again_and_again_is_given_up_and_the_agent_stays() {
    let place = Place::new(&[("a.py", "bad\n")]);
    let engine = FakeEngine::new(&place);
    let mut dies = script(Value::Null);
    dies["on"]["textDocument/didOpen"] = json!([{"publish": {"items": "scan"}}, {"die": 1}]);
    let helix = HelixClient::start(HelixVersion::Release, &mut place.proxy(&[], &fake(&place, &dies)), &place.root);
    let mut link = engine.accept().await;
    let uri = helix.open("a.py", "python");
    helix.wait("the end", |seen| seen.said.iter().any(|said| said.contains("four times")).then_some(()));
    helix.diagnostics(&uri, <[Value]>::is_empty);
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}});
    assert_eq!(helix.request("textDocument/definition", at)["error"]["code"], -32803);
    helix.replace(&uri, "bad", "good");
    assert_eq!(helix.actions(&uri, 0..1).len(), 1);
    helix.command("agent.stop", json!([]));
    let mut texts = Vec::new();
    loop {
        match link.next().await {
            ProxySays::Changed(changed) => texts.push(changed.text.to_string()),
            ProxySays::Command(_) => break,
            _ => {}
        }
    }
    assert_eq!(texts, ["good\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_leaves_the_agent_alone() {
    let place = Place::new(&[("a.py", "x\n")]);
    let engine = FakeEngine::new(&place);
    let command = &mut place.proxy(&[], &["no-such-server".to_owned()]);
    let helix = HelixClient::start(HelixVersion::Master, command, &place.root);
    let mut link = engine.accept().await;
    assert_eq!(link.hello.server, None);
    helix.wait("a word", |seen| seen.said.iter().any(|said| said.contains("no-such-server")).then_some(()));
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    assert_eq!(helix.actions(&uri, 0..1).len(), 1);
    assert!(helix.quit().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_before_it_has_answered_initialize_is_started_again() {
    let place = Place::new(&[("a.py", "bad\n")]);
    let engine = FakeEngine::new(&place);
    let once = place.path().join("once");
    std::fs::write(&once, "").unwrap();
    // The first process takes the file away and dies.
    let server = fake(&place, &script(Value::Null));
    let shell = format!("rm {} 2>/dev/null && exit 1; exec {}", once.display(), server.join(" "));
    let command = ["/bin/sh".to_owned(), "-c".to_owned(), shell];
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &command), &place.root);
    engine.accept().await;
    let uri = helix.open("a.py", "python");
    helix.diagnostics(&uri, |shown| shown.len() == 1);
    let log = logged(&place);
    assert_eq!(log.iter().filter(|message| message["method"] == "initialize").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_read_is_the_reason_that_is_given() {
    let place = Place::new(&[("a.py", "x = 1\n")]);
    let config = place.path().join("config").join("sextant");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("config.toml"), "mode = \"plannner\"\n").expect("a file");
    let mut proxy = place.proxy(&[], &[]);
    proxy.env("XDG_CONFIG_HOME", place.path().join("config"));
    let helix = HelixClient::start(HelixVersion::Release, &mut proxy, &place.root);
    helix.open("a.py", "python");
    helix.command("agent.ask", json!(["fix this"]));
    let said = helix.wait("a reason", |seen| seen.said.first().cloned());
    assert!(said.contains("config.toml") && said.contains("plannner"), "{said}");
    helix.quit();
}
