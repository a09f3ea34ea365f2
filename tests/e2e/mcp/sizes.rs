//! Large texts over MCP: what one edit may take of memory, and where it is refused before anything is done.

use std::time::Instant;

use serde_json::json;

use crate::support::mcp::McpClient;
use crate::support::project::Project;

/// Megabytes of a process that were there at once, at most so far.
fn peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a figure");
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number") >> 10
}

fn lines(bytes: usize) -> String {
    "x = 1\n".repeat(bytes / 6)
}

#[tokio::test]
async fn a_text_of_nine_megabytes_is_written_within_a_limit_and_a_larger_one_is_refused() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut client = McpClient::open(&project, "large", &[]).await;
    client.edit("write_file", json!({"path": "small.py", "content": "y = 1\n"})).await;
    for megabytes in [1, 3, 9] {
        let (before, began) = (peak(client.id()), Instant::now());
        let path = format!("large{megabytes}.py");
        client.edit("write_file", json!({"path": path, "content": lines(megabytes << 20)})).await;
        let (after, took) = (peak(client.id()), began.elapsed());
        println!("{megabytes} MB: {took:?}, {before} -> {after} MB");
        assert_eq!(project.read(&path).len(), lines(megabytes << 20).len());
        assert!(after - before <= 150, "{megabytes} MB took {before} -> {after} MB");
    }
    // The same over a text that is there, and an edit in it.
    let before = peak(client.id());
    let changed = lines(9 << 20).replacen("x", "z", 1);
    client.read("read_file", json!({"path": "large9.py", "limit": 5})).await;
    client.edit("write_file", json!({"path": "large9.py", "content": changed})).await;
    let after = peak(client.id());
    println!("9 MB again: {before} -> {after} MB");
    assert!(after - before <= 150, "{before} -> {after} MB");
    let refused = client.refused("write_file", json!({"path": "huge.py", "content": lines(12 << 20)})).await;
    assert!(refused.contains("files of up to 10 MB are worked on"), "{refused}");
    assert!(!project.root().join("huge.py").exists());
}

#[tokio::test]
async fn a_path_that_is_longer_than_any_disk_takes_is_refused_with_its_length() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut client = McpClient::open(&project, "long", &[]).await;
    for (tool, more) in [("write_file", json!({"content": "x"})), ("read_file", json!({}))] {
        let mut given = more;
        given["path"] = json!("a/".repeat(3000) + "b");
        let long = client.refused(tool, given).await;
        assert!(long.contains("the path is too long (in bytes 6001, and 4096 is the most)"), "{tool}: {long}");
    }
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_text_that_nests_or_repeats_without_end_is_written_like_any_other() {
    let project = Project::new(&[("a.py", &format!("y = 1\n{}z = 1\n", lines(1 << 20)))]);
    let mut client = McpClient::open(&project, "odd", &[]).await;
    let nested = |open: &str, close: &str| format!("{}1{}\n", open.repeat(50_000), close.repeat(50_000));
    let texts =
        [nested("(", ")"), nested("{", ""), nested("not ", ""), nested("1 + ", ""), nested("[", "]"), nested("@", "")];
    for (number, text) in texts.iter().enumerate() {
        let path = format!("odd{number}.py");
        client.edit("write_file", json!({"path": path, "content": text})).await;
        assert_eq!(project.read(&path), *text);
    }
    // What differs is found in a moment, though each line stands there thousands of times.
    client.read("read_file", json!({"path": "a.py", "limit": 5})).await;
    let began = Instant::now();
    client.edit("write_file", json!({"path": "a.py", "content": lines(1 << 20)})).await;
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    let refused = client.refused("search", json!({"pattern": lines(1 << 20)})).await;
    assert!(refused.contains("patterns of up to 16 KB"), "{refused}");
}
