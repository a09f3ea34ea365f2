//! An edit of a crate that does not parse, or has an error elsewhere: what the compiler has not checked is named.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::closed::shapes::reported;
use crate::languages::configure;
use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::tool;

const A: &str = "pub fn f(x: i32) -> i32 {\n    x\n}\n";
const B: &str = "pub fn g() -> i32 {\n    crate::a::f(1)\n}\n";

fn project(b: &str) -> Project {
    Project::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub mod a;\npub mod b;\n"),
        ("src/a.rs", A),
        ("src/b.rs", b),
    ])
}

async fn client(project: &Project) -> McpClient {
    tool("cargo");
    configure(project, "commands = [\"cargo\"]\n");
    McpClient::open(project, "codex", &["--timeout-ms", "120000"]).await
}

/// The status, the places and codes of what is new, and the reasons for what is not known.
fn found(answer: &Value) -> (String, BTreeSet<(String, String)>, String) {
    let status = answer["diagnostics_status"].as_str().unwrap_or_default().to_owned();
    (status, reported(answer), answer["pending"].to_string())
}

fn codes(codes: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    codes.iter().map(|(file, code)| ((*file).to_owned(), (*code).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crate_that_did_not_parse_before_the_first_edit_is_not_checked() {
    let project = project(&B.replace("{\n", "{{\n"));
    let mut client = client(&project).await;
    let (status, new, pending) = found(&client.edit("edit_file", replace("src/a.rs", "x: i32", "x: &i32")).await);
    assert_eq!((status.as_str(), new), ("partial", codes(&[])), "{pending}");
    assert!(
        pending.contains("tool:cargo (src/a.rs and 1 other, all but the syntax: it stopped at src/b.rs:"),
        "{pending}"
    );
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_behind_broken_syntax_is_judged_with_the_repair() {
    let project = project(B);
    let mut client = client(&project).await;
    let (status, _, pending) = found(&client.edit("edit_file", replace("src/b.rs", "{\n", "{{\n")).await);
    assert_eq!(status, "complete", "the error is in the answer: {pending}");
    let (status, _, pending) = found(&client.edit("edit_file", replace("src/a.rs", "x: i32", "x: &i32")).await);
    assert_eq!(status, "partial", "{pending}");
    assert!(pending.contains("it stopped at src/b.rs:"), "{pending}");
    let (status, new, pending) = found(&client.edit("edit_file", replace("src/b.rs", "{{\n", "{\n")).await);
    let expected = codes(&[("", "E0308"), ("src/a.rs", "E0308")]);
    assert_eq!((status.as_str(), new), ("complete", expected), "{pending}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_names_elsewhere_hides_lints_and_no_types() {
    let project = project(&B.replace("crate::a::f(1)", "crate::a::missing(1)"));
    let mut client = client(&project).await;
    client.edit("edit_file", replace("src/b.rs", "missing(1)", "missing(2)")).await;
    let (status, new, pending) = found(&client.edit("edit_file", replace("src/a.rs", "x: i32", "x: &i32")).await);
    assert_eq!((status.as_str(), new), ("partial", codes(&[("", "E0308")])), "{pending}");
    assert!(pending.contains("lints: the error at src/b.rs:2 hides some"), "{pending}");
    assert!(!pending.contains("syntax"), "{pending}");
    assert!(client.end().await.success());
}
