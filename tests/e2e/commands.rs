//! Commands as providers with the real ruff, and what a task says of them.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::base::deadline::Deadline;
use sextant::diagnostics::command::CommandProvider;
use sextant::diagnostics::command::command_config::{CommandConfig, CommandSpec};
use sextant::diagnostics::model::{DiagnosticsProvider, FileText, Freshness, Report, Severity};
use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{Diagnostics, Documents};

use crate::cli::{outcome, sextant};
use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{PATIENCE_MS, tool};

/// Two UTF-16 units and one code point stand before the name.
const TEXT: &str = "import os\n\n\ndef f() -> str:\n    return \"😀\" + missing\n";

fn ruff(saved: bool) -> CommandConfig {
    let mut config = CommandSpec::Named("ruff".into()).config().expect("a built-in command");
    if saved {
        config.needs_saved = true;
        config.command.truncate(config.command.len() - 3);
        config.command.push("{file}".into());
    }
    config
}

async fn ask(project: &Project, config: CommandConfig, text: &str) -> Report {
    let folder: PathBuf = tool("ruff").parent().expect("a folder").to_owned();
    let provider = CommandProvider::new(config, project.root(), &[folder]).expect("a usable command");
    let file = FileText { path: "a.py".into(), text: text.into() };
    let mut reports = provider.fetch(&[file], Deadline::after_ms(PATIENCE_MS)).await;
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

fn places(report: &Report) -> Vec<(&str, u32, u32, u32, Severity)> {
    let place = |d: &'_ sextant::diagnostics::model::Diagnostic| d.location.range().expect("a range");
    report
        .diagnostics
        .iter()
        .map(|d| {
            (
                d.code.as_deref().unwrap_or(""),
                place(d).start.line,
                place(d).start.character,
                place(d).end.character,
                d.severity,
            )
        })
        .collect()
}

#[tokio::test]
async fn ruff_answers_for_a_text_that_is_nowhere_saved() {
    let project = Project::new(&[("a.py", "other = 1\n")]);
    let report = ask(&project, ruff(false), TEXT).await;
    assert_eq!((report.freshness, report.provider.as_str()), (Freshness::Exact, "tool:ruff"), "{report:?}");
    assert_eq!(places(&report), [("F401", 0, 7, 9, Severity::Warning), ("F821", 4, 18, 25, Severity::Error)]);
    let words: Vec<_> = report.diagnostics.iter().map(|said| said.suggested_action.as_deref()).collect();
    assert_eq!(words, [Some("Remove unused import: `os`"), None]);
    let clean = ask(&project, ruff(false), "x = 1\n").await;
    assert_eq!((clean.freshness, clean.diagnostics.len()), (Freshness::Exact, 0));
    let broken = ask(&project, ruff(false), "def f(:\n").await;
    assert!(broken.diagnostics.iter().any(|d| d.severity == Severity::Error), "{broken:?}");
}

#[tokio::test]
async fn ruff_on_the_disk_answers_for_the_saved_text_alone() {
    let project = Project::new(&[("a.py", TEXT)]);
    let report = ask(&project, ruff(true), TEXT).await;
    assert_eq!((report.freshness, places(&report).len()), (Freshness::Exact, 2), "{report:?}");
    let unsaved = ask(&project, ruff(true), "x = 1\n").await;
    assert_eq!((unsaved.freshness, unsaved.diagnostics.len()), (Freshness::Unavailable, 0));
    assert!(unsaved.note.is_some_and(|note| note.contains("saved files only")));
    let mut wrong = ruff(true);
    wrong.command.insert(2, "--no-such-option".into());
    let report = ask(&project, wrong, TEXT).await;
    assert_eq!(report.freshness, Freshness::Unavailable);
    assert!(report.note.is_some_and(|note| note.contains("exit status 2")));
}

/// Runs one edit with a configuration file and gives back the outcome.
async fn run(project: &Project, config: &str, file: &str, edit: Value) -> Value {
    let path = project.beside("settings").join("config.toml");
    std::fs::write(&path, config).expect("a file");
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let (url, path) = (server.url(), path.display().to_string());
    let arguments = [
        "ask",
        "break it",
        "--file",
        file,
        "--json",
        "--config",
        &path,
        "--model",
        "openai_compatible:m",
        "--base-url",
        &url,
    ];
    let output = tokio::task::block_in_place(|| sextant(project, &arguments));
    outcome(&output)["outcome"].clone()
}

fn entries<'o>(outcome: &'o Value, effect: &str) -> Vec<&'o Value> {
    outcome["trace"].as_array().expect("a trace").iter().filter(|entry| entry["effect"] == effect).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_servers_the_syntax_is_all_that_is_known_and_that_is_said() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let edit = change("a.py", "return 1", "return (1");
    let config = "servers = []\n[diagnostics]\nnew_errors = \"keep\"\n";
    let outcome = run(&project, config, "a.py:2", edit).await;
    assert_eq!(outcome["diagnostics_status"], "partial", "{outcome}");
    assert_eq!(outcome["pending"], json!(["all but the syntax (a.py)"]));
    let summary = outcome["summary"].as_str().expect("a summary");
    assert!(summary.contains("1 new diagnostic so far, not known: all but the syntax (a.py)"), "{summary}");
    assert!(summary.contains("No server and no command checks a.py: the health check (`sextant doctor`"), "{summary}");
    let new = outcome["new_diagnostics"].as_array().expect("a list");
    assert_eq!((new.len(), &new[0]["source"]), (1, &json!("analyzer:syntax")), "{outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_command_is_compared_like_a_server_and_agreement_is_traced() {
    let project = Project::new(&[("a.py", "def f() -> str:\n    return gone\n")]);
    let edit = change("a.py", "return gone", "return gone + missing");
    let config = "commands = [\"ruff\"]\n";
    let outcome = run(&project, config, "a.py:2", edit).await;
    assert_eq!(outcome["diagnostics_status"], "complete", "{outcome}");
    let new = outcome["new_diagnostics"].as_array().expect("a list");
    assert_eq!((new.len(), outcome["unchanged"].as_u64()), (1, Some(1)), "three say so of each place: {outcome}");
    assert_eq!(new[0]["sources"], json!(["lsp:basedpyright", "lsp:ruff", "tool:ruff"]), "{outcome}");
    assert_eq!(new[0]["confidence"], "high");
    let mut merged = entries(&outcome, "merged");
    // The new error is held against the end of the task, and weighed once more then.
    merged.retain(|entry| entry["step"] == 1);
    assert_eq!(merged.len(), 1, "three said so of one place: {outcome}");
    assert!(merged[0]["about"].as_str().is_some_and(|about| about.contains("basedpyright and ruff in a.py::f")));
    let kept = entries(&outcome, "kept");
    assert!(
        kept[0]["reason"].as_str().is_some_and(|claim| claim.contains("report ") && claim.contains("confidence high"))
    );
    let acted = entries(&outcome, "acted");
    assert!(acted[0]["about"] == "edit_file a.py" && acted[0]["step"] == 1, "{outcome}");
}

#[tokio::test]
async fn without_an_editor_a_slow_command_is_told_late_as_well() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let gate = project.beside("gate").join("go");
    let script = format!("while [ ! -e '{}' ]; do sleep 0.02; done; echo 'a.py:1: late word'", gate.display());
    let config = json!({
        "name": "slow",
        "command": ["/bin/sh", "-c", script],
        "format": {"regex": ["^(?P<file>[^:]+):(?P<line>\\d+): (?P<message>.*)$"]},
    });
    let config: CommandConfig = serde_json::from_value(config).expect("a command");
    let provider = CommandProvider::new(config, project.root(), &[]).expect("a usable command");
    let (events, _queue) = tokio::sync::mpsc::unbounded_channel();
    let editor = HeadlessEditor::new(project.root(), Vec::new(), events).expect("a folder");
    let editor = editor.with_commands(vec![provider]);
    let mut news = editor.late_news();
    let reports = editor.diagnostics(&["a.py".to_owned()], &[], Deadline::after_ms(100)).await;
    assert_eq!((reports.len(), reports[0].freshness), (1, Freshness::Timeout), "{reports:?}");
    std::fs::write(gate, "").expect("a signal");
    let come = tokio::time::timeout(Duration::from_millis(PATIENCE_MS), news.changed()).await;
    come.expect("a late answer").expect("the editor is there");
    let late = editor.late().await;
    let version = editor.read("a.py").await.expect("a file").version;
    assert_eq!((late.len(), late[0].freshness, late[0].version), (1, Freshness::Exact, Some(version)), "{late:?}");
    assert_eq!(late[0].diagnostics[0].message, "late word");
    assert!(editor.late().await.is_empty(), "once");
}
