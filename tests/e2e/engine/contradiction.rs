//! A server that says what the text contradicts: believed less, not acted upon, and the trace says why.

use serde_json::{Value, json};
use sextant::engine::Request;

use crate::support::engine::{Setup, TestEngine};
use crate::support::project::Project;
use crate::support::servers::fake_config;

const TEXT: &str = "import os\n\n\ndef f() -> str:\n    return os.sep\n";

/// A server that calls the import unused, whatever the text is, and offers to remove it.
fn script() -> Value {
    let place =
        |from: u32, to: u32| json!({"start": {"line": 0, "character": from}, "end": {"line": 0, "character": to}});
    let item = json!({"range": place(7, 9), "severity": 2, "code": "F401", "message": "`os` imported but unused"});
    let publish = json!({"publish": {"items": [item]}});
    let fix = json!({"title": "Remove unused import", "kind": "quickfix", "diagnostics": [item],
        "edit": {"documentChanges": []}, "isPreferred": true});
    json!({
        "capabilities": {"codeActionProvider": {"codeActionKinds": ["quickfix"]}},
        "on": {"textDocument/didOpen": [publish], "textDocument/didChange": [publish],
            "textDocument/codeAction": [{"reply": [fix]}]},
    })
}

async fn asked(text: &str) -> (Value, String) {
    let project = Project::new(&[("a.py", text)]);
    let setup = Setup { servers: vec![fake_config(&project.beside("fake"), &script())], ..Setup::default() };
    let engine = TestEngine::new(&project, setup);
    let request = Request { text: "tidy it up".into(), path: Some("a.py".into()), ..Request::default() };
    let outcome = engine.ask_about(&request).await;
    assert!(outcome["failed"].is_null(), "{outcome}");
    let input = engine.model.asked.lock().unwrap()[0].clone();
    (serde_json::to_value(input.context.reports).expect("data"), engine.trace())
}

#[tokio::test]
async fn what_the_text_contradicts_is_believed_less_and_the_trace_says_why() {
    let (input, trace) = asked(TEXT).await;
    assert_eq!(input["diagnostics"][0]["confidence"], "low", "{input}");
    assert_eq!(input["fixes"], json!([]), "nothing is offered for it without a word");
    assert!(trace.contains("used_import_lowers") && trace.contains("line 5 uses `os`"), "{trace}");
    assert!(trace.contains("contradiction_asks"), "{trace}");
    let suggested = "ask before changing it: The text as it is now speaks against it";
    assert_eq!(input["diagnostics"][0]["suggested_action"], suggested, "{input}");
}

#[tokio::test]
async fn what_nothing_contradicts_is_left_as_it_is() {
    let (input, trace) = asked("import os\n\n\ndef f(os: str) -> str:\n    return os\n").await;
    assert_eq!(input["diagnostics"][0]["confidence"], "medium", "{input}");
    assert_eq!(input["fixes"].as_array().map(Vec::len), Some(1), "{input}");
    assert!(!trace.contains("used_import_lowers"), "{trace}");
    assert_eq!(input["diagnostics"][0]["suggested_action"], "Remove unused import", "{input}");
    assert!(trace.contains("Suggested: Remove unused import."), "{trace}");
}
