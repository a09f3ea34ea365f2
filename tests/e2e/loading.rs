//! Files that only an edit, or a task, brings into view: what is new in them is told apart from what was there before.

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const LIB: &str = "def helper() -> int:\n    return 1\n";
/// With an error of its own, in `old`.
const USER: &str =
    "from lib import helper\n\n\ndef use() -> int:\n    return helper()\n\n\ndef old() -> int:\n    return gone\n";

fn project() -> Project {
    Project::new(&[("lib.py", LIB), ("user.py", USER)])
}

fn edit(path: &str, old: &str, new: &str) -> Reply {
    step("edit_file", change(path, old, new), true)
}

fn deferred(path: &str, old: &str, new: &str) -> Reply {
    let edit = json!({"path": path, "old_string": old, "new_string": new, "diagnostics": "defer"});
    step("edit_file", edit, true)
}

fn read(path: &str) -> Reply {
    step("read_file", json!({"path": path}), true)
}

/// What the model was told of its last action at each question, and the summary.
struct Told {
    questions: Vec<String>,
    summary: String,
}

fn told(server: &ModelServer, summary: String) -> Told {
    let last = |said: &str| said.rsplit_once("Result of ").map_or("", |(_, last)| last).to_owned();
    let questions = server.requests().iter().map(|request| last(request.said_by("user"))).collect();
    Told { questions, summary }
}

/// In Neovim, with `lib.py` open and nothing else.
async fn in_neovim(project: &Project, script: Vec<Reply>) -> Told {
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open(project, &options(&server), &["basedpyright"], "lib.py").await;
    let summary = nvim.task("AgentAsk! tidy this up").await;
    told(&server, summary)
}

/// Without an editor, where nothing is loaded before it is asked about.
async fn headless(project: &Project, script: Vec<Reply>) -> Told {
    let server = ModelServer::start(script).await;
    let url = server.url();
    let arguments = ["ask", "tidy this up", "--json", "--model", "openai_compatible:m", "--base-url", &url];
    let output = tokio::task::block_in_place(|| sextant(project, &arguments));
    let outcome: Value = outcome(&output)["outcome"].clone();
    told(&server, outcome["summary"].as_str().unwrap_or_else(|| panic!("{outcome}")).to_owned())
}

fn one_new_in_use(told: &Told) {
    let answer = &told.questions[1];
    assert!(answer.contains("diagnostics: 1 new, 0 fixed, 1 unchanged"), "{answer}");
    assert!(answer.contains("error use:5 reportUndefinedVariable") && !answer.contains("\"gone\""), "{answer}");
    assert!(told.summary.contains("1 new diagnostic, 0 fixed, 1 unchanged"), "{}", told.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_file_that_is_loaded_by_its_edit_only_what_the_edit_brought_is_new() {
    let script = || vec![edit("user.py", "return helper()", "return helper() + missing"), says("done")];
    one_new_in_use(&in_neovim(&project(), script()).await);
    one_new_in_use(&headless(&project(), script()).await);
}

fn doubted(told: &Told) {
    let last = &told.questions[3];
    assert!(last.contains("diagnostics: 1 new, 0 fixed, 2 unchanged"), "the edit's own answer: {last}");
    let summary = &told.summary;
    // The workspace was looked at before the first edit: what that one broke in the other file is known too.
    assert!(summary.contains("2 new diagnostics, 0 fixed"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_finds_in_a_file_after_its_first_edit_is_not_called_old() {
    let script = || {
        vec![
            edit("lib.py", "def helper", "def assist"),
            read("user.py"),
            edit("user.py", "return helper()", "return helper() + missing"),
            says("done"),
        ]
    };
    doubted(&in_neovim(&project(), script()).await);
    doubted(&headless(&project(), script()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_file_that_comes_into_view_late_casts_no_doubt() {
    let project = Project::new(&[("lib.py", LIB), ("user.py", "def use() -> int:\n    return 1\n")]);
    let script = vec![
        edit("lib.py", "return 1", "return 2"),
        read("user.py"),
        edit("user.py", "return 1", "return missing"),
        says("done"),
    ];
    let told = headless(&project, script).await;
    assert!(told.summary.contains("1 new diagnostic, 0 fixed, 0 unchanged"), "{}", told.summary);
}

fn burst_is_whole(told: &Told) {
    let answer = &told.questions[2];
    assert!(answer.contains("lib.py::helper:2 reportUndefinedVariable"), "of the edit before: {answer}");
    assert!(
        answer.contains("error user.py::use:5 reportUndefinedVariable") && !answer.contains("\"gone\""),
        "{answer}"
    );
    assert!(!answer.contains("first looked at"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edit_that_ends_a_burst_tells_what_all_of_it_brought_in_every_file() {
    let script = || {
        vec![
            deferred("lib.py", "return 1", "return absent"),
            edit("user.py", "return helper()", "return helper() + missing"),
            says("done"),
        ]
    };
    burst_is_whole(&in_neovim(&project(), script()).await);
    burst_is_whole(&headless(&project(), script()).await);
}

fn created_is_new(told: &Told) {
    let answer = &told.questions[1];
    assert!(answer.contains("1 new") && answer.contains("error make:2 reportUndefinedVariable"), "{answer}");
    assert!(told.summary.contains("1 new diagnostic, 0 fixed"), "{}", told.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_file_that_the_edit_creates_everything_is_new() {
    let content = "def make() -> int:\n    return missing\n";
    let script = || vec![step("write_file", json!({"path": "fresh.py", "content": content}), true), says("done")];
    created_is_new(&in_neovim(&project(), script()).await);
    created_is_new(&headless(&project(), script()).await);
}
