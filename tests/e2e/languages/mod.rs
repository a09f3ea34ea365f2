//! Each language end to end: the scope of a symbol, exactly the new diagnostics, the undo, the compact loop.

mod changed_outside;
mod closed_files;
pub(crate) mod headers;
mod hidden_symbols;
mod indexing;
mod members;
mod path_modules;
pub(crate) mod rows;
pub(crate) mod shell;
mod small_replies;
mod spelled;
mod template_uses;
mod unasked;

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::cli::outcome;
use crate::mcp::replace;
use crate::nvim::ask::step;
use crate::support::mcp::{McpClient, behind_a_broken_crate};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::servers::{language_tools, tool};
use rows::{ROWS, Row};

const REQUEST: &str = "total is one too much";

fn project(row: &Row) -> Project {
    let project = Project::new(row.files);
    configure(&project, row.commands);
    project
}

/// Writes the user's configuration.
pub(crate) fn configure(project: &Project, text: &str) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

/// The folder with the server of a row.
fn servers(row: &Row) -> String {
    if row.provider == "cargo" {
        tool("cargo");
    }
    let program = if row.server.is_empty() { "vtsls" } else { row.server };
    language_tools(program).display().to_string()
}

fn sextant(project: &Project, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.args(arguments).current_dir(project.root());
    command.env("XDG_CONFIG_HOME", project.beside("config")).env("XDG_STATE_HOME", project.state_home());
    tokio::task::block_in_place(|| command.output()).expect("the binary")
}

/// Asks at the symbol of a row, with a model that answers so.
async fn ask(project: &Project, row: &Row, request: &str, style: &str, replies: Vec<Reply>) -> (Value, Vec<String>) {
    let server = ModelServer::start(replies).await;
    let model = "provider = \"openai_compatible\"\nmodel = \"m\"\ncontext = 8192\nmax_attempts = 1";
    let url = server.url();
    configure(project, &format!("{}[model]\n{model}\nstyle = \"{style}\"\nbase_url = \"{url}\"\n", row.commands));
    let (folder, place) = (servers(row), format!("{}:{}", row.file, row.line));
    let given = ["ask", request, "--file", &place, "--json", "--timeout-ms", "120000", "--servers", &folder];
    let output = sextant(project, &given);
    let asked = server.requests().iter().map(|request| request.body.to_string()).collect();
    (outcome(&output)["outcome"].clone(), asked)
}

fn edit(row: &Row, edit: (&str, &str), proceed: bool) -> Reply {
    step("edit_file", replace(row.file, edit.0, edit.1), proceed)
}

fn undone(project: &Project, row: &Row, before: &str) {
    let output = sextant(project, &["undo"]);
    assert!(output.status.success(), "{}: {}", row.name, String::from_utf8_lossy(&output.stderr));
    assert_eq!(project.read(row.file), before, "{}", row.name);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_outside_of_the_symbol_in_scope_is_refused_in_each_language() {
    for row in ROWS {
        let project = project(row);
        let before = project.read(row.file);
        let replies = vec![edit(row, row.outside, true), edit(row, row.inside, false)];
        let (outcome, asked) = ask(&project, row, REQUEST, "step", replies).await;
        assert!(asked[1].contains("outside its scope"), "{}: {}", row.name, asked[1]);
        assert!(asked[0].contains(row.symbol), "{}: {}", row.name, asked[0]);
        assert_eq!(project.read(row.file), before.replace(row.inside.0, row.inside.1), "{}: {outcome}", row.name);
        assert_eq!(outcome["new_diagnostics"], json!([]), "{}: {outcome}", row.name);
        undone(&project, row, &before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_answered_with_exactly_what_it_brings_in_each_language() {
    for row in ROWS {
        let project = project(row);
        let before = project.read(row.file);
        let mut client =
            McpClient::open(&project, "codex", &["--servers", &servers(row), "--timeout-ms", "120000"]).await;
        let sound = client.edit("edit_file", replace(row.file, row.outside.0, row.outside.1)).await;
        assert_eq!(sound["new_diagnostics"], json!([]), "{}: {sound}", row.name);
        // Where nothing but the syntax is checked, an answer is not complete.
        let status = if row.provider == "syntax" { "partial" } else { "complete" };
        assert_eq!(sound["diagnostics_status"], status, "{}: {sound}", row.name);
        let broken = client.edit("edit_file", replace(row.file, row.broken.0, row.broken.1)).await;
        assert_eq!(broken["diagnostics_status"], status, "{}: {broken}", row.name);
        let new = broken["new_diagnostics"].as_array().expect("a list");
        let is_it = |one: &Value| one.to_string().to_lowercase().contains(row.diagnostic);
        assert!(new.len() == 1 && is_it(&new[0]), "{}: {broken}", row.name);
        assert!(new[0].to_string().contains(row.provider), "{}: {broken}", row.name);
        let repaired = client.edit("edit_file", replace(row.file, row.broken.1, row.broken.0)).await;
        assert_eq!((&repaired["new_diagnostics"], &repaired["fixed"]), (&json!([]), &json!(1)), "{}", row.name);
        assert!(client.end().await.success());
        undone(&project, row, &before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clippy_and_tsc_are_known_by_name() {
    let rust = ("self.prices.len()", "return self.prices.len();", "clippy::needless_return");
    let typescript = ("sum + price, 1)", "sum + cost, 1)", "2304");
    tool("cargo-clippy");
    let folder = language_tools("vtsls");
    for (name, command, (old, new, code)) in [("rust", "clippy", rust), ("typescript", "tsc", typescript)] {
        let row = ROWS.iter().find(|row| row.name == name).expect("a row");
        let project = Project::new(row.files);
        configure(&project, &format!("commands = [\"{command}\"]\n"));
        let programs = project.beside("programs");
        std::os::unix::fs::symlink(folder.join("../node_modules/.bin/tsc"), programs.join("tsc")).expect("a link");
        let options = ["--servers", &programs.display().to_string(), "--timeout-ms", "120000"];
        let mut client = McpClient::open(&project, "codex", &options).await;
        let broken = client.edit("edit_file", replace(row.file, old, new)).await;
        let found = (&broken["diagnostics_status"], &broken["new_diagnostics"][0]["code"]);
        assert_eq!(found, (&json!("complete"), &json!(code)), "{broken}");
        assert_eq!(broken["new_diagnostics"].as_array().map(Vec::len), Some(1), "{broken}");
        let repaired = client.edit("edit_file", replace(row.file, new, old)).await;
        assert_eq!((&repaired["new_diagnostics"], &repaired["fixed"]), (&json!([]), &json!(1)), "{repaired}");
        assert!(client.end().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crate_behind_a_broken_one_is_not_called_clean() {
    let project = Project::crates();
    tool("cargo");
    configure(&project, "commands = [\"cargo\"]\n");
    let mut client = McpClient::open(&project, "codex", &["--timeout-ms", "120000"]).await;
    behind_a_broken_crate(&mut client).await;
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_only_silences_a_checker_is_refused_in_each_language() {
    for row in ROWS {
        let project = project(row);
        let before = project.read(row.file);
        let replies = vec![edit(row, row.silencing, true), edit(row, row.silencing, false)];
        let (outcome, asked) = ask(&project, row, "fix the errors", "step", replies).await;
        assert!(asked[1].contains("it adds a suppression"), "{}: {}", row.name, asked[1]);
        assert_eq!(project.read(row.file), before, "{}: {outcome}", row.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_model_changes_a_symbol_of_each_language_in_a_fence() {
    for row in ROWS {
        let project = project(row);
        let before = project.read(row.file);
        let fence = |code: &str| Reply::Text(format!("```{}\n{code}```", row.name));
        let unclosed = row.answer.trim_end().rsplit_once('\n').map_or("", |(text, _)| text);
        let replies = vec![fence(unclosed), fence(row.answer)];
        let (outcome, asked) = ask(&project, row, REQUEST, "compact", replies).await;
        let after = before.replace(row.inside.0, row.inside.1);
        assert_eq!(project.read(row.file), after, "{}: {outcome} {asked:#?}", row.name);
        assert_eq!(outcome["ok"], true, "{}: {outcome}", row.name);
        assert_eq!(asked.len(), 2, "{}: {asked:#?}", row.name);
        undone(&project, row, &before);
    }
}
