//! Modules of Rust in files that their declaration names: in the answer of cargo they are files like any other.

use serde_json::json;

use super::configure;
use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;

#[tokio::test(flavor = "multi_thread")]
async fn a_module_beside_the_folder_of_the_sources_is_answered_for() {
    let project = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "#[path = \"../shared.rs\"]\nmod shared;\npub fn two() -> u32 {\n    shared::one() + 1\n}\n"),
        ("shared.rs", "pub fn one() -> u32 {\n    1\n}\n"),
    ]);
    configure(&project, "commands = [\"cargo\"]\n");
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "60000"]).await;
    let sound = client.edit("edit_file", replace("shared.rs", "    1\n", "    3\n")).await;
    assert_eq!((&sound["diagnostics_status"], &sound["new_diagnostics"]), (&json!("complete"), &json!([])), "{sound}");
    let broken = client.edit("edit_file", replace("shared.rs", "    3\n", "    \"a\"\n")).await;
    assert_eq!(broken["new_diagnostics"][0]["code"], "E0308", "{broken}");
    assert!(client.end().await.success());
}
