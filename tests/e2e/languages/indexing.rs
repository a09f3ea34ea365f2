//! A server that still reads the project: a rename waits for it, and no list of uses passes for the whole one.

use serde_json::{Value, json};

use crate::support::mcp::McpClient;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::{language_tools, tool};

/// Sources beside the definition; each takes clangd a moment because of the library's headers.
const USERS: usize = 12;
const HEADER: &str = "#pragma once\nint total(int a);\n";
const DEFINITION: &str = "#include \"total.h\"\nint total(int a) { return a; }\n";

/// A project with a `compile_commands.json`, none of which clangd has indexed yet.
fn project() -> Project {
    let project = Project::new(&[("include/total.h", HEADER), ("src/total.cc", DEFINITION)]);
    let headers = "#include <map>\n#include <string>\n#include <vector>\n#include \"total.h\"\n";
    let user = |number: usize| format!("src/user{number}.cc");
    for number in 0..USERS {
        project.write(&user(number), &format!("{headers}int user{number}() {{ return total({number}); }}\n"));
    }
    let file = |file: String| {
        let arguments = ["c++", "-std=c++17", "-Iinclude", "-c", &file];
        json!({"directory": project.root(), "file": file, "arguments": arguments})
    };
    let files: Vec<Value> = (0..USERS).map(user).chain(["src/total.cc".to_owned()]).map(file).collect();
    project.write("compile_commands.json", &json!(files).to_string());
    project
}

/// Every file has the new name and none the old one.
fn renamed(project: &Project) {
    let users = (0..USERS).map(|number| format!("src/user{number}.cc"));
    for file in users.chain(["include/total.h".to_owned(), "src/total.cc".to_owned()]) {
        let text = project.read(&file);
        assert!(text.contains("sum(") && !text.contains("total("), "{file}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_right_after_the_start_changes_every_file_or_none() {
    let project = project();
    let folder = language_tools("clangd").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let uses = client.read("find_references", json!({"symbol": "include/total.h::total"})).await;
    assert!(uses.starts_with("13 references") || uses.contains("has not read the whole project yet"), "{uses}");
    let rename = json!({"symbol": "include/total.h::total", "new_name": "sum"});
    client.edit("rename_symbol", rename).await;
    renamed(&project);
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_neovim_a_rename_right_after_the_start_changes_every_file() {
    let project = project();
    let options =
        "{ model = { provider = 'offline' }, diagnostics = { timeout_ms = 120000, start_timeout_ms = 120000 } }";
    let mut nvim = Nvim::open_on_screen(&project, options, &[], "include/total.h").await;
    let command = json!([language_tools("clangd").join("clangd")]);
    nvim.lua::<bool>(&format!(
        "vim.lsp.config('clangd', {{ cmd = vim.json.decode([==[{command}]==]), filetypes = {{ 'c', 'cpp' }},
           root_markers = {{ 'compile_commands.json' }} }})
         vim.lsp.enable('clangd')
         vim.bo.filetype = 'cpp'
         return true"
    ))
    .await;
    nvim.command("2").await;
    let uses = nvim.task("AgentAsk who uses include/total.h::total").await;
    assert!(uses.contains("13 references"), "{uses}");
    nvim.task("AgentAsk rename include/total.h::total to sum").await;
    nvim.command("silent wall").await;
    renamed(&project);
}

/// A function whose user, in another package, has it through a module that passes on everything.
fn passed_on() -> Project {
    let settings = "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"module\": \"esnext\", \
                    \"moduleResolution\": \"bundler\", \"types\": []}}\n";
    Project::new(&[
        ("lib/tsconfig.json", settings),
        ("lib/a.ts", "export function total(a: number): number {\n  return a;\n}\n"),
        ("lib/i.ts", "export * from './a';\n"),
        ("lib/u.ts", "import { total } from './i';\nexport const one: number = total(1);\n"),
        ("app/tsconfig.json", settings),
        ("app/u.ts", "import { total } from '../lib/i';\nexport const two: number = total(2);\n"),
    ])
}

fn renamed_users(project: &Project) {
    for file in ["lib/a.ts", "lib/u.ts", "app/u.ts"] {
        let text = project.read(file);
        assert!(text.contains("sum(") && !text.contains("total"), "{file}: {text}");
    }
}

/// vtsls answers from the open texts while tsserver loads the project.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_question_to_vtsls_waits_for_its_project() {
    let folder = language_tools("vtsls").display().to_string();
    let project = passed_on();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let uses = client.read("find_references", json!({"symbol": "lib/a.ts::total"})).await;
    assert!(uses.starts_with("4 references"), "{uses}");
    assert!(client.end().await.success());
    let project = passed_on();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let rename = json!({"symbol": "lib/a.ts::total", "new_name": "sum"});
    let answer = client.edit("rename_symbol", rename).await;
    assert_eq!(answer["new_diagnostics"], json!([]), "{answer}");
    renamed_users(&project);
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_neovim_the_first_question_to_vtsls_waits_for_its_project() {
    let project = passed_on();
    let options =
        "{ model = { provider = 'offline' }, diagnostics = { timeout_ms = 120000, start_timeout_ms = 120000 } }";
    let mut nvim = Nvim::open_on_screen(&project, options, &[], "lib/a.ts").await;
    let command = json!([language_tools("vtsls").join("vtsls"), "--stdio"]);
    nvim.lua::<bool>(&format!(
        "vim.lsp.config('vtsls', {{ cmd = vim.json.decode([==[{command}]==]), filetypes = {{ 'typescript' }},
           root_dir = vim.fn.getcwd() }})
         vim.lsp.enable('vtsls')
         vim.bo.filetype = 'typescript'
         return true"
    ))
    .await;
    nvim.task("AgentAsk rename lib/a.ts::total to sum").await;
    nvim.command("silent wall").await;
    renamed_users(&project);
}

/// A server that answers one use, and reports progress that never ends.
fn endless(name: &str) -> Value {
    let place = json!([{"uri": "file://PATH", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}},
        {"uri": "file://PATH", "range": {"start": {"line": 4, "character": 11}, "end": {"line": 4, "character": 16}}}]);
    let progress = |value: Value| json!({"notify": ["$/progress", {"token": 7, "value": value}]});
    json!({
        "name": name,
        "capabilities": {"textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "referencesProvider": true, "renameProvider": true},
        "on": {
            "textDocument/didOpen": [{"publish": {"items": []}},
                progress(json!({"kind": "begin", "title": "indexing"})),
                progress(json!({"kind": "report", "message": "3/66"}))],
            "textDocument/references": [{"reply": place}],
            "textDocument/rename": [{"reply": {"changes": {}}}],
        }
    })
}

/// A server of no row that reports progress for each question, which ends behind its answer.
fn reporting() -> Value {
    let mut script = endless("unheard-of");
    let progress =
        |kind: &str| json!({"notify": ["$/progress", {"token": 7, "value": {"kind": kind, "title": "Searching"}}]});
    script["on"]["textDocument/didOpen"] = json!([{"publish": {"items": []}}]);
    script["log"] = json!("log");
    for method in ["textDocument/references", "textDocument/rename"] {
        let reply = script["on"][method][0].clone();
        script["on"][method] = json!([progress("begin"), reply, progress("end")]);
    }
    script
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_for_a_question_is_no_work_that_its_answer_lacks() {
    let (project, mut client) = scripted("unheard-of", &reporting()).await;
    let uses = client.read("find_references", json!({"symbol": "a.py::total"})).await;
    assert!(uses.contains("reference") && !uses.contains("has not read"), "{uses}");
    let log = std::fs::read_to_string(project.beside("fake").join("log")).expect("a log");
    assert_eq!(log.matches("\"textDocument/references\"").count(), 1, "it is asked once");
    let refused = client.refused("rename_symbol", json!({"symbol": "a.py::total", "new_name": "sum"})).await;
    assert!(!refused.contains("would miss uses"), "{refused}");
    assert!(client.end().await.success());
}

/// A client of a workspace whose server is a script.
async fn scripted(name: &str, script: &Value) -> (Project, McpClient) {
    let project = Project::new(&[("a.py", "def total():\n    return 1\n\n\nx = total() + total()\n")]);
    let path = project.root().join("a.py").display().to_string();
    let file = project.beside("fake").join("script.json");
    std::fs::write(&file, script.to_string().replace("PATH", &path)).expect("a script");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
    let command = json!([tool("python3"), program, file]);
    let settings = format!(
        "[diagnostics]\nstart_timeout_ms = 3000\n\n[[servers]]\nname = \"{name}\"\ncommand = {command}\nlanguages = [\"python\"]\n"
    );
    super::configure(&project, &settings);
    let client = McpClient::open(&project, "codex", &["--timeout-ms", "1000"]).await;
    (project, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_project_is_no_answer_about_all_of_it() {
    // A server that the table of facts has no row of, and one of which it knows that its answers are whole.
    for (name, is_partial) in [("unheard-of", true), ("pylsp", false)] {
        let (_project, mut client) = scripted(name, &endless(name)).await;
        let uses = client.read("find_references", json!({"symbol": "a.py::total"})).await;
        assert!(uses.contains("reference"), "{uses}");
        assert_eq!(uses.contains("has not read the whole project yet (indexing 3/66)"), is_partial, "{name}: {uses}");
        let rename = json!({"symbol": "a.py::total", "new_name": "sum"});
        let refused = client.refused("rename_symbol", rename).await;
        assert_eq!(refused.contains("a rename of total would miss uses of it"), is_partial, "{name}: {refused}");
        assert!(client.end().await.success());
    }
}
