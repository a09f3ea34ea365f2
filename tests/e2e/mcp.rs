//! `sextant mcp` over standard input and output: the protocol, what an edit answers, the end.

mod edits;
mod exact;
mod hostile;
mod http;
mod joined;
mod places;
mod sizes;
mod typing;
mod unrecorded;

use std::time::Instant;

use serde_json::{Value, json};

use crate::support::mcp::{McpClient, descendants, gone, text};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::fake_config;

const SHOP: &str = "def price(name: str) -> int:\n    return len(name)\n\n\ndef total(names: list[str]) -> int:\n    \
    return sum(price(name) for name in names)\n";
/// One error that was there before.
const OLD: &str = "def old() -> int:\n    return 'x'\n";

pub(crate) fn replace(path: &str, old: &str, new: &str) -> Value {
    change(path, old, new)
}

/// A configuration that names the fake server with a script as the only one.
pub(crate) fn with_fake(project: &Project, script: &Value) -> String {
    let fake = fake_config(&project.beside("fake"), script);
    let file = project.beside("config").join("sextant");
    std::fs::create_dir_all(&file).expect("a folder");
    let command = serde_json::to_string(&fake.command).expect("JSON");
    let text =
        format!("[[servers]]\nname = \"fake\"\ncommand = {command}\nlanguages = [\"python\"]\npublishes_once = true\n");
    std::fs::write(file.join("config.toml"), text).expect("a file");
    project.beside("fake").display().to_string()
}

#[tokio::test]
async fn the_tools_are_listed_before_anything_is_started() {
    let project = Project::new(&[("shop.py", SHOP)]);
    let began = Instant::now();
    let mut client = McpClient::start(&project, &[]);
    let hello = client.begin("codex").await;
    assert_eq!(hello["result"]["serverInfo"]["name"], "sextant", "{hello}");
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
    let list = client.request("tools/list", json!({})).await;
    let took = began.elapsed();
    println!("start to the list of tools: {} ms", took.as_millis());
    assert_eq!(descendants(client.id()), Vec::<u32>::new(), "nothing is started");
    assert!(!project.memory_file().exists(), "nothing is kept");
    let tools = list["result"]["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let wanted = [
        "read_file",
        "read_symbol",
        "list_symbols",
        "search",
        "find_references",
        "definition",
        "hover",
        "edit_file",
        "edit_symbol",
        "write_file",
        "rename_symbol",
    ];
    assert_eq!(names, wanted, "and none for diagnostics");
    let hints = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect(name)["annotations"].clone();
    assert_eq!(hints("read_file")["readOnlyHint"], true);
    assert_eq!(hints("edit_file")["readOnlyHint"], false);
    let unknown = client.request("tools/call", json!({"name": "run_command", "arguments": {}})).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn an_edit_and_a_new_file_answer_with_what_is_new_and_a_read_with_nothing() {
    let project = Project::new(&[("shop.py", SHOP), ("old.py", OLD), ("notes.md", "# Notes\n"), ("a.ini", "a: 1\n")]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let read = client.call("read_file", json!({"path": "old.py"})).await;
    assert!(text(&read).contains("return 'x'") && read.get("structuredContent").is_none(), "{read}");
    for word in ["error", "diagnostic", "str"] {
        assert!(!text(&read).contains(word), "{read}");
    }
    // Nothing new: an empty list, and known to be all.
    let clean = client.edit("edit_file", replace("shop.py", "len(name)", "len(name) + 1")).await;
    assert_eq!((&clean["new_diagnostics"], &clean["diagnostics_status"]), (&json!([]), &json!("complete")), "{clean}");
    // What was there before stays untold, wherever the edit moves it to.
    let moved = client.edit("edit_file", replace("old.py", "def old", "\n\n\nLIMIT = 3\n\n\ndef old")).await;
    assert_eq!((&moved["new_diagnostics"], &moved["unchanged"]), (&json!([]), &json!(1)), "{moved}");
    let broken = client.edit("edit_file", replace("shop.py", "return len(name) + 1", "return name")).await;
    let new = broken["new_diagnostics"].as_array().expect("a list");
    assert_eq!(new.len(), 1, "{broken}");
    let told = (&new[0]["severity"], &new[0]["symbol"], &new[0]["line"], &new[0]["code"], &new[0]["source"]);
    let wanted = (json!("error"), json!("price"), json!(2), json!("reportReturnType"), json!("lsp:basedpyright"));
    assert_eq!(told, (&wanted.0, &wanted.1, &wanted.2, &wanted.3, &wanted.4), "{broken}");
    let mended = client.edit("edit_file", replace("shop.py", "return name", "return 1")).await;
    assert_eq!((&mended["new_diagnostics"], &mended["fixed"]), (&json!([]), &json!(1)), "{mended}");
    let new_file = json!({"path": "new/deep/file.py", "content": "x: int = 'a'\n"});
    let made = client.edit("write_file", new_file).await;
    assert_eq!(made["new_diagnostics"].as_array().map(Vec::len), Some(1), "{made}");
    // What nothing covers is no clean file, whatever is known of others.
    for (path, old) in [("notes.md", "Notes"), ("a.ini", "a: 1")] {
        let result = client.call("edit_file", replace(path, old, "b: 2")).await;
        let data = &result["structuredContent"];
        assert_eq!(data["new_diagnostics"], json!([]), "{data}");
        assert_eq!(data["pending"], json!([format!("nothing checks {path}")]), "{data}");
        assert_eq!(data["diagnostics_status"], "skipped", "{data}");
        assert!(text(&result).contains("no provider covers this file"), "{result}");
    }
    let children = descendants(client.id());
    assert!(children.len() >= 2, "the servers run: {children:?}");
    assert!(client.end().await.success());
    gone(&children).await;
}

#[tokio::test]
async fn three_new_diagnostics_cost_at_most_a_hundred_and_fifty_tokens() {
    let project = Project::new(&[("shop.py", SHOP)]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let worse = "return sum(price(name) for name in names) + undefined_one + [].nothing + price(3)";
    let given = replace("shop.py", "return sum(price(name) for name in names)", worse);
    let result = client.call("edit_file", given).await;
    assert!(result["structuredContent"]["new_diagnostics"].as_array().is_some_and(|new| new.len() >= 3), "{result}");
    let tokens = sextant::base::token_estimate::estimate(&text(&result));
    let data = sextant::base::token_estimate::estimate(&result["structuredContent"].to_string());
    println!("an edit with three new diagnostics: {tokens} tokens as text, {data} as data");
    assert!(tokens <= 150, "{tokens} tokens: {}", text(&result));
}

#[tokio::test]
async fn the_check_has_a_limit_of_its_own_and_can_be_turned_off() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    // It opens the file, and never says a word.
    with_fake(&project, &json!({"capabilities": {"textDocumentSync": 1}, "on": {}}));
    let config = project.beside("config").join("sextant/config.toml");
    let servers = std::fs::read_to_string(&config).expect("a file");
    std::fs::write(&config, format!("{servers}\n[diagnostics]\nstart_timeout_ms = 1000\n")).expect("a file");
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "300"]).await;
    client.read("read_file", json!({"path": "a.py"})).await;
    let began = Instant::now();
    let late = client.edit("edit_file", replace("a.py", "x = 1", "x = 2")).await;
    assert_eq!((&late["new_diagnostics"], &late["diagnostics_status"]), (&json!([]), &json!("partial")), "{late}");
    assert_eq!(late["pending"], json!(["fake (a.py)"]), "{late}");
    assert!(began.elapsed().as_millis() < 5000, "{:?}", began.elapsed());
    assert!(client.end().await.success());
    project.write("notes.md", "# Notes\n");
    let mut other = McpClient::open(&project, "codex", &[]).await;
    let skipped = other.edit("edit_file", replace("notes.md", "Notes", "More")).await;
    assert_eq!((&skipped["new_diagnostics"], &skipped["diagnostics_status"]), (&json!([]), &json!("skipped")));
    assert_eq!(project.read("a.py"), "x = 2\n");
    assert!(other.end().await.success());

    std::fs::write(&config, format!("{servers}\n[diagnostics]\non_edit = false\n")).expect("a file");
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let off = client.edit("edit_file", replace("a.py", "x = 2", "x = 3")).await;
    assert_eq!((&off["new_diagnostics"], &off["diagnostics_status"]), (&json!([]), &json!("off")), "{off}");
    assert_eq!(descendants(client.id()), Vec::<u32>::new(), "no server is asked");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_wait_is_told_of_and_can_be_ended_and_the_edit_stays_whole() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    // It speaks of the text as it was opened, and of no other.
    let script = json!({"capabilities": {"textDocumentSync": 1},
        "on": {"textDocument/didOpen": [{"publish": {"version": "same", "items": []}}]}});
    with_fake(&project, &script);
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "60000"]).await;
    let call = json!({"name": "edit_file", "arguments": replace("a.py", "x = 1", "x = 2"),
        "_meta": {"progressToken": "p"}});
    let id = client.ask("tools/call", call).await;
    let told = client.next().await.expect("progress");
    assert_eq!((&told["method"], &told["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p")));
    while project.read("a.py") != "x = 2\n" {
        let told = client.next().await.expect("progress");
        assert_eq!(told["method"], "notifications/progress", "{told}");
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
    // The next one finds the edit made, and what it may not know.
    let next = client.ask("tools/call", json!({"name": "read_file", "arguments": {"path": "a.py"}})).await;
    loop {
        let message = client.next().await.expect("an answer");
        if message["id"] == next {
            assert!(text(&message["result"]).contains("x = 2"), "{message}");
            break;
        }
        assert!(
            message["id"] != id || message["error"].is_object() || message["result"]["isError"] == true,
            "{message}"
        );
    }
    assert!(client.end().await.success());
    let undone = crate::cli::sextant(&project, &["undo"]);
    assert_eq!(project.read("a.py"), "x = 1\n", "{undone:?}");
}

#[tokio::test]
async fn an_undo_takes_back_one_client_and_the_trace_says_which() {
    let project = Project::new(&[("a.md", "one\ntwo\n")]);
    let mut claude = McpClient::open(&project, "claude-code", &[]).await;
    let mut codex = McpClient::open(&project, "codex", &[]).await;
    claude.edit("edit_file", replace("a.md", "one", "1")).await;
    codex.edit("edit_file", replace("a.md", "two", "2")).await;
    // The other one's edit is shown before it can be written over.
    claude.refused("edit_file", replace("a.md", "1\n2", "3")).await;
    let one = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let edits = json!({"path": "a.md", "edits": [one("1\n", "1\nand\n"), one("and", "und")]});
    claude.edit("edit_file", edits).await;
    assert_eq!(project.read("a.md"), "1\nund\n2\n");
    let why = crate::cli::sextant(&project, &["why", "--list"]);
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("edits of claude-code") && why.contains("edits of codex"), "{why}");
    let undone = crate::cli::sextant(&project, &["undo"]);
    let said = String::from_utf8_lossy(&undone.stdout).into_owned();
    assert!(said.contains("edits of claude-code"), "{said}");
    assert_eq!(project.read("a.md"), "one\n2\n");
    // It is shown what there is now, and goes on.
    let refused = claude.refused("edit_file", replace("a.md", "und\n2", "3")).await;
    assert!(refused.contains("changed since it was read") && refused.contains("+one\n 2"), "{refused}");
    claude.edit("edit_file", replace("a.md", "one", "eins")).await;
    assert!(claude.end().await.success() && codex.end().await.success());
    assert_eq!(project.read("a.md"), "eins\n2\n");
}

#[tokio::test]
async fn the_edits_of_two_clients_of_one_name_are_taken_back_by_the_task_s_name() {
    let project = Project::new(&[("a.md", "one\n"), ("b.md", "two\n")]);
    let mut first = McpClient::open(&project, "claude-code", &[]).await;
    let mut second = McpClient::open(&project, "claude-code", &[]).await;
    first.edit("edit_file", replace("a.md", "one", "1")).await;
    second.edit("edit_file", replace("b.md", "two", "2")).await;
    let list = crate::cli::sextant(&project, &["undo", "--list"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let names: Vec<&str> = list.split("(task ").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
    assert_eq!(names.len(), 2, "{list}");
    // Typed since, in the place of the first one's edit: it stays, and is named.
    project.write("a.md", "1 typed\n");
    let older = format!("task {}", names[1]);
    let refused = crate::cli::sextant(&project, &["undo", &older]);
    assert!(!refused.status.success(), "{refused:?}");
    assert_eq!((project.read("a.md"), project.read("b.md")), ("1 typed\n".to_owned(), "2\n".to_owned()));
    project.write("a.md", "1\ntyped\n");
    assert!(crate::cli::sextant(&project, &["undo", &older]).status.success());
    assert_eq!((project.read("a.md"), project.read("b.md")), ("one\ntyped\n".to_owned(), "2\n".to_owned()));
    assert!(first.end().await.success() && second.end().await.success());
}

#[tokio::test]
async fn a_client_without_a_beginning_is_known_by_its_requests() {
    let project = Project::new(&[("a.md", "one\n")]);
    let mut client = McpClient::start(&project, &[]);
    let about = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "newest", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let found = client.request("server/discover", json!({"_meta": about})).await;
    let versions = found["result"]["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let call = json!({"name": "edit_file", "arguments": replace("a.md", "one", "two"), "_meta": about});
    let edited = client.request("tools/call", call).await;
    assert_eq!(edited["result"]["structuredContent"]["ok"], true, "{edited}");
    let undone = crate::cli::sextant(&project, &["undo"]);
    assert!(String::from_utf8_lossy(&undone.stdout).contains("edits of newest"), "{undone:?}");
    assert_eq!(project.read("a.md"), "one\n");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn the_client_s_folders_are_the_workspaces() {
    let project = Project::new(&[("a.md", "here\n")]);
    let (one, two) = (project.beside("one"), project.beside("two"));
    for (folder, text) in [(&one, "one\n"), (&two, "two\n")] {
        std::fs::write(folder.join("a.md"), text).expect("a file");
    }
    let mut client = McpClient::start(&project, &[]);
    client.set_roots(&[&one, &two]);
    client.begin("zed").await;
    assert!(client.read("read_file", json!({"path": "a.md"})).await.contains("one"));
    assert!(client.read("read_file", json!({"path": two.join("a.md")})).await.contains("two"));
    let outside = client.refused("read_file", json!({"path": project.root().join("../state/x")})).await;
    assert!(outside.contains("outside the workspace"), "{outside}");
    assert_eq!(client.asked_roots, 1, "it is asked once");
    client.set_roots(&[&two]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})).await;
    assert!(client.read("read_file", json!({"path": "a.md"})).await.contains("two"));
    client.set_roots(&[&project.beside("one").join("a.md")]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})).await;
    assert!(client.read("read_file", json!({"path": "a.md"})).await.contains("here"), "a file is no folder");
    assert!(client.end().await.success());
}

#[test]
fn a_snippet_is_printed_for_each_client() {
    let project = Project::new(&[]);
    for client in ["claude", "codex", "opencode", "gemini", "qwen", "cursor", "zed"] {
        let output = crate::cli::sextant(&project, &["mcp", "--print-config", client]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("sextant") && text.contains("\"mcp\""), "{client}: {text}");
    }
}
