//! The engine as a second client of the editor's own servers: real ones, while the editor types.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::{DiagnosticsProvider, FileText, Freshness, Report};
use sextant::diagnostics::server::LanguageServer;
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::editors::lsp::link::ProxySays;

use super::{FakeEngine, Linked, Place, fake};
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::servers::{PATIENCE_MS, tool};

/// The server that a proxy stands before, as the engine has it.
pub fn second(link: &Linked, language: &str) -> LanguageServer {
    let proxied = link.hello.server.clone().expect("a server");
    let config = ServerConfig {
        name: proxied.name,
        command: proxied.command,
        languages: vec![language.into()],
        socket: Some(proxied.socket),
        ..ServerConfig::default()
    };
    LanguageServer::new(config, &link.hello.root)
}

async fn fetch(server: &LanguageServer, file: &str, text: &str) -> Report {
    let files = [FileText { path: file.into(), text: text.into() }];
    let mut reports = server.fetch(&files, Deadline::after_ms(PATIENCE_MS)).await;
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

fn codes(report: &Report) -> Vec<String> {
    let code = |diagnostic: &sextant::diagnostics::model::Diagnostic| diagnostic.code.clone().unwrap_or_default();
    let mut codes: Vec<String> = report.diagnostics.iter().map(code).collect();
    codes.sort();
    codes
}

/// Drives a server through the proxy; what it reports to the engine of three texts is as wanted.
async fn drive(command: Vec<String>, texts: [(&str, &[&str]); 3]) {
    let place = Place::new(&[("a.py", texts[0].0), ("only.py", texts[1].0)]);
    let engine = FakeEngine::new(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &command), &place.root);
    let mut link = engine.accept().await;
    let server = second(&link, "python");
    let uri = helix.open("a.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    for (at, (text, wanted)) in texts.iter().enumerate() {
        if at > 0 {
            let all = 0..helix.text(&uri).len();
            helix.edit(&uri, all, text);
            let ProxySays::Changed(changed) = link.next().await else { panic!("no change") };
            assert_eq!(&*changed.text, *text);
        }
        let report = fetch(&server, "a.py", text).await;
        assert!(!matches!(report.freshness, Freshness::Timeout | Freshness::Unavailable), "{report:?}");
        assert_eq!(codes(&report), *wanted, "{text:?}: {report:?}");
        // A text that the editor does not have is answered with nothing, and the server does not hear of it.
        let other = [FileText { path: "a.py".into(), text: "other\n".into() }];
        let other = server.fetch(&other, Deadline::after_ms(300)).await;
        assert!(other.iter().all(|report| report.diagnostics.is_empty()));
    }
    // A file that the editor has not opened is the engine's, and the editor hears nothing of it.
    let report = fetch(&server, "only.py", texts[1].0).await;
    assert_eq!(codes(&report), texts[1].1, "{report:?}");
    let only = helix.uri("only.py");
    assert!(!helix.seen().diagnostics.contains_key(&only));
    // Opened by the editor too, it is the editor's; closed again, it is the engine's again.
    helix.open("only.py", "python");
    assert!(matches!(link.next().await, ProxySays::Opened(_)));
    assert_eq!(codes(&fetch(&server, "only.py", texts[1].0).await), texts[1].1);
    helix.close(&only);
    assert!(matches!(link.next().await, ProxySays::Closed(_)));
    assert_eq!(codes(&fetch(&server, "only.py", texts[2].0).await), texts[2].1);
    server.shutdown(Deadline::after_ms(2000)).await;
    // The editor's server goes on.
    let at = serde_json::json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}});
    assert_eq!(helix.request("textDocument/hover", at)["error"], Value::Null);
    helix.quit();
}

#[tokio::test(flavor = "multi_thread")]
async fn basedpyright_answers_the_engine_about_the_text_that_the_editor_has() {
    let command = vec![tool("basedpyright-langserver").display().to_string(), "--stdio".into()];
    let (wrong, unknown) = ("x: int = 'a'\n", "print(nothing)\n");
    let texts: [(&str, &[&str]); 3] = [
        ("x = 1\n", &[]),
        (wrong, &["reportAssignmentType"]),
        (unknown, &["reportUndefinedVariable", "reportUnknownArgumentType"]),
    ];
    drive(command, texts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ruff_answers_the_engine_about_the_text_that_the_editor_has() {
    let command = vec![tool("ruff").display().to_string(), "server".into()];
    let texts: [(&str, &[&str]); 3] = [("x = 1\n", &[]), ("import os\n", &["F401"]), ("print(nothing)\n", &["F821"])];
    drive(command, texts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_changes_a_second_and_the_engines_questions_do_not_disturb_each_other() {
    let place = Place::new(&[("a.py", "x = 0\n")]);
    let engine = FakeEngine::new(&place);
    let command = vec![tool("ruff").display().to_string(), "server".to_owned()];
    let helix = Arc::new(HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &command), &place.root));
    let mut link = engine.accept().await;
    let server = second(&link, "python");
    let uri = helix.open("a.py", "python");
    let typing = {
        let (helix, uri) = (Arc::clone(&helix), uri.clone());
        std::thread::spawn(move || {
            let mut ticks = 0_u32;
            let start = std::time::Instant::now();
            while ticks < 400 {
                let due = start + Duration::from_millis(5) * ticks;
                std::thread::sleep(due.saturating_duration_since(std::time::Instant::now()));
                let end = helix.text(&uri).len();
                helix.edit(&uri, end..end, &format!("y{ticks} = nothing{ticks}\n"));
                ticks += 1;
            }
        })
    };
    let (mut asked, mut answered) = (0, 0);
    let last = loop {
        let text = match link.next().await {
            ProxySays::Changed(changed) => changed.text,
            _ => continue,
        };
        asked += 1;
        let files = [FileText { path: "a.py".into(), text: Arc::clone(&text) }];
        let reports =
            server.fetch(&files, Deadline::after_ms(if text.lines().count() == 401 { 30_000 } else { 20 })).await;
        for report in reports.iter().filter(|report| report.freshness.is_fresh()) {
            answered += 1;
            // Each line after the first names one thing that is not there.
            assert_eq!(report.diagnostics.len(), text.lines().count() - 1, "an answer of another text");
        }
        if text.lines().count() == 401 {
            break text.to_string();
        }
    };
    typing.join().unwrap();
    assert_eq!(last, helix.text(&uri), "no change was lost or out of order");
    assert!(answered > 0, "none of {asked} questions was answered");
    Arc::into_inner(helix).expect("the typing is over").quit();
    println!("{asked} texts seen, {answered} questions answered while typing");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_the_engines_command_leads_to_is_the_engines() {
    let place = Place::new(&[("a.py", "x\n")]);
    let engine = FakeEngine::new(&place);
    let script = serde_json::json!({
        "capabilities": {"textDocumentSync": 1, "executeCommandProvider": {"commands": ["fake.fix"]}},
        "log": "log",
        "on": {"workspace/executeCommand": [
            {"ask": ["workspace/applyEdit", {"edit": {"changes": {}}}]}, {"wait_for": "go"}, {"reply": null}]},
    });
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &fake(&place, &script)), &place.root);
    let link = engine.accept().await;
    let socket = link.hello.server.as_ref().unwrap().socket.clone();
    let mut raw = std::io::BufReader::new(std::os::unix::net::UnixStream::connect(socket).unwrap());
    let send = |stream: &mut std::os::unix::net::UnixStream, message: Value| {
        let body = message.to_string();
        std::io::Write::write_all(stream, format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    };
    let ask = serde_json::json!({"id": 5, "method": "workspace/executeCommand", "params": {"command": "fake.fix"}});
    send(raw.get_mut(), ask);
    let next = |raw: &mut std::io::BufReader<_>| -> Value {
        serde_json::from_slice(&crate::support::helix_client::frame(raw).unwrap()).unwrap()
    };
    let wanted = next(&mut raw);
    assert_eq!(wanted["method"], "workspace/applyEdit");
    send(raw.get_mut(), serde_json::json!({"id": wanted["id"], "result": {"applied": true}}));
    std::fs::write(place.path().join("go"), "").unwrap();
    let done = next(&mut raw);
    assert_eq!((&done["id"], &done["result"]), (&serde_json::json!(5), &Value::Null));
    assert!(helix.seen().messages.iter().all(|message| message["method"] != "workspace/applyEdit"));
}
