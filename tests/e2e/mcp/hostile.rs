//! Clients that send what is no message, too much, or paths that lead elsewhere: refused, and nothing is lost.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::mcp::replace;
use crate::support::mcp::{McpClient, text};
use crate::support::project::Project;

/// A small generator: the same frames in every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % below
    }
}

/// A frame made of pieces of the protocol, some of them broken.
fn frame(random: &mut Random) -> Vec<u8> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "\"jsonrpc\":\"2.0\"",
        "\"id\":",
        "\"method\":",
        "\"tools/call\"",
        "\"tools/list\"",
        "null",
        "\"params\":",
        "{\"name\":\"edit_file\",\"arguments\":{}}",
        "1e999",
        "-1",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "true",
        ",",
        ":",
        "\"initialize\"",
        "\"notifications/cancelled\"",
        "\"requestId\":7",
        "\u{202e}",
        "[[[[[[[[[[",
        "0.5",
        "\"result\":{}",
        "\"error\":{\"code\":0}",
        "\"notifications/initialized\"",
        "\"ping\"",
        " ",
        "\t",
    ];
    const WHOLE: &[&str] = &[
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":\"z\",\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"z\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"z\",\"error\":{\"code\":1,\"message\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"q\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"z\",\"method\":\"tools/call\",\"params\":{\"name\":\"edit_file\",\"arguments\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"z\",\"method\":\"tools/call\",\"params\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"z\",\"method\":\"no/such\",\"params\":{}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":\"z\",\"method\":\"tools/list\"}]",
        "\"text\"",
        "null",
        "[]",
        "{}",
    ];
    let mut out = Vec::new();
    match random.next(4) {
        0 => out.extend_from_slice(WHOLE[random.next(WHOLE.len())].as_bytes()),
        1 => out.extend((0..random.next(80)).map(|_| u8::try_from(random.next(256)).unwrap_or(0))),
        _ => (0..random.next(12)).for_each(|_| out.extend_from_slice(PIECES[random.next(PIECES.len())].as_bytes())),
    }
    out.retain(|byte| *byte != b'\n');
    out.push(b'\n');
    out
}

/// Waits for the answer of this id, and takes whatever else was answered before it.
async fn answered(client: &mut McpClient, id: &Value) -> Value {
    loop {
        let message = client.next().await.expect("the server goes on");
        if message["id"] == *id && message["method"].is_null() {
            return message;
        }
    }
}

#[tokio::test]
async fn frames_that_are_none_end_nothing_and_hold_up_nothing() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let mut client = McpClient::start(&project, &[]);
    let mut random = Random(7);
    for _ in 0..300 {
        client.send_bytes(&frame(&mut random)).await;
    }
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    client.send(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})).await;
    let hello = answered(&mut client, &json!("hello")).await;
    assert_eq!(hello["result"]["serverInfo"]["name"], "sextant", "{hello}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    for round in 0..60 {
        for _ in 0..100 {
            client.send_bytes(&frame(&mut random)).await;
        }
        let id = json!(format!("round {round}"));
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})).await;
        let list = answered(&mut client, &id).await;
        assert!(list["result"]["tools"].is_array(), "{list}");
    }
    client
        .send(&json!({"jsonrpc": "2.0", "id": "last", "method": "tools/call",
        "params": {"name": "edit_file", "arguments": replace("a.txt", "one", "two")}}))
        .await;
    let edited = answered(&mut client, &json!("last")).await;
    assert_eq!(edited["result"]["structuredContent"]["ok"], true, "{edited}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_message_that_is_too_long_is_answered_and_the_next_one_too() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let mut long = b"{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"tools/call\",\"params\":\"".to_vec();
    long.resize(33 << 20, b'x');
    long.extend_from_slice(b"\"}\n");
    client.send_bytes(&long).await;
    let refused = answered(&mut client, &json!("long")).await;
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("32 MB at most")), "{refused}");
    let edits = vec![json!({"old_string": "a", "new_string": "b"}); 60_000];
    let many = json!({"jsonrpc": "2.0", "id": "many", "method": "tools/call",
        "params": {"name": "edit_file", "arguments": {"path": "a.txt", "edits": edits}}});
    client.send(&many).await;
    let refused = answered(&mut client, &json!("many")).await;
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("100000 values at most")),
        "{refused}"
    );
    // A large file in one message is none too long.
    let content = "line of a large file\n".repeat(200_000);
    let written = client.edit("write_file", json!({"path": "large.txt", "content": content})).await;
    assert_eq!(written["ok"], true);
    assert_eq!(project.read("large.txt").len(), content.len());
    assert!(client.end().await.success());
}

#[tokio::test]
async fn no_path_leads_out_of_the_workspace() {
    let project = Project::new(&[("a.txt", "one\n"), (".env", "KEY=1\n"), ("sub/b.txt", "one\n")]);
    let outside = project.beside("outside");
    std::fs::write(outside.join("x.txt"), "secret of another\n").expect("a file");
    symlink(&outside, project.root().join("way")).expect("a link");
    symlink(outside.join("x.txt"), project.root().join("way.txt")).expect("a link");
    let before = project.bytes();
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let here = project.root().display().to_string();
    let paths = [
        "../outside/x.txt".to_owned(),
        "sub/../../outside/x.txt".to_owned(),
        "way/x.txt".to_owned(),
        "way.txt".to_owned(),
        "way/new.txt".to_owned(),
        outside.join("x.txt").display().to_string(),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
        format!("/proc/self/root{here}/../outside/x.txt"),
        format!("{here}/../outside/x.txt"),
        ".env".to_owned(),
        ".ENV".to_owned(),
        "./sub/../.env".to_owned(),
        ".git/config".to_owned(),
        "a.txt\u{0}".to_owned(),
        "a.txt\u{202e}".to_owned(),
        String::new(),
        ".".to_owned(),
        "~/x.txt".to_owned(),
        "file:///etc/passwd".to_owned(),
        "a.txt/../../outside/x.txt".to_owned(),
    ];
    for path in &paths {
        for (tool, given) in [
            ("read_file", json!({"path": path})),
            ("edit_file", replace(path, "one", "two")),
            ("edit_file", replace(path, "secret", "two")),
            ("search", json!({"pattern": "secret of", "path": path})),
            ("read_symbol", json!({"symbol": format!("{path}::f")})),
            ("edit_symbol", json!({"symbol": format!("{path}::f"), "action": "delete", "content": ""})),
        ] {
            let result = client.call(tool, given).await;
            let said = text(&result);
            assert!(
                !said.contains("secret of another") && !said.contains("root:") && !said.contains("KEY=1"),
                "{path}"
            );
            assert!(result["isError"] == true || tool == "search", "{tool} {path}: {said}");
        }
    }
    // Of those, only new names inside of the workspace can be written.
    for path in paths.iter().filter(|path| !path.starts_with(['~', 'f'])) {
        let refused = client.refused("write_file", json!({"path": path, "content": "two\n"})).await;
        assert!(!refused.is_empty(), "{path}");
    }
    assert_eq!(project.bytes(), before);
    assert_eq!(std::fs::read_to_string(outside.join("x.txt")).expect("a file"), "secret of another\n");
    assert!(!outside.join("new.txt").exists());
    assert!(client.end().await.success());
}

/// A method that exists is never answered as if it did not.
#[tokio::test]
async fn a_call_with_parameters_of_another_form_is_answered_with_the_form() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    for (params, why) in [
        (json!({"name": "read_file", "arguments": ["a.txt"]}), "arguments is a list, not an object"),
        (json!({"name": "read_file", "arguments": "a.txt"}), "arguments is a text, not an object"),
        (json!({"arguments": {}}), "name is missing, not a text"),
        (json!(null), "params is missing, not an object"),
    ] {
        client.send(&json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params})).await;
        let answer = answered(&mut client, &json!("call")).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(why) && message.contains("`arguments`"), "{params}: {message}");
    }
    client.send(&json!({"jsonrpc": "2.0", "id": "call", "method": "no/such", "params": {}})).await;
    assert_eq!(answered(&mut client, &json!("call")).await["error"]["code"], -32601);
    assert!(client.end().await.success());
}

/// A client has the tools of its list, no request, and perhaps no editor.
#[tokio::test]
async fn a_refusal_names_nothing_that_a_client_does_not_have() {
    let project =
        Project::new(&[("a.txt", "one\n"), ("locked.txt", "one\n"), (".gitignore", "out/\n"), ("out/a.txt", "one\n")]);
    let mut locked = std::fs::metadata(project.root().join("locked.txt")).expect("a file").permissions();
    locked.set_readonly(true);
    std::fs::set_permissions(project.root().join("locked.txt"), locked).expect("a permission");
    let mut client = McpClient::open(&project, "codex", &[]).await;
    for (edit, way_out) in [
        (replace("a.txt", "", "two"), "quote the line beside it"),
        (replace("out/a.txt", "one", "two"), "let the user make this change"),
        (replace("locked.txt", "one", "two"), "make it writable"),
    ] {
        let said = client.refused("edit_file", edit.clone()).await;
        assert!(said.contains(way_out), "{edit}: {said}");
        for word in ["insert_before", "the request", "in the editor first"] {
            assert!(!said.contains(word), "{edit}: {said}");
        }
    }
    assert!(client.end().await.success());
}

/// Runs `git status` in a folder.
fn git_status(project: &Project, folder: &str) -> std::process::Output {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "safe.directory=*", "status"]).current_dir(project.root().join(folder)).output().expect("git")
}

#[tokio::test]
async fn a_client_makes_no_repository_out_of_files_and_writes_into_none() {
    let project = Project::new(&[("a.md", "one\n"), ("emb/HEAD", "x\n"), ("emb/objects/x", ""), ("emb/refs/x", "")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let trap = project.beside("trap").join("ran");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n\tfsmonitor = \"touch {}; false\"\n",
        project.root().join("docs").display(),
        trap.display()
    );
    let head = "ref: refs/heads/main\n";
    let parts = [("HEAD", head), ("config", config.as_str()), ("refs/x", ""), ("objects/x", "")];
    for (name, content) in parts {
        client.call("write_file", json!({"path": format!("docs/{name}"), "content": content})).await;
    }
    let status = git_status(&project, "docs");
    assert!(!trap.exists(), "{status:?}");
    for name in ["config", "hooks/post-checkout", "info/attributes"] {
        let path = format!("emb/{name}");
        let refused = client.refused("write_file", json!({"path": path, "content": "x\n"})).await;
        assert!(refused.contains("takes its folder for a repository") && !project.root().join(&path).exists());
    }
    assert!(client.end().await.success());
}
