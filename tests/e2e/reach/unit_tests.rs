//! A library that an edit breaks, beside its unit tests, which cargo compiles apart.

use std::collections::BTreeSet;

use serde_json::json;

use crate::closed::shapes::reported;
use crate::reach::doors::binary;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::servers::tool;

const ITEM: &str = "pub fn item() -> u32 {\n    1\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_library_does_not_hide_what_its_unit_tests_say() {
    let user = "pub fn two() -> u32 {\n    crate::item::item() * 2\n}\n";
    let tests = "#[test]\nfn is_one() {\n    assert_eq!(crate::item::item(), 1);\n}\n";
    let project = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        // With more jobs the two are mostly compiled at once.
        (".cargo/config.toml", "[build]\njobs = 1\n"),
        ("src/lib.rs", "pub mod item;\n#[cfg(test)]\nmod tests;\npub mod user;\n"),
        ("src/item.rs", ITEM),
        ("src/user.rs", user),
        ("src/tests.rs", tests),
    ]);
    for (name, program) in [("cargo", "cargo"), ("clippy", "cargo-clippy")] {
        tool(program);
        let folder = project.beside("config").join("sextant");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("config.toml"), format!("commands = [\"{name}\"]\n")).expect("a file");
        let options = ["--timeout-ms", "120000"];
        let mut client = McpClient::start_binary(&project, &binary(), project.root(), &options);
        client.begin("codex").await;
        let write = |text: &str| json!({"path": "src/item.rs", "content": text});
        let answer = client.edit("write_file", write(&ITEM.replace("item()", "items()"))).await;
        let expected = ["src/tests.rs", "src/user.rs"].map(|file| (file.to_owned(), "E0425".to_owned()));
        assert_eq!(answer["diagnostics_status"], "complete", "{name}: {answer}");
        assert_eq!(reported(&answer), BTreeSet::from(expected), "{name}: {answer}");
        client.edit("write_file", write(ITEM)).await;
        assert!(client.end().await.success());
    }
}
