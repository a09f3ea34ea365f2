//! `sextant ask` and `sextant plan` on a folder, as a script would call them.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::tool;

pub fn sextant(project: &Project, arguments: &[&str]) -> Output {
    let tools = tool("ruff").parent().expect("a folder").to_owned();
    tool("basedpyright-langserver");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.args(arguments);
    // The others start no language server and take none of this.
    if matches!(arguments.first(), Some(&("ask" | "plan" | "resume"))) {
        command.args(["--timeout-ms", "60000", "--servers"]).arg(tools);
    }
    command
        .current_dir(project.root())
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .output()
        .expect("the binary")
}

pub fn outcome(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_else(|| panic!("no output: {}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_plan_is_printed_and_run_only_when_approved() {
    let project = Project::shop();
    let before = project.bytes();
    let arguments = ["plan", "make this file type-clean", "--file", "src/shop/inventory.py"];
    let shown = sextant(&project, &arguments);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.success() && text.contains("- [ ] ") && text.contains("Inventory::take"), "{text}");
    assert_eq!(project.bytes(), before);
    let ran = sextant(&project, &[&arguments[..], &["--approve", "--json"]].concat());
    let outcome = outcome(&ran)["outcome"].clone();
    assert!(ran.status.success(), "{outcome}");
    assert_eq!(outcome["fixed"], 4, "{outcome}");
    assert_eq!(outcome["new_diagnostics"], json!([]));
    assert_eq!(outcome["diagnostics_status"], "complete");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_breaks_is_in_the_outcome() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let edit = change("a.py", "return 1", "return missing");
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let url = server.url();
    let arguments =
        ["ask", "break it", "--file", "a.py:2", "--json", "--model", "openai_compatible:m", "--base-url", &url];
    let output = tokio::task::block_in_place(|| sextant(&project, &arguments));
    let outcome = outcome(&output)["outcome"].clone();
    let new = outcome["new_diagnostics"].as_array().expect("a list");
    assert_eq!((new.len(), &new[0]["sources"]), (1, &json!(["lsp:basedpyright", "lsp:ruff"])), "{outcome}");
    assert_eq!(outcome["new_diagnostics"][0]["symbol"], "f");
    assert_eq!(project.read("a.py"), "def f() -> int:\n    return missing\n");
}

#[test]
fn nonsense_on_the_command_line_is_answered_with_the_way_out() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let fails = |arguments: &[&str], wanted: &str| {
        let output = sextant(&project, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(wanted) && said.contains("→"), "{arguments:?}: {said}");
    };
    fails(&["ask", "   ", "--file", "a.py"], "no text");
    fails(&["ask", "fix", "--file", "nowhere.py"], "does not exist");
    fails(&["ask", "fix", "--file", "../a.py"], "outside the workspace");
    fails(&["ask", "fix", "--file", "a.py:9-3"], "no range of lines");
    fails(&["ask", "fix", "--file", "a.py:9"], "a.py has 1 line, and no line 9");
    fails(&["ask", "fix", "--symbol", "a.py::nobody"], "no single symbol nobody");
    fails(&["ask", "fix", "--file", "a.py", "--model", "gpt"], "names no provider");
    fails(&["ask", "fix", "--file", "a.py", "--config", "none.toml"], "cannot be read");
    project.write("notes.md", "# nothing\n");
    fails(&["ask", "fix this", "--file", "notes.md"], "no language server");
}

#[test]
fn the_mode_of_a_plan_is_given_on_the_command_line() {
    let project = Project::shop();
    let arguments = ["plan", "make this file type-clean", "--file", "src/shop/inventory.py", "--mode"];
    let of = |mode: &str| sextant(&project, &[&arguments[..], &[mode, "--json"]].concat());
    for mode in ["planner", "supervised"] {
        let said = String::from_utf8_lossy(&of(mode).stdout).into_owned();
        assert!(said.contains(&format!("\"mode\":\"{mode}\"")), "{said}");
    }
    let refused = of("bold");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("planner") && said.contains("supervised"), "{said}");
}

#[test]
fn a_subcommand_takes_the_options_that_it_uses() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let help = |command: &str| String::from_utf8_lossy(&sextant(&project, &["help", command]).stdout).into_owned();
    let all = ["--model", "--base-url", "--timeout-ms", "--servers", "--answer", "--mode"];
    for (command, used) in
        [("ask", &all[..5]), ("plan", &all), ("resume", &all), ("undo", &[]), ("redo", &[]), ("why", &[])]
    {
        let help = help(command);
        for option in all {
            assert_eq!(help.contains(&format!("{option} ")), used.contains(&option), "{command} {option}:\n{help}");
        }
        assert!(help.contains("--root") && help.contains("--json") && help.contains("--config"), "{help}");
    }
    std::fs::write(project.beside("config/sextant").join("config.toml"), "[model]\nprovider = \"none\"\n")
        .expect("a file");
    let said = String::from_utf8_lossy(&sextant(&project, &["undo"]).stderr).into_owned();
    assert!(said.contains("nothing to undo"), "an undo needs no model: {said}");
}

/// A script's variable without a value names no part of a task.
#[test]
fn an_undo_of_an_empty_target_is_an_error_and_no_undo_of_all() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    for target in ["", "  "] {
        let output = sextant(&project, &["undo", target]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("name `step`, a number or a symbol"), "{target:?}: {said}");
        assert!(!said.contains("nothing to undo"), "{said}");
    }
}

#[test]
fn the_ways_out_are_those_of_a_shell_and_each_is_named_once() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    for (arguments, wanted) in
        [(vec!["undo"], "no change of Sextant's is left\n"), (vec!["stats"], "`sextant ask` does something there\n")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_sextant"))
            .args(&arguments)
            .current_dir(project.root())
            .env("XDG_STATE_HOME", project.state_home())
            .output()
            .expect("the binary");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(wanted), "{said}");
    }
}
