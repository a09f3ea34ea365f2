//! A large open file beside the edits of others: it is asked about where an edit reaches it, and its name says so where
//! none does.

use serde_json::{Value, json};
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::engine::OutsideClient;
use tokio_util::sync::CancellationToken;

use crate::support::engine::{Setup, TestEngine};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::fake_config;

const A: &str = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";

async fn call(engine: &TestEngine, tool: &str, given: Value) -> String {
    let client = OutsideClient::new("1".to_owned(), "codex");
    engine.session.call(&client, tool, given, None, &CancellationToken::new()).await.expect("an answer").text
}

/// The server publishes nothing again about a file that was not changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_asked_about_only_with_an_edit_that_reaches_it() {
    let big = format!("import a\n\nx = a.g()\n{}", "# A line.\n".repeat(20_000));
    let small = "import a\n\ny = a.g()\n";
    let project = Project::new(&[("a.py", A), ("big.py", &big), ("small.py", small)]);
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let script = json!({"on": {"textDocument/didOpen": [publish], "textDocument/didChange": [publish]}});
    let server = ServerConfig { languages: vec!["python".to_owned()], ..fake_config(&project.beside("fake"), &script) };
    let config = json!({"diagnostics": {"timeout_ms": 500, "start_timeout_ms": 3_000}});
    let engine = TestEngine::new(&project, Setup { config, servers: vec![server], ..Setup::default() });
    call(&engine, "read_file", json!({"path": "big.py"})).await;
    for (old, new) in [("return 1", "return 3"), ("return 3", "return 4")] {
        let told = call(&engine, "edit_file", change("a.py", old, new)).await;
        assert!(told.contains("diagnostics: 0 new") && told.contains("nothing that changed: big.py"), "{told}");
    }
    call(&engine, "read_file", json!({"path": "small.py"})).await;
    let told = call(&engine, "edit_file", change("a.py", "return 4", "return 5")).await;
    assert!(told.contains("fake (small.py)") && !told.contains("fake (big.py)"), "{told}");
    let told = call(&engine, "edit_file", change("a.py", "def g() -> int", "def g() -> str")).await;
    assert!(told.contains("fake (big.py)") && !told.contains("nothing that changed"), "{told}");
}
