//! A server that misbehaves: each behaviour gets the right freshness, no old list, and no late answer twice.

use serde_json::{Value, json};
use sextant::base::deadline::{AnswerWait, Deadline};
use sextant::base::positions::{Position, Range};
use sextant::diagnostics::model::{Confidence, DiagnosticsProvider, FileText, Freshness, Reach, Severity};
use sextant::diagnostics::server::LanguageServer;
use sextant::diagnostics::server::server_config::ServerConfig;

use crate::support::servers::{
    CHANGE, Fake, OPEN, PATIENCE_MS, PULL, a, compiler_run, fake_config, lines, loaded, pulling, push,
};

#[tokio::test]
async fn a_publish_of_our_version_is_versioned() {
    let fake = Fake::new(&json!({"on": {OPEN: [push("same")], CHANGE: [push("same")]}}));
    let report = fake.ask("ok\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Versioned, vec![1]));
    assert_eq!((report.version, report.wanted_version, report.provider.as_str()), (Some(1), Some(1), "lsp:fake"));
    assert_eq!(report.diagnostics[0].confidence, Confidence::Medium);
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.version, lines(&report)), (Some(2), vec![0]));
    let again = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((again.version, again.freshness), (Some(2), Freshness::Versioned), "nothing changed: still good");
    assert!(fake.server.late().is_empty());
}

#[tokio::test]
async fn a_stale_publish_is_a_timeout_without_a_list_and_the_late_one_comes_once() {
    let stale = json!({"publish": {"version": "-1", "items": "old"}});
    let fake = Fake::new(&json!({"on": {OPEN: [push("same")], CHANGE: [stale, {"wait_for": "go"}, push("same")]}}));
    fake.ask("bad\n", PATIENCE_MS).await;
    let report = fake.ask("ok\nbad\n", 300).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Timeout, 0));
    assert_eq!((report.version, report.wanted_version), (None, Some(2)));
    assert!(report.note.is_some_and(|note| note.contains("no answer")));
    assert!(fake.server.late().is_empty());
    fake.go("go");
    let late = fake.late().await;
    assert_eq!((late.len(), late[0].freshness, lines(&late[0])), (1, Freshness::Versioned, vec![1]));
    assert!(fake.server.late().is_empty(), "delivered once");
}

#[tokio::test]
async fn a_version_that_was_never_sent_counts_for_nothing() {
    let fake = Fake::new(&json!({"on": {OPEN: [push("+7")]}}));
    let report = fake.ask("bad\n", 1500).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Timeout, 0));
}

#[tokio::test]
async fn a_publish_without_a_version_is_a_guess() {
    let empty = json!({"publish": {"version": "none", "items": []}});
    let fake = Fake::new(&json!({"on": {OPEN: [empty, push("none")]}}));
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Quiet, vec![0]));
    assert!(!report.freshness.is_fresh() && report.note.is_some());
    assert_eq!(report.diagnostics[0].confidence, Confidence::Low);
    assert!(report.elapsed_ms >= 250);
}

#[tokio::test]
async fn a_second_phase_amends_the_first_and_is_waited_for_from_then_on() {
    let empty = json!({"publish": {"items": []}});
    let first = json!([empty, {"wait_for": "go"}, push("same")]);
    let fake = Fake::new(&json!({"on": {OPEN: [first, [empty, push("same")]], CHANGE: [empty, push("same")]}}));
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Versioned, 0));
    fake.go("go");
    let late = fake.late().await;
    assert_eq!((late.len(), late[0].freshness, lines(&late[0])), (1, Freshness::Versioned, vec![0]));
    let report = fake.ask("ok\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Versioned, vec![1]));
    assert!(fake.server.late().is_empty());
}

#[tokio::test]
async fn the_same_list_published_again_is_no_news() {
    let fake = Fake::new(&json!({"on": {OPEN: [push("same"), {"wait_for": "go"}, push("same"), push("none")]}}));
    assert_eq!(lines(&fake.ask("bad\n", PATIENCE_MS).await), [0]);
    let mut news = fake.server.news();
    fake.go("go");
    news.changed().await.expect("it is published again");
    assert!(fake.server.late().is_empty());
}

#[tokio::test]
async fn silence_after_a_repair_is_no_answer_and_shows_no_old_list() {
    let fake = Fake::new(&json!({"on": {OPEN: [push("same")], CHANGE: []}}));
    assert_eq!(fake.ask("bad\n", PATIENCE_MS).await.diagnostics.len(), 1);
    let report = fake.ask("ok\n", 400).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Timeout, 0));
}

#[tokio::test]
async fn an_interrupted_pull_is_asked_again() {
    let full = json!([{"reply": {"pull": "scan"}}]);
    let steps = json!([[{"error": -32802}], [{"error": -32801}], [{"error": -32800}], full]);
    let fake = Fake::new(&json!({"log": "log", "capabilities": pulling(), "on": {PULL: steps}}));
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Exact, vec![0]));
    let log = fake.log().await;
    assert_eq!(log.iter().filter(|message| message["method"] == PULL).count(), 4);
}

#[tokio::test]
async fn a_pull_that_fails_is_unavailable_with_the_reason() {
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": {PULL: [[{"error": -32603}], [{"reply": null}]]}}));
    for reason in ["-32603", "kind none"] {
        let report = fake.ask("bad\n", PATIENCE_MS).await;
        assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Unavailable, 0));
        assert!(report.note.is_some_and(|note| note.contains(reason)));
    }
}

#[tokio::test]
async fn where_pull_and_push_come_at_once_the_pull_is_the_answer() {
    let noise = json!({"publish": {"items": "old"}});
    let on = json!({OPEN: [push("same")], CHANGE: [noise], PULL: [{"reply": {"pull": "scan"}}, push("none")]});
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": on}));
    for (text, wanted) in [("bad\n", vec![0]), ("bad\nbad\n", vec![0, 1]), ("ok\n", vec![])] {
        let report = fake.ask(text, PATIENCE_MS).await;
        assert_eq!((report.freshness, lines(&report)), (Freshness::Exact, wanted));
    }
    assert!(fake.server.late().is_empty());
}

#[tokio::test]
async fn a_slow_pull_is_delivered_late_and_once() {
    let steps = json!([{"wait_for": "go"}, {"reply": {"pull": "scan"}}]);
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": {PULL: steps}, "log": "log"}));
    let report = fake.ask("bad\n", 1500).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Timeout, 0));
    // Asking again about the same text waits for the question that was asked already.
    assert_eq!(fake.ask("bad\n", 50).await.freshness, Freshness::Timeout);
    fake.go("go");
    let late = fake.late().await;
    assert_eq!((late.len(), late[0].freshness, lines(&late[0])), (1, Freshness::Exact, vec![0]));
    assert!(fake.server.late().is_empty());
    let log = fake.log().await;
    assert_eq!(log.iter().filter(|message| message["method"] == PULL).count(), 1);
}

#[tokio::test]
async fn the_answer_of_a_caller_who_went_away_is_late() {
    let steps = json!([push("none"), {"wait_for": "go"}, {"reply": {"pull": "scan"}}]);
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": {PULL: steps}}));
    let mut news = fake.server.news();
    // One for the start, one for the publish that tells of the question.
    let arrived = async { news.wait_for(|count| *count >= 2).await.map(|_| ()).expect("news") };
    tokio::select! {
        report = fake.ask("bad\n", PATIENCE_MS) => panic!("{report:?}"),
        () = arrived => {}
    }
    fake.go("go");
    let late = fake.late().await;
    assert_eq!((late.len(), lines(&late[0])), (1, vec![0]));
}

#[tokio::test]
async fn an_edit_cancels_the_slow_pull_of_the_text_before_and_its_answer_is_ignored() {
    let held = json!([{"wait_for": "go"}, {"reply": {"pull": [{"message": "stale"}]}}]);
    let steps = json!([held, [{"reply": {"pull": "scan"}}]]);
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": {PULL: steps}, "log": "log"}));
    assert_eq!(fake.ask("bad\n", 1500).await.freshness, Freshness::Timeout);
    let report = fake.ask("ok\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.version, lines(&report)), (Freshness::Exact, Some(2), vec![1]));
    fake.go("go");
    let again = fake.ask("ok\nbad\n", PATIENCE_MS).await;
    assert_eq!(lines(&again), [1]);
    assert!(fake.server.late().is_empty());
    assert!(fake.log().await.iter().any(|message| message["method"] == "$/cancelRequest"));
}

#[tokio::test]
async fn a_reply_for_the_text_before_is_not_used() {
    // The publish tells the test that the question has arrived.
    let held = json!([push("none"), {"wait_for": "go"}, {"reply": {"pull": "scan"}}]);
    let steps = json!([[{"reply": {"pull": "scan"}}], held, [{"reply": {"pull": "scan"}}]]);
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": {PULL: steps}}));
    fake.ask("ok\n", PATIENCE_MS).await;
    let mut news = fake.server.news();
    let (report, ()) = tokio::join!(fake.ask("bad\n", PATIENCE_MS), async {
        news.changed().await.expect("the question arrived");
        fake.server.sync(&[a("ok\nok\nbad\n")]);
        fake.go("go");
    });
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Timeout, 0));
    assert!(report.note.is_some_and(|note| note.contains("changed meanwhile")));
    let report = fake.ask("ok\nok\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.version, lines(&report)), (Freshness::Exact, Some(3), vec![2]));
    assert!(fake.server.late().is_empty());
}

#[tokio::test]
async fn a_reply_from_before_a_change_of_another_file_is_not_used() {
    let held = json!([push("none"), {"wait_for": "go"}, {"reply": {"pull": [{"message": "stale"}]}}]);
    let full = json!([{"reply": {"pull": "scan"}}]);
    let on = json!({PULL: [full, full, held, full]});
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": on}));
    let b = |text: &str| FileText { path: "b.py".into(), text: text.into() };
    fake.server.fetch(&[a("1\n"), b("1\n")], Deadline::after_ms(PATIENCE_MS)).await;
    let mut news = fake.server.news();
    let (report, ()) = tokio::join!(fake.ask("1\n", PATIENCE_MS), async {
        news.changed().await.expect("the question arrived");
        fake.server.sync(&[b("2\n")]);
        fake.go("go");
    });
    assert_eq!((report.freshness, report.version, report.note), (Freshness::Exact, Some(1), None));
    assert_eq!(report.diagnostics, []);
    assert_eq!(fake.server.reach(), Reach::Project);
}

#[tokio::test]
async fn a_question_that_another_caller_replaced_is_answered_with_his() {
    let held = json!([push("none"), {"wait_for": "never"}]);
    let full = json!([{"reply": {"pull": "scan"}}]);
    let fake = Fake::new(&json!({"capabilities": pulling(), "on": {PULL: [full, full, held, full]}}));
    let b = |text: &str| FileText { path: "b.py".into(), text: text.into() };
    let deadline = || Deadline::after_ms(PATIENCE_MS);
    fake.server.fetch(&[a("bad\n"), b("1\n")], deadline()).await;
    let mut news = fake.server.news();
    let (first, second) = tokio::join!(fake.ask("bad\n", PATIENCE_MS), async {
        news.changed().await.expect("the question arrived");
        fake.server.fetch(&[a("bad\n"), b("2\n")], deadline()).await
    });
    for report in [&first, &second[0]] {
        assert_eq!((report.freshness, report.version, lines(report)), (Freshness::Exact, Some(1), vec![0]));
    }
}

#[tokio::test]
async fn a_server_that_dies_is_started_again_with_its_files() {
    let log = json!({"log": "log", "on": {OPEN: [push("same")], CHANGE: [{"die": 3}]}});
    let fake = Fake::new(&log);
    assert_eq!(lines(&fake.ask("bad\n", PATIENCE_MS).await), [0]);
    let report = fake.ask("ok\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Unavailable, 0));
    assert!(report.note.as_deref().is_some_and(|note| note.contains("exit status: 3")), "{:?}", report.note);
    let report = fake.ask("ok\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.version, lines(&report)), (Freshness::Versioned, Some(2), vec![1]));
}

#[tokio::test]
async fn a_server_that_keeps_dying_is_given_up() {
    let fake = Fake::new(&json!({"on": {"initialize": [{"die": 1}]}}));
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Unavailable, 0));
    assert!(report.note.as_deref().is_some_and(|note| note.contains("4 times")), "{:?}", report.note);
    let again = fake.ask("bad\n", PATIENCE_MS).await;
    assert!(again.elapsed_ms < 1000, "known at once");
}

#[tokio::test]
async fn a_server_that_never_initializes_or_is_not_there_holds_nobody_up() {
    let fake = Fake::new(&json!({"on": {"initialize": []}}));
    let report = fake.ask("bad\n", 200).await;
    assert_eq!(report.freshness, Freshness::Timeout);
    assert!(report.note.is_some_and(|note| note.contains("still starting")) && report.elapsed_ms < 2000);
    let folder = tempfile::tempdir().expect("a folder");
    let config = ServerConfig { name: "x".into(), command: vec!["no-such-server".into()], ..ServerConfig::default() };
    let report = &LanguageServer::new(config, folder.path()).fetch(&[a("")], Deadline::after_ms(PATIENCE_MS)).await[0];
    assert_eq!(report.freshness, Freshness::Unavailable);
    assert!(report.note.as_deref().is_some_and(|note| note.contains("no-such-server cannot be started")));
}

#[tokio::test]
async fn noise_and_oversize_do_not_hide_the_answer() {
    let noise = json!([{"raw": "Traceback:\n  oops\n\nhalf a line "}, {"frame": "{not json"}, {"frame": "[]"},
        {"frame": "{\"id\": \"nobody\", \"result\": 1}"}, {"huge": 70_000_000}, push("same")]);
    let fake = Fake::new(&json!({"on": {OPEN: noise}}));
    let report = fake.ask("bad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Versioned, vec![0]));
}

#[tokio::test]
async fn an_unadvertised_pull_is_trusted_once_it_was_the_same_as_a_publish() {
    let on = json!({OPEN: [push("same")], CHANGE: [push("same")], PULL: [{"reply": {"pull": "scan"}}]});
    let fake = Fake::new(&json!({"on": on}));
    let mut news = fake.server.news();
    assert_eq!(fake.ask("bad\n", PATIENCE_MS).await.freshness, Freshness::Versioned);
    let mut text = "bad\n".to_owned();
    while fake.ask(&text, PATIENCE_MS).await.freshness != Freshness::Exact {
        assert!(text.len() < 400, "the probes come to an end");
        tokio::time::timeout(std::time::Duration::from_secs(10), news.changed()).await.expect("news").expect("news");
        text.push_str("bad\n");
    }
}

#[tokio::test]
async fn a_pull_that_hides_what_is_published_is_not_trusted_and_a_known_name_may_still_refuse() {
    let on = json!({OPEN: [push("same")], CHANGE: [push("same")], PULL: [{"reply": {"pull": []}}]});
    let fake = Fake::new(&json!({"on": on}));
    for count in 1..12 {
        let report = fake.ask(&"bad\n".repeat(count), PATIENCE_MS).await;
        assert_eq!((report.freshness, report.diagnostics.len()), (Freshness::Versioned, count));
    }
    let fake = Fake::new(&json!({"name": "pyrefly", "on": {OPEN: [push("same")]}}));
    assert_eq!(fake.ask("bad\n", PATIENCE_MS).await.freshness, Freshness::Versioned);
    let on = json!({OPEN: [], PULL: [{"reply": {"pull": "scan"}}]});
    let fake = Fake::new(&json!({"name": "basedpyright", "on": on}));
    assert_eq!(fake.ask("bad\n", PATIENCE_MS).await.freshness, Freshness::Exact);
}

#[tokio::test]
async fn tsserver_is_asked_by_command_and_clangd_for_two_publishes_when_the_preamble_changed() {
    let body = json!({"body": [{"start": {"line": 2, "offset": 1}, "end": {"line": 2, "offset": 2}, "text": "m"}]});
    let command = json!({"executeCommandProvider": {"commands": ["typescript.tsserverRequest"]}});
    let answers = json!([[{"reply": body}], [{"reply": {"body": []}}]]);
    let fake = Fake::new(&json!({"capabilities": command, "on": {"workspace/executeCommand": answers}}));
    let report = fake.ask("x\ny\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Exact, vec![1]));

    let stale = json!({"publish": {"items": "old"}});
    let changes = json!([[stale, push("same")], [push("same")]]);
    let fake = Fake::new(&json!({"name": "clangd", "on": {OPEN: [push("same")], CHANGE: changes}, "log": "log"}));
    assert_eq!(lines(&fake.ask("#include <set>\nbad\n", PATIENCE_MS).await), [1]);
    let report = fake.ask("#include <map>\n\nbad\n", PATIENCE_MS).await;
    assert_eq!((report.freshness, lines(&report)), (Freshness::Versioned, vec![2]));
    assert_eq!(lines(&fake.ask("#include <map>\nbad\n", PATIENCE_MS).await), [1], "one is enough");
    assert!(fake.log().await.iter().any(|message| message["method"] == "textDocument/documentSymbol"));
}

#[tokio::test]
async fn gopls_publishes_before_it_answers_its_command_and_an_equal_list_once() {
    let capabilities = json!({"executeCommandProvider": {"commands": ["gopls.diagnose_files"]}});
    let answer = json!({"reply": null});
    let error = json!({"notify": ["window/logMessage", {"type": 1, "message": "no packages"}]});
    let commands = json!([
        [push("same"), answer],
        [answer],
        [push("same"), answer],
        [push("same"), error, answer],
        [push("same"), {"error": -32603}],
        [answer],
        [push("same"), answer]
    ]);
    let on = json!({"workspace/executeCommand": commands});
    let fake = Fake::new(&json!({"capabilities": capabilities, "on": on}));
    let asked = [
        ("bad\n", Freshness::Exact, 0),
        ("bad\nthen\n", Freshness::Timeout, 0),
        ("ok\nbad\n", Freshness::Exact, 1),
        // This one is configured to publish once; another one's publish is a guess.
        ("bad\nok\n", Freshness::Versioned, 0),
        ("ok\n\nbad\n", Freshness::Versioned, 2),
        ("bad\nlast\n", Freshness::Timeout, 0),
        ("ok\nok\nok\nbad\n", Freshness::Exact, 3),
    ];
    for (text, freshness, line) in asked {
        let patience = if freshness == Freshness::Timeout { 600 } else { PATIENCE_MS };
        let report = fake.ask(text, patience).await;
        let expected = if freshness == Freshness::Timeout { vec![] } else { vec![line] };
        assert_eq!((report.freshness, lines(&report)), (freshness, expected), "{text:?}");
    }
}

#[tokio::test]
async fn lua_ls_publishes_before_its_pull_is_answered_and_an_equal_list_not_again() {
    let clean = json!({"publish": {"version": "none", "items": []}});
    let changes = json!([[push("same")], [], [clean], [push("same")]]);
    let on = json!({CHANGE: changes, PULL: [{"reply": {"kind": "unchanged", "resultId": "x"}}]});
    let script = |name: &str| json!({"name": name, "capabilities": pulling(), "on": on});
    let fake = Fake::new(&script("sumneko.lua"));
    let asked =
        [("ok\n", vec![]), ("bad\n", vec![0]), ("bad\nmore\n", vec![0]), ("ok\n", vec![]), ("\nbad\n", vec![1])];
    for (text, found) in asked {
        let report = fake.ask(text, PATIENCE_MS).await;
        assert_eq!((report.freshness, lines(&report)), (Freshness::Exact, found), "{text:?}");
    }
    let other = Fake::new(&script("other"));
    assert_eq!(other.ask("bad\n", PATIENCE_MS).await.freshness, Freshness::Unavailable, "a list was asked for");
}

/// The severities that a server of this name and these settings is taken to publish, by its answers to the command.
async fn style_severities(name: &str, settings: Value) -> Vec<Severity> {
    let item = |code: u64, category: &str| {
        let (start, end) = (json!({"line": 1, "offset": 1}), json!({"line": 1, "offset": 2}));
        json!({"start": start, "end": end, "text": format!("{category} {code}"), "code": code, "category": category})
    };
    let items = [item(6133, "error"), item(6133, "suggestion"), item(6198, "error"), item(7027, "error")];
    let answers = json!([[{"reply": {"body": items}}], [{"reply": {"body": []}}]]);
    let command = json!({"executeCommandProvider": {"commands": ["typescript.tsserverRequest"]}});
    let script = json!({"name": name, "capabilities": command, "on": {"workspace/executeCommand": answers}});
    let folder = tempfile::tempdir().expect("a folder");
    let config = ServerConfig { settings, ..fake_config(folder.path(), &script) };
    let fake = Fake { server: LanguageServer::new(config, folder.path()), folder };
    let report = fake.ask("x\n", PATIENCE_MS).await;
    assert_eq!(report.freshness, Freshness::Exact);
    let of = |text: &str| report.diagnostics.iter().find(|item| item.message == text).expect("it is there").severity;
    ["error 6133", "suggestion 6133", "error 6198", "error 7027"].map(of).to_vec()
}

#[tokio::test]
async fn an_answer_by_command_has_the_severities_that_the_server_publishes() {
    use Severity::{Error, Hint, Warning};
    let softened = [Warning, Hint, Error, Warning];
    assert_eq!(style_severities("vtsls", Value::Null).await, softened);
    let off = json!({"typescript": {"reportStyleChecksAsWarnings": false}});
    let plain = [Error, Hint, Error, Error];
    assert_eq!(style_severities("vtsls", off).await, plain, "its user wants errors");
    assert_eq!(style_severities("typescript-language-server", Value::Null).await, plain);
}

#[tokio::test]
async fn columns_are_counted_again_where_the_server_counts_bytes() {
    let mut capabilities = pulling();
    capabilities["positionEncoding"] = json!("utf-8");
    let fake = Fake::new(&json!({"capabilities": capabilities, "on": {PULL: [{"reply": {"pull": "scan"}}]}}));
    let report = fake.ask("😀 ä bad\n", PATIENCE_MS).await;
    let at = |character| Position { line: 0, character };
    assert_eq!(report.diagnostics[0].location.range(), Some(Range { start: at(5), end: at(8) }));
}

#[tokio::test]
async fn a_servers_questions_are_answered_and_an_unasked_edit_refused() {
    let asks = json!([
        {"ask": ["workspace/configuration", {"items": [{"section": "fake"}, {"section": "none"}]}]},
        {"ask": ["workspace/applyEdit", {"edit": {"changes": {}}}]},
        {"ask": ["workspace/diagnostic/refresh", null]},
        {"ask": ["window/showDocument", {"uri": "file:///x"}]},
        push("same")]);
    let fake = Fake::new(&json!({"log": "log", "on": {OPEN: asks}}));
    fake.ask("bad\n", PATIENCE_MS).await;
    let log = fake.log().await;
    let answer = |id: u64| log.iter().find(|m| m["id"] == id && m.get("method").is_none()).expect("an answer");
    assert_eq!(answer(1)["result"], json!([{"level": 3}, null]));
    assert_eq!(answer(2)["result"]["applied"], false);
    assert_eq!(answer(3)["result"], Value::Null);
    assert_eq!(answer(4)["error"]["code"], -32601);
}

#[tokio::test]
async fn the_edit_of_a_command_is_captured_and_not_applied() {
    let edit = json!({"changes": {"file:///x/a.py": []}});
    let capabilities = json!({"codeActionProvider": true, "executeCommandProvider": {"commands": ["fix"]}});
    let actions = json!([
        {"title": "Fix it", "kind": "quickfix", "command": {"title": "f", "command": "fix", "arguments": [1]}},
        {"title": "Bare", "command": "fix"},
        {"title": "For an extension", "kind": "quickfix", "command": {"title": "x", "command": "other"}},
        {"title": "Disabled", "kind": "quickfix", "disabled": {"reason": "no"}, "edit": edit},
        {"title": "Refactor", "kind": "refactor", "edit": edit}]);
    let on = json!({OPEN: [push("same")], "textDocument/codeAction": [{"reply": actions}],
        "workspace/executeCommand": [{"ask": ["workspace/applyEdit", {"edit": edit}]}, {"reply": null}]});
    let fake = Fake::new(&json!({"log": "log", "capabilities": capabilities, "on": on}));
    let deadline = Deadline::after_ms(PATIENCE_MS);
    let range = Range { start: Position { line: 0, character: 0 }, end: Position { line: 0, character: 3 } };
    let offers =
        fake.server.offers(&a("bad\n"), Some(range), AnswerWait { deadline, waits: false }).await.expect("offers");
    assert_eq!(offers.iter().map(|offer| offer.title.as_str()).collect::<Vec<_>>(), ["Fix it", "Bare"]);
    assert_eq!(fake.server.edits(&offers[0], deadline).await, Ok(vec![edit.clone()]));
    assert_eq!(fake.server.edits(&offers[1], deadline).await, Ok(vec![edit]));
    fake.server.sync(&[a("other\n")]);
    assert!(fake.server.edits(&offers[0], deadline).await.is_err(), "outdated");
    let log = fake.log().await;
    let asked = log.iter().find(|message| message["method"] == "textDocument/codeAction").expect("asked");
    assert_eq!(asked["params"]["context"]["diagnostics"][0]["code"], "bad", "the diagnostics as they were sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_at_once_about_different_texts_gets_no_answer_for_another_one() {
    for on in [json!({PULL: [{"reply": {"pull": "scan"}}]}), json!({OPEN: [push("same")], CHANGE: [push("same")]})] {
        let capabilities = if on.get(PULL).is_some() { pulling() } else { json!({}) };
        let fake = std::sync::Arc::new(Fake::new(&json!({"capabilities": capabilities, "on": on})));
        assert!(fake.ask("ok\n", PATIENCE_MS).await.freshness.is_fresh());
        let asking = (1..=4usize).map(|asker| {
            let fake = std::sync::Arc::clone(&fake);
            tokio::spawn(async move {
                let mut fresh = 0;
                for round in 0..50usize {
                    let above = (asker * 7 + round * 3) % 11;
                    let text = format!("{}bad\n", "ok\n".repeat(above));
                    let report = fake.ask(&text, PATIENCE_MS).await;
                    if report.freshness.is_fresh() {
                        fresh += 1;
                        assert_eq!(lines(&report), [u32::try_from(above).expect("small")]);
                    } else {
                        assert_eq!(report.diagnostics, []);
                    }
                    // The pace of the askers, so that some questions cross and some do not.
                    tokio::time::sleep(std::time::Duration::from_millis((asker * round) as u64 % 17)).await;
                }
                fresh
            })
        });
        let fresh: Vec<usize> =
            futures::future::join_all(asking).await.into_iter().map(|asked| asked.expect("no wrong answer")).collect();
        assert!(fresh.iter().sum::<usize>() > 0, "{fresh:?}");
        println!("fresh answers of 50 each: {fresh:?}");
    }
}

/// A scripted server under another name, with pulls.
fn named(name: &str, on: &Value) -> Value {
    json!({"name": name, "log": "log", "capabilities": pulling(), "on": on})
}

/// What two sources of one server say of `a.py`, whose text is written first.
async fn halves(fake: &Fake, text: &str, ms: u64) -> Vec<(String, Freshness, Vec<u32>, String)> {
    let file = fake.folder.path().join("a.py");
    if std::fs::read_to_string(&file).ok().as_deref() != Some(text) {
        std::fs::write(&file, text).expect("a file");
    }
    let reports = fake.server.fetch(&[a(text)], Deadline::after_ms(ms)).await;
    let of = |report: &sextant::diagnostics::model::Report| {
        (report.provider.clone(), report.freshness, lines(report), report.note.clone().unwrap_or_default())
    };
    reports.iter().map(of).collect()
}

#[tokio::test]
async fn what_rust_analyzer_says_while_it_loads_is_no_answer_and_its_compiler_is_known_after_a_run() {
    let empty = json!([{"reply": {"kind": "full", "items": []}}]);
    let scan = json!({"publish": {"version": "same", "items": "scan"}});
    let on = json!({
        OPEN: [loaded(false), {"wait_for": "go"}, loaded(true)],
        CHANGE: [loaded(false), loaded(true)],
        PULL: [empty, [{"reply": {"pull": "scan"}}]],
        "rust-analyzer/runFlycheck": [[compiler_run("begin"), compiler_run("report"), compiler_run("end")], [compiler_run("begin"), compiler_run("end")]],
        "textDocument/didSave": [
            [compiler_run("begin"), compiler_run("report"), {"wait_for": "compiled"}, compiler_run("end"), scan],
            [compiler_run("begin"), compiler_run("end")],
        ],
    });
    let fake = Fake::new(&named("rust-analyzer", &on));
    // On a busy machine the server itself takes a while to start.
    let mut early = Vec::new();
    while early.len() < 2 {
        early = halves(&fake, "bad\n", 700).await;
    }
    let not_run = "cargo check has not run on this text".to_owned();
    let native = |freshness, lines| ("lsp:fake".to_owned(), freshness, lines, String::new());
    let check = |freshness, lines: &[u32], note: &str| {
        ("lsp:fake/check".to_owned(), freshness, lines.to_vec(), note.to_owned())
    };
    assert_eq!(early[0].1, Freshness::Timeout);
    assert_eq!(early[1], check(Freshness::Timeout, &[], &not_run));
    fake.go("go");
    fake.late().await;

    // A run is asked for where the server starts none.
    let settled = halves(&fake, "bad\n", PATIENCE_MS).await;
    assert_eq!(settled, [native(Freshness::Exact, vec![0]), check(Freshness::Versioned, &[], "")]);

    // The run after the save goes on when the time is over; what comes behind its end counts.
    fake.server.sync(&[a("ok\nbad\n")]);
    std::fs::write(fake.folder.path().join("a.py"), "ok\nbad\n").expect("a file");
    fake.server.saved("a.py");
    let early = halves(&fake, "ok\nbad\n", 700).await;
    assert_eq!(early, [native(Freshness::Exact, vec![1]), check(Freshness::Timeout, &[], &not_run)]);
    fake.go("compiled");
    assert_eq!(
        fake.late().await.iter().map(|report| (report.provider.as_str(), lines(report))).collect::<Vec<_>>(),
        [("lsp:fake/check", vec![1])]
    );
    let settled = halves(&fake, "ok\nbad\n", PATIENCE_MS).await;
    assert_eq!(settled[1], check(Freshness::Versioned, &[1], ""));

    // A run without a word has checked nothing, and no run reads a text that is not saved.
    fake.server.saved("a.py");
    let settled = halves(&fake, "ok\nbad\n", PATIENCE_MS).await;
    assert_eq!(settled[1], check(Freshness::Unavailable, &[], "cargo check ended without a report"));
    let unsaved = fake.server.fetch(&[a("x\n")], Deadline::after_ms(PATIENCE_MS)).await;
    assert_eq!(
        (unsaved[1].freshness, unsaved[1].note.as_deref()),
        (Freshness::Unavailable, Some("it checks saved files only, and this one is not saved"))
    );
    let log = fake.log().await;
    assert_eq!(log[0]["params"]["capabilities"]["experimental"]["serverStatusNotification"], true);
    assert_eq!(log.iter().filter(|message| message["method"] == "rust-analyzer/runFlycheck").count(), 2, "{log:?}");
}

#[tokio::test]
async fn a_run_of_the_compiler_is_asked_for_when_an_older_one_has_ended() {
    let on = json!({
        OPEN: [loaded(true), compiler_run("begin"), {"wait_for": "old"}, compiler_run("report"), compiler_run("end")],
        PULL: [{"reply": {"pull": "scan"}}],
        "rust-analyzer/runFlycheck": [compiler_run("begin"), compiler_run("report"), compiler_run("end")],
    });
    let fake = Fake::new(&named("rust-analyzer", &on));
    let mut early = Vec::new();
    while early.len() < 2 {
        early = halves(&fake, "ok\n", 700).await;
    }
    // The server starts no run after a save.
    fake.server.sync(&[a("fine\n")]);
    std::fs::write(fake.folder.path().join("a.py"), "fine\n").expect("a file");
    fake.server.saved("a.py");
    assert_eq!(halves(&fake, "fine\n", 1_000).await[1].1, Freshness::Timeout);
    fake.go("old");
    let late = loop {
        let late = fake.late().await;
        if let Some(check) = late.into_iter().find(|report| report.provider == "lsp:fake/check") {
            break check;
        }
    };
    assert_eq!((late.freshness, lines(&late)), (Freshness::Versioned, vec![]));
}

#[tokio::test]
async fn what_a_run_of_the_compiler_changes_in_a_file_that_nobody_asked_about_is_reported() {
    let publish = |file: &str, items: &Value| json!({"publish": {"file": file, "version": "none", "items": items}});
    let closed = |items: &Value| publish("b.py", items);
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let unused = json!([{"range": place, "severity": 2, "message": "never used"}]);
    let on = json!({
        OPEN: [loaded(true)],
        PULL: [{"reply": {"pull": "scan"}}],
        "rust-analyzer/runFlycheck": [compiler_run("begin"), compiler_run("report"), compiler_run("end")],
        "textDocument/didSave": [
            [compiler_run("begin"), compiler_run("report"), closed(&unused), publish("../out.py", &unused), compiler_run("end")],
            [compiler_run("begin"), compiler_run("report"), {"wait_for": "compiled"}, closed(&json!([])), compiler_run("end")],
        ],
    });
    let fake = Fake::new(&named("rust-analyzer", &on));
    std::fs::write(fake.folder.path().join("b.py"), "x\n").expect("a file");
    let write = |text: &str| {
        fake.server.sync(&[a(text)]);
        std::fs::write(fake.folder.path().join("a.py"), text).expect("a file");
        fake.server.saved("a.py");
    };
    let unasked = |reports: &[sextant::diagnostics::model::Report]| {
        let of = |report: &sextant::diagnostics::model::Report| {
            Some((report.file.clone(), report.unasked.as_ref()?.earlier.as_ref()?.len(), report.diagnostics.len()))
        };
        reports.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(halves(&fake, "ok\n", PATIENCE_MS).await.len(), 2, "nothing to compare with");
    write("one\n");
    let reports = fake.server.fetch(&[a("one\n")], Deadline::after_ms(PATIENCE_MS)).await;
    assert_eq!(unasked(&reports), [("b.py".to_owned(), 0, 1)]);
    let outside = reports.iter().find(|report| report.file.ends_with("/out.py")).expect("a report");
    let note = outside.note.as_deref().unwrap_or_default();
    assert_eq!(outside.freshness, Freshness::Unavailable);
    assert!(note.contains("outside of this workspace") && note.contains("never used"), "{note}");
    // The news of a run that ends after the deadline comes with its answer.
    write("two\n");
    let reports = fake.server.fetch(&[a("two\n")], Deadline::after_ms(300)).await;
    assert_eq!(unasked(&reports), []);
    fake.go("compiled");
    assert_eq!(unasked(&fake.late().await), [("b.py".to_owned(), 1, 0)]);
}

#[tokio::test]
async fn an_empty_pull_of_eslint_says_nothing_where_it_could_not_check() {
    let empty = json!({"reply": {"kind": "full", "items": []}});
    let logged = json!({"notify": ["window/logMessage", {"type": 1, "message": "Failed to load the config"}]});
    let well = json!({"notify": ["eslint/status", {"state": 1}]});
    let pulls = json!([
        [{"ask": ["eslint/noLibrary", {"source": {}}]}, empty],
        [empty],
        [well, empty],
        [logged, empty],
        [empty],
        [{"notify": ["eslint/status", {"state": 3}]}, empty],
        [{"reply": {"pull": "scan"}}],
        [empty],
    ]);
    let fake = Fake::new(&named("eslint", &json!({PULL: pulls})));
    let mut said = Vec::new();
    for n in 0..8 {
        let report = fake.ask(&format!("bad {n}\n"), PATIENCE_MS).await;
        said.push((report.freshness, report.note.unwrap_or_default()));
    }
    let fresh: Vec<bool> = said.iter().map(|(freshness, _)| *freshness == Freshness::Exact).collect();
    assert_eq!(fresh, [false, false, true, false, true, false, true, true], "{said:?}");
    assert!(said[0].1.contains("eslint/noLibrary") && said[3].1.contains("Failed to load the config"), "{said:?}");
    assert!(said[5].1.contains("could not check"), "{said:?}");
    let other = Fake::new(&named("other", &json!({PULL: [logged, empty]})));
    assert_eq!(other.ask("bad\n", PATIENCE_MS).await.freshness, Freshness::Exact, "others log what they like");
}

#[tokio::test]
async fn who_reports_on_the_whole_workspace_looks_at_other_files_whatever_it_declares() {
    for (whole, reach) in [(false, Reach::File), (true, Reach::Project)] {
        let provider = json!({"interFileDependencies": false, "workspaceDiagnostics": whole});
        let on = json!({PULL: [{"reply": {"pull": "scan"}}]});
        let fake = Fake::new(&json!({"capabilities": {"diagnosticProvider": provider}, "on": on}));
        fake.ask("bad\n", PATIENCE_MS).await;
        assert_eq!(fake.server.reach(), reach, "workspaceDiagnostics: {whole}");
    }
}
