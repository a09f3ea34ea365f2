//! A member of a Cargo workspace, or one package of several, as a workspace of its own: what its edits break outside of it.

use std::path::Path;

use serde_json::{Value, json};

use super::{configure, language_tools, replace};
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::tool;

async fn client(project: &Project, folder: &Path, options: &[&str]) -> McpClient {
    let mut client = McpClient::start_in(project, folder, &[options, &["--timeout-ms", "120000"]].concat());
    client.begin("codex").await;
    client
}

/// The open entry about a file outside.
fn names(answer: &Value, file: &Path, word: &str) -> bool {
    let pending = answer["pending"].to_string();
    pending.contains(&file.display().to_string())
        && pending.contains("outside of this workspace")
        && pending.contains(word)
}

#[tokio::test(flavor = "multi_thread")]
async fn cargo_reports_on_a_member_and_names_what_an_edit_breaks_beside_it() {
    for (command, program) in [("cargo", "cargo"), ("clippy", "cargo-clippy")] {
        tool(program);
        let project = Project::crates();
        configure(&project, &format!("commands = [{command:?}]\n"));
        let mut client = client(&project, &project.root().join("base"), &[]).await;
        let lib = "src/lib.rs";

        let own = client.edit("edit_file", replace(lib, "    1", "    \"\"")).await;
        let found = &own["new_diagnostics"];
        assert_eq!((found.as_array().map(Vec::len), &found[0]["code"]), (Some(1), &json!("E0308")), "{own}");
        let back = client.edit("edit_file", replace(lib, "    \"\"", "    1")).await;
        assert_eq!((&back["fixed"], &back["new_diagnostics"]), (&json!(1), &json!([])), "{back}");

        let other = client.edit("edit_file", replace(lib, "u32 {\n    1", "&'static str {\n    \"\"")).await;
        let beside = project.root().join("shop/src/lib.rs");
        assert_eq!(
            (&other["new_diagnostics"], &other["diagnostics_status"]),
            (&json!([]), &json!("partial")),
            "{other}"
        );
        assert!(names(&other, &beside, "&str"), "{other}");
        let back = client.edit("edit_file", replace(lib, "&'static str {\n    \"\"", "u32 {\n    1")).await;
        assert_ne!(back["diagnostics_status"], "unavailable", "{back}");
        let last = client.edit("edit_file", replace(lib, "    1", "    2")).await;
        assert_eq!(last["diagnostics_status"], "complete", "{last}");
        assert!(client.end().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tsc_names_what_an_edit_breaks_beside_the_package() {
    let project = Project::new(&[
        (
            "lib/tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}, \"files\": [\"cart.ts\", \"../app/app.ts\"]}\n",
        ),
        ("lib/package.json", "{}\n"),
        ("lib/cart.ts", "export function total(): number {\n  return 1;\n}\n"),
        ("app/app.ts", "import { total } from \"../lib/cart\";\nexport const sum: number = total();\n"),
    ]);
    let programs = project.beside("programs");
    let tsc = language_tools("vtsls").join("../node_modules/.bin/tsc");
    std::os::unix::fs::symlink(tsc, programs.join("tsc")).expect("a link");
    configure(&project, "commands = [\"tsc\"]\n");
    let options = ["--servers", &programs.display().to_string()];
    let mut client = client(&project, &project.root().join("lib"), &options).await;
    let answer = client.edit("edit_file", replace("cart.ts", "number {\n  return 1", "string {\n  return \"\"")).await;
    assert_eq!(answer["diagnostics_status"], "partial", "{answer}");
    assert!(names(&answer, &project.root().join("app/app.ts"), "not assignable"), "{answer}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_a_library_and_its_tests_name_in_two_ways_counts_once() {
    tool("cargo");
    let cart = "pub struct Cart {\n    pub rate: u64,\n}\n\nimpl Cart {\n    pub fn total(&self) -> u64 {\n        self.rate\n    \
                }\n}\n";
    let lib = "pub mod cart;\n\n#[cfg(test)]\nmod tests {\n    pub struct Cart;\n\n    #[test]\n    fn is_one() {\n        let _ = \
               Cart;\n    }\n}\n";
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/lib.rs", lib), ("src/cart.rs", cart)]);
    configure(&project, "commands = [\"cargo\"]\n");
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    let answer = client.edit("edit_file", replace("src/cart.rs", "self.rate", "self.ratez")).await;
    let found = answer["new_diagnostics"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{answer:#}");
    assert_eq!(found[0]["message"], "no field `ratez` on type `&Cart`", "{answer:#}");
    assert!(client.end().await.success());
}
