//! What an edit breaks after other edits: of another program, or behind broken syntax.

use serde_json::{Value, json};

use crate::closed::shapes::reported;
use crate::mcp::replace;
use crate::support::mcp::McpClient;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::language_tools;

const RETURNS: &str = "def f(x: int) -> int:\n    return x\n";
const USES: &str = "from k.p import f\nf(1)\n";

/// The file and the code of each new diagnostic of a complete answer.
fn new(answer: &Value) -> Vec<(String, String)> {
    assert_eq!(answer["diagnostics_status"], "complete", "{answer}");
    reported(answer).into_iter().collect()
}

/// Edits a module, lets another program replace it by a new one, and edits that one: what its importer is told.
async fn replaced_by_another_program(project: &Project, client: &mut McpClient) {
    assert_eq!(new(&client.edit("edit_file", replace("k/p/__init__.py", "return x", "return x + 0")).await), []);
    project.write("k/p/core.py", "def f(x: int) -> int:\n    return 1\n");
    project.write("k/p/__init__.py", "from k.p.core import f as f\n");
    let edited = client.edit("edit_file", replace("k/p/core.py", "x: int", "x: str")).await;
    assert_eq!(new(&edited), [("k/b.py".to_owned(), "reportArgumentType".to_owned())], "{edited}");
}

fn package() -> Project {
    Project::new(&[("k/__init__.py", ""), ("k/p/__init__.py", RETURNS), ("k/b.py", USES), ("c.py", "x = 1\n")])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_program_has_made_is_known_to_the_servers() {
    let project = package();
    let mut client = McpClient::with_servers(&project, "codex").await;
    replaced_by_another_program(&project, &mut client).await;
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_program_has_made_is_known_to_the_clients_of_neovim() {
    let project = package();
    let options = "{ diagnostics = { timeout_ms = 60000 }, quickfix = { open = false } }";
    let mut nvim = Nvim::open(&project, options, &["basedpyright"], "c.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    crate::rpc::joined(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    replaced_by_another_program(&project, &mut client).await;
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_the_repair_of_the_syntax_uncovers_is_new_where_it_was_not_there_before() {
    let text = format!("{RETURNS}\n\ndef g() -> int:\n    return ''\n");
    let project = Project::new(&[("a.py", &text)]);
    let mut client = McpClient::with_servers(&project, "codex").await;
    client.edit("edit_file", replace("a.py", "x: int)", "x: int")).await;
    let edited = client.edit("edit_file", replace("a.py", "x: int", "x: str)")).await;
    assert_eq!(new(&edited), [(String::new(), "reportReturnType".to_owned())], "{edited}");
    assert_eq!(edited["new_diagnostics"][0]["symbol"], "f", "{edited}");
    assert_eq!(edited["new_diagnostics"].as_array().map(Vec::len), Some(1), "{edited}");
    // The error of the other function was there before the syntax was broken.
    assert!(edited["fixed"].as_u64() > Some(0), "{edited}");
    assert!(client.end().await.success());
}

/// The module was gone, so that its importer had no other error than that.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_in_the_importer_of_a_file_that_is_made_again_is_new() {
    let text = "export function f(x: number): number { return x }\n";
    let project = Project::new(&[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}}\n"),
        ("a.ts", text),
        ("b.ts", "import { f } from './a'\nexport const v = f(1)\n"),
    ]);
    let folder = language_tools("vtsls").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    assert_eq!(new(&client.edit("edit_file", replace("a.ts", "return x", "return x + 0")).await), []);
    std::fs::remove_file(project.root().join("a.ts")).expect("the file is there");
    let alone = client.edit("edit_file", replace("b.ts", "f(1)\n", "f(1)\n// done\n")).await;
    assert_eq!(alone["ok"], true, "{alone}");
    let made =
        json!({"path": "a.ts", "content": text.replace("x: number", "x: string").replace("return x", "return 1")});
    let made = client.edit("write_file", made).await;
    assert_eq!(new(&made), [("b.ts".to_owned(), "2345".to_owned())], "{made}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_a_script_clashes_in_another_script() {
    let project = Project::new(&[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}}\n"),
        ("a.ts", "const one = 1\n"),
        ("b.ts", "const two = 2\n"),
    ]);
    let folder = language_tools("vtsls").display().to_string();
    let mut client = McpClient::open(&project, "codex", &["--servers", &folder, "--timeout-ms", "120000"]).await;
    let edited = client.edit("edit_file", replace("a.ts", "one", "two")).await;
    let both = ["", "b.ts"].map(|file| (file.to_owned(), "2451".to_owned()));
    assert_eq!(new(&edited), both, "{edited}");
    assert!(client.end().await.success());
}
