//! What an edit changes in files that nobody asked about, by a compiler that reads the whole project.

use std::collections::BTreeSet;

use serde_json::json;

use super::{configure, language_tools, replace};
use crate::closed::shapes::reported;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::tool;

/// `make` has one caller, and is the only one to call `chain::helper`.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/main.rs", "mod chain;\nmod items;\n\nfn main() {\n    println!(\"{}\", items::make());\n}\n"),
    ("src/items.rs", "pub fn make() -> u32 {\n    crate::chain::helper() + 1\n}\n"),
    ("src/chain.rs", "pub fn helper() -> u32 {\n    1\n}\n"),
];
const CALL: &str = "items::make()";

fn unused(files: &[&str]) -> BTreeSet<(String, String)> {
    files.iter().map(|file| ((*file).to_owned(), "dead_code".to_owned())).collect()
}

async fn client(project: &Project, command: &str) -> McpClient {
    configure(project, &format!("commands = [{command:?}]\n"));
    McpClient::open(project, "codex", &["--timeout-ms", "120000"]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_use_of_a_function_is_missed_in_the_closed_files_of_all_that_is_unused_now() {
    for (command, program) in [("cargo", "cargo"), ("clippy", "cargo-clippy")] {
        tool(program);
        the_last_use_is_missed(command).await;
    }
}

async fn the_last_use_is_missed(command: &str) {
    let project = Project::new(FILES);
    let mut client = client(&project, command).await;
    let answer = client.edit("edit_file", replace("src/main.rs", CALL, "1")).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
    assert_eq!(reported(&answer), unused(&["src/chain.rs", "src/items.rs"]), "{answer}");

    let masking = client.edit("edit_file", replace("src/main.rs", "\"{}\", 1", "\"{}\", nothing")).await;
    let error = BTreeSet::from([(String::new(), "E0425".to_owned())]);
    assert_eq!((reported(&masking), &masking["fixed"]), (error, &json!(0)), "an error hides warnings: {masking}");

    let back = client.edit("edit_file", replace("src/main.rs", "nothing", CALL)).await;
    assert_eq!((reported(&back), back["diagnostics_status"].as_str()), (BTreeSet::new(), Some("complete")), "{back}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_in_a_file_that_others_have_changed_is_known_before_the_edit() {
    tool("cargo");
    let project = Project::new(FILES);
    let mut client = client(&project, "cargo").await;
    client.edit("edit_file", replace("src/main.rs", "fn main() {\n", "fn main() {\n    println!();\n")).await;
    project.write("src/chain.rs", "pub fn helper() -> u32 {\n    1\n}\n\npub fn another() {}\n");
    let answer = client.edit("edit_file", replace("src/main.rs", "    println!();\n", "")).await;
    let known = (reported(&answer), answer["diagnostics_status"].as_str(), answer["unchanged"].as_u64());
    assert_eq!(known, (BTreeSet::new(), Some("complete"), Some(1)), "{answer}");
    assert!(client.end().await.success());
}

/// The scripts import nothing. The last one names only what the second one infers.
#[tokio::test(flavor = "multi_thread")]
async fn a_global_of_typescript_is_missed_in_a_script_that_imports_nothing() {
    let project = Project::new(&[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}, \"include\": [\"src\"]}\n"),
        ("src/globals.d.ts", "declare const shop: { total: number };\n"),
        ("src/price.ts", "const price = shop.total;\n"),
        ("src/shown.ts", "const shown: number = price;\n"),
    ]);
    let programs = project.beside("programs");
    let tsc = language_tools("vtsls").join("../node_modules/.bin/tsc");
    std::os::unix::fs::symlink(tsc, programs.join("tsc")).expect("a link");
    configure(&project, "commands = [\"tsc\"]\n");
    let options = ["--servers", &programs.display().to_string(), "--timeout-ms", "120000"];
    let mut client = McpClient::open(&project, "codex", &options).await;
    let answer = client.edit("edit_file", replace("src/globals.d.ts", "total: number", "total: string")).await;
    assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
    let missed = BTreeSet::from([("src/shown.ts".to_owned(), "2322".to_owned())]);
    assert_eq!(reported(&answer), missed, "{answer}");
    assert!(client.end().await.success());
}
