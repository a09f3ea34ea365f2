//! The log of a real run: each line says which task, step, tool and request it belongs to.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::tool;

/// Runs it with a log of everything that Sextant says, and gives that back.
fn logged(project: &Project, arguments: &[&str]) -> Vec<String> {
    let log = project.beside("log").join("sextant.log");
    let folder = tool("ruff").parent().map(Path::to_owned).expect("a folder");
    tool("basedpyright-langserver");
    let output = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(arguments)
        .args(["--timeout-ms", "60000", "--servers"])
        .arg(folder)
        .arg("--log")
        .arg(&log)
        .current_dir(project.root())
        .env("SEXTANT_LOG", "sextant=debug")
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .output()
        .expect("the binary");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&log).expect("a log").permissions());
    assert_eq!(mode & 0o777, 0o600, "it says what the user asks for");
    std::fs::read_to_string(&log).expect("a log").lines().map(str::to_owned).collect()
}

/// The lines that have all of these, in this order.
fn with<'a>(lines: &'a [String], parts: &[&str]) -> Vec<&'a str> {
    let has = |line: &&String| {
        let after =
            |rest: Option<usize>, part: &&str| rest.and_then(|at| Some(at + line[at..].find(part)? + part.len()));
        parts.iter().fold(Some(0), after).is_some()
    };
    lines.iter().filter(has).map(String::as_str).collect()
}

/// The task that a line names.
fn task_of(line: &str) -> &str {
    let (_, rest) = line.split_once("task{id=\"").unwrap_or_else(|| panic!("no task: {line}"));
    rest.split('"').next().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_the_log_says_whose_it_is() {
    let project = Project::new(&[("a.py", "import os\n\n\ndef f() -> int:\n    return 1\n")]);
    let edit = change("a.py", "return 1", "return 2");
    let server =
        ModelServer::start([step("read_symbol", json!({"symbol": "a.py::f"}), true), step("edit_file", edit, false)])
            .await;
    let url = server.url();
    let arguments = ["ask", "return two", "--file", "a.py:5", "--model", "openai_compatible:m", "--base-url", &url];
    let lines = tokio::task::block_in_place(|| logged(&project, &arguments));
    let of_simple = ["task{id=", "mode=simple}"];
    let tools = [("1", "read_symbol"), ("2", "edit_file")].map(|(number, name)| {
        let (step, tool) = (format!("step{{number={number}}}"), format!("tool{{name={name:?}}}"));
        let found = with(&lines, &[&of_simple[..], &[&step, &tool, "ok=true"]].concat());
        assert_eq!(found.len(), 1, "{step} {tool}: {lines:#?}");
        task_of(found[0]).to_owned()
    });
    assert!(!tools[0].is_empty() && tools[0] == tools[1], "{tools:?}");
    // The edit's own questions are asked by tasks of the runtime of their own.
    for name in ["basedpyright", "ruff"] {
        let request = format!("lsp_request{{server=\"{name}\" method=\"textDocument/diagnostic\" id=");
        let before = with(&lines, &[&of_simple[..], &[&request]].concat());
        assert!(!before.is_empty(), "{name} before: {lines:#?}");
        let after = with(&lines, &[&of_simple[..], &["step{number=2}", "tool{name=\"edit_file\"}", &request]].concat());
        assert!(!after.is_empty(), "{name} after the edit: {lines:#?}");
        assert!(before.iter().chain(&after).all(|line| task_of(line) == tools[0]), "{before:?} {after:?}");
    }
}

#[test]
fn the_steps_of_a_plan_stand_over_their_own() {
    let project = Project::shop();
    let arguments = ["plan", "make this file type-clean", "--file", "src/shop/inventory.py", "--approve"];
    let lines = logged(&project, &arguments);
    let first = ["task{id=", "mode=planner}", "plan_step{number=1}", "step{number=1}", "tool{name=\"apply_fix\"}"];
    let of_first = with(&lines, &first);
    assert!(!of_first.is_empty(), "{lines:#?}");
    let second = with(&lines, &["task{id=", "mode=planner}", "plan_step{number=2}", "step{number=1}"]);
    assert!(!second.is_empty(), "{lines:#?}");
    assert_eq!(task_of(of_first[0]), task_of(second[0]));
    let twice = lines.iter().find(|line| line.matches("mode=").count() > 1);
    assert_eq!(twice, None, "a line of one task names it once");
}
