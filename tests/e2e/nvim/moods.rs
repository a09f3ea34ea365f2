//! What a server tells of itself beside its diagnostics, attached in Neovim: loaded, or not able to check.

use serde_json::{Value, json};

use crate::nvim::servers::{Entry, Faked, OPEN, PULL, pulling};
use crate::support::servers::PATIENCE_MS;

fn script(on: &Value) -> Value {
    json!({"capabilities": pulling(), "on": on})
}

fn empty() -> Value {
    json!({"reply": {"kind": "full", "items": []}})
}

/// The server's own word on `path`, and what is said of its compiler.
async fn halves(fake: &mut Faked, ms: u64) -> (Entry, Entry) {
    fake.begin(ms, &[("a.py", false)]).await;
    let mut entries = fake.entries().await;
    assert_eq!(entries.len(), 2, "{entries:?}");
    let check = entries.remove(1);
    assert_eq!(check.0["client"], "rust_analyzer/check");
    (entries.remove(0), check)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rust_analyzer_says_while_it_loads_is_no_answer_and_its_compiler_is_never_known() {
    let status = |yes: bool| json!({"notify": ["experimental/serverStatus", {"health": "ok", "quiescent": yes}]});
    let progress = |kind: &str| json!({"notify": ["$/progress", {"token": "rust-analyzer/flycheck/0", "value": {"kind": kind, "title": "t"}}]});
    for (before, after) in
        [(json!([status(false), progress("end")]), status(true)), (json!([progress("begin")]), progress("end"))]
    {
        let mut open = before.as_array().expect("steps").clone();
        open.extend([json!({"wait_for": "go"}), after]);
        // Neovim asks by itself as soon as the file is open, and is told half of it.
        let on = json!({OPEN: open, PULL: [[empty()], [{"reply": {"pull": "scan"}}]]});
        let mut fake = Faked::start("rust_analyzer", &script(&on), "ok\nbad\n").await;
        let (native, check) = halves(&mut fake, 300).await;
        assert_eq!(native.said(), ("timeout", vec![]));
        assert!(native.note().contains("has not said that it has loaded"), "{native:?}");
        assert_eq!(check.said(), ("unavailable", vec![]));
        assert!(check.note().contains("cargo check has not run"), "{check:?}");
        fake.go("go");
        assert_eq!(fake.late().await.said(), ("exact", vec![1]));
        assert_eq!(halves(&mut fake, PATIENCE_MS).await.0.said(), ("exact", vec![1]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_pull_of_eslint_says_nothing_where_it_could_not_check() {
    let logged = json!({"notify": ["window/logMessage", {"type": 1, "message": "Failed to load the config\0at x\ny"}]});
    let status = |state: u8| json!({"notify": ["eslint/status", {"state": state}]});
    let pulls = json!([
        [{"ask": ["eslint/noLibrary", {"source": {}}]}, empty()],
        [empty()],
        [status(1), empty()],
        [logged, empty()],
        [empty()],
        [status(3), empty()],
        [{"reply": {"pull": "scan"}}],
        [empty()],
    ]);
    // In a hidden file, where nobody but us asks.
    let log = |name: &str, on: &Value| (name.to_owned(), json!({"log": "log", "capabilities": pulling(), "on": on}));
    let (name, script) = log("eslint", &json!({PULL: pulls}));
    let mut fake = Faked::hidden(&name, &script).await;
    let mut said = Vec::new();
    for _ in 0..8 {
        let entry = fake.ask_hidden().await;
        said.push((entry.said().0 == "exact", entry.note().to_owned()));
    }
    let fresh: Vec<bool> = said.iter().map(|(fresh, _)| *fresh).collect();
    assert_eq!(fresh, [false, false, true, false, true, false, true, true], "{said:?}");
    assert!(said[0].1.contains("eslint/noLibrary"), "{said:?}");
    assert!(said[3].1.ends_with("Failed to load the config"), "{said:?}");
    assert!(said[5].1.contains("could not check"), "{said:?}");
    let refused = fake.log().into_iter().find(|message| message["id"] == 1 && message["error"]["code"] == -32601);
    assert!(refused.is_some(), "who asks what nobody handles is answered as ever");
    let (name, script) = log("other", &json!({PULL: [logged, empty()]}));
    let mut fake = Faked::hidden(&name, &script).await;
    assert_eq!(fake.ask_hidden().await.said().0, "exact", "others log what they like");
}
