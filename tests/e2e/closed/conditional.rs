//! What an edit breaks in code that cargo leaves out of a check: code on a condition, and examples in comments.

use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;

const MANIFEST: &str =
    "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nextra = []\n";
const ITEM: &str = "pub fn total() -> u32 {\n    1\n}\n";

/// A library with these texts of `item.rs` and `user.rs`, after its function returns another type.
async fn edited(item: &str, user: &str) -> serde_json::Value {
    let lib = "pub mod item;\npub mod user;\n";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/item.rs", item), ("src/user.rs", user)];
    let project = Project::new(&files);
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "commands = [\"cargo\"]\n").expect("a file");
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    let broken = replace("src/item.rs", "u32 {\n    1", "&'static str {\n    \"1\"");
    let edited = client.edit("edit_file", broken).await;
    assert!(client.end().await.success());
    edited
}

#[tokio::test]
async fn a_use_in_code_that_cargo_leaves_out_leaves_the_answer_partial() {
    let body = "pub fn price() -> u32 {\n    crate::item::total()\n}\n";
    let example = "/// ```\n/// let x: u32 = shop::item::total();\n/// ```\npub fn price() {}\n";
    let (feature, condition) = (format!("#[cfg(feature = \"extra\")]\n{body}"), "on a condition");
    for (item, user, file, why) in [
        (ITEM.to_owned(), feature.clone(), "src/user.rs", condition),
        (ITEM.to_owned(), format!("#![cfg(windows)]\n{body}"), "src/user.rs", condition),
        (format!("{ITEM}{feature}"), String::new(), "src/item.rs", condition),
        (ITEM.to_owned(), example.to_owned(), "src/user.rs", "in an example"),
        (
            format!("{}{ITEM}", example.replace("pub fn price() {}\n", "")),
            String::new(),
            "src/item.rs",
            "in an example",
        ),
    ] {
        let edited = edited(&item, &user).await;
        assert_eq!(edited["diagnostics_status"], "partial", "{user}: {edited}");
        let pending = edited["pending"].to_string();
        assert!(pending.contains(file) && pending.contains(why), "{user}: {edited}");
    }
}

#[tokio::test]
async fn a_use_in_the_tests_of_a_file_is_checked_and_the_answer_complete() {
    let user = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn price() {\n        let x: u32 = crate::item::total();\n        \
                assert_eq!(x, 1);\n    }\n}\n";
    let edited = edited(ITEM, user).await;
    assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
    assert!(edited["new_diagnostics"].to_string().contains("src/user.rs"), "{edited}");
}
