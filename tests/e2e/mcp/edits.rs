//! Where edits of agents fail in practice: quotes that do not fit, line ends, links, and files that are none to edit.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::project::Project;
use crate::support::replies::change;

const TEXT: &str = "def f():\n    total = 1\n    return total\n\n\ndef g():\n    total = 1\n    return total + 1\n";

#[tokio::test]
async fn a_quote_that_does_not_fit_is_answered_with_the_place_and_the_first_line_that_differs() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let quote = "def g():\n    total = 1\n    return total + 2\n";
    let off = client.refused("edit_file", replace("a.py", quote, "x")).await;
    assert!(off.contains("line 8") && off.contains("return total + 1") && off.contains("return total + 2"), "{off}");
    let twice = client.refused("edit_file", replace("a.py", "    total = 1\n", "x")).await;
    assert!(twice.contains("2 times (lines 2, 7)"), "{twice}");
    let nothing = client.refused("edit_file", replace("a.py", "    total = 1\n", "    total = 1\n")).await;
    assert!(nothing.contains("are the same"), "{nothing}");
    let within = json!({"path": "a.py", "symbol": "g", "old_string": "total = 1", "new_string": "total = 2"});
    client.edit("edit_file", within).await;
    let spaces =
        client.edit("edit_file", replace("a.py", "\ttotal = 1\n\treturn total\n", "\ttotal = 3\n\treturn total\n"));
    let spaces = spaces.await;
    assert!(spaces["notes"].to_string().contains("matched by whitespace"), "{spaces}");
    let all = json!({"path": "a.py", "old_string": "total", "new_string": "sum", "replace_all": true});
    client.edit("edit_file", all).await;
    assert_eq!(
        project.read("a.py"),
        "def f():\n    sum = 3\n    return sum\n\n\ndef g():\n    sum = 2\n    return sum + 1\n"
    );
    assert!(client.end().await.success());
}

#[tokio::test]
async fn an_edit_of_a_symbol_without_an_action_is_read_where_it_has_one_meaning() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let edit = json!({"symbol": "a.py::f", "content": "def f():\n    return 1\n"});
    let made = client.edit("edit_symbol", edit).await;
    assert!(made["notes"].to_string().contains("no action was given: replace"), "{made}");
    let written = TEXT.replace("    total = 1\n    return total\n\n", "    return 1\n\n");
    assert_eq!(project.read("a.py"), written);
    let unclear = json!({"symbol": "a.py::f", "content": "def h():\n    return 1\n"});
    let refused = client.refused("edit_symbol", unclear).await;
    let choices =
        "edit_symbol needs `action`: the content does not define f (replace, insert_before, insert_after or delete)";
    assert!(refused.contains(choices), "{refused}");
    assert_eq!(project.read("a.py"), written);
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_text_that_somebody_else_changed_is_shown_and_not_written_over() {
    let project = Project::new(&[("a.py", TEXT)]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.read("read_file", json!({"path": "a.py"})).await;
    project.write("a.py", &TEXT.replace("def g", "def mine"));
    let whole = json!({"path": "a.py", "content": "x = 1\n"});
    let refused = client.refused("write_file", whole.clone()).await;
    assert!(refused.contains("changed since it was read") && refused.contains("def mine"), "{refused}");
    // The same bytes with another time are no change.
    let now = project.read("a.py");
    project.write("a.py", &now);
    client.edit("write_file", whole).await;
    assert_eq!(project.read("a.py"), "x = 1\n");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn marks_and_line_ends_stay_and_folders_are_made() {
    let windows = format!("\u{feff}{}", TEXT.replace('\n', "\r\n"));
    let mixed = "a\r\nb\nc\r\n";
    let project = Project::new(&[("w.py", &windows), ("m.txt", mixed), ("n.txt", "no end")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client
        .edit("edit_file", replace("w.py", "def g():\n    total = 1\n", "def g():\n    total = 2\n    more = 3\n"))
        .await;
    let wanted = windows.replace("def g():\r\n    total = 1\r\n", "def g():\r\n    total = 2\r\n    more = 3\r\n");
    assert_eq!(project.read("w.py"), wanted);
    client.edit("edit_file", replace("m.txt", "b\n", "B\n")).await;
    assert_eq!(project.read("m.txt"), "a\r\nB\nc\r\n");
    client.edit("edit_file", replace("n.txt", "no end", "still none")).await;
    assert_eq!(project.read("n.txt"), "still none");
    let made = client.edit("write_file", json!({"path": "x/y/z.txt", "content": "new\n"})).await;
    assert_eq!((made["path"].as_str(), made["saved"].as_bool()), (Some("x/y/z.txt"), Some(true)), "{made}");
    assert_eq!(project.read("x/y/z.txt"), "new\n");
    let bits = fs::metadata(project.root().join("w.py")).expect("a file").permissions().mode() & 0o777;
    assert_eq!(bits & 0o600, 0o600, "{bits:o}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn links_stay_links_and_what_is_no_text_to_edit_is_refused_with_the_reason() {
    let project = Project::new(&[("real.txt", "one\n"), ("locked.txt", "one\n")]);
    let at = |path: &str| project.root().join(path);
    symlink(at("real.txt"), at("link.txt")).expect("a link");
    symlink(at("nowhere.txt"), at("broken.txt")).expect("a link");
    fs::set_permissions(at("locked.txt"), fs::Permissions::from_mode(0o444)).expect("permissions");
    fs::write(at("binary.bin"), b"one\n\xff\xfe\x00two").expect("a file");
    fs::write(at("huge.txt"), "one\n".repeat(3 << 20)).expect("a file");
    fs::create_dir(at("folder")).expect("a folder");
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.edit("edit_file", replace("link.txt", "one", "two")).await;
    assert!(at("link.txt").symlink_metadata().expect("a link").is_symlink());
    assert_eq!(project.read("real.txt"), "two\n");
    for (path, why) in [
        ("locked.txt", "read-only"),
        ("binary.bin", "not valid UTF-8"),
        ("huge.txt", "has 12 MB"),
        ("folder", "is a directory"),
        ("broken.txt", "symbolic link to nothing"),
        ("gone.txt", "does not exist"),
    ] {
        let refused = client.refused("edit_file", replace(path, "one", "two")).await;
        assert!(refused.contains(why), "{path}: {refused}");
    }
    let over = client.refused("write_file", json!({"path": "binary.bin", "content": "text"})).await;
    assert!(over.contains("not valid UTF-8"), "{over}");
    assert_eq!(fs::read(at("binary.bin")).expect("a file"), b"one\n\xff\xfe\x00two");
    assert!(client.end().await.success());
}

/// A class, and the same as a data class; the name of a type is missing in both.
const CLASS: &str = "class Item:\n    def __init__(self, code: str, price: Money) -> None:\n        self.code = code\n        self.price = price\n\n    def total(self) -> str:\n        return self.code\n";
const FIELDS: &str = "@dataclass\nclass Item:\n    code: str\n    price: Money\n\n    def total(self) -> str:\n        return self.code\n";

#[tokio::test]
async fn what_was_reported_of_a_class_is_not_new_when_it_becomes_a_data_class() {
    let head = "from dataclasses import dataclass\n\n\n@dataclass\nclass Unit:\n    name: str\n\n\n";
    let text = format!("{head}{CLASS}");
    let project = Project::new(&[("a.py", &text), ("b.py", &text)]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let edited = client.edit("edit_file", replace("a.py", CLASS, FIELDS)).await;
    assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
    assert_eq!((&edited["new_diagnostics"], &edited["fixed"]), (&json!([]), &json!(0)), "{edited}");
    // Another name is another complaint.
    let other = client.edit("edit_file", replace("b.py", CLASS, &FIELDS.replace("Money", "Cash"))).await;
    assert!(other["new_diagnostics"].to_string().contains("Cash"), "{other}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_one_file_that_are_sent_together_are_made_in_the_order_they_were_sent_in() {
    let project = Project::new(&[("a.py", "x = 0\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    for round in 0..6 {
        let path = format!("n{round}.py");
        let steps = [
            ("write_file", json!({"path": path, "content": "x = 1\n"})),
            ("edit_file", change(&path, "x = 1", "x = 2")),
            ("edit_file", change(&path, "x = 2", "x = 3")),
        ];
        for (tool, arguments) in &steps {
            client.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        }
        for _ in &steps {
            let answer = client.answer().await;
            assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
        }
        assert_eq!(project.read(&path), "x = 3\n");
    }
    assert!(client.end().await.success());
}
