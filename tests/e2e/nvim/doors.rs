//! Direct requests, questions in the middle of a run and what the analysis makes of a request, in Neovim.

use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def alpha() -> int:\n    return 1\n\n\ndef beta() -> int:\n    return alpha()\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_request_is_answered_without_a_model_and_asks_which_one_is_meant() {
    let project = Project::new(&[("a.py", "x = 1\n"), ("b.py", TEXT), ("c.py", TEXT)]);
    let server = ModelServer::start([]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    let question = nvim.command_until("AgentAsk lee alpha", "SextantQuestion").await;
    assert_eq!(question["options"], json!(["b.py::alpha", "c.py::alpha"]), "{question}");
    nvim.command("AgentAnswer 2").await;
    assert_eq!(nvim.finished().await, "c.py::alpha: 2 lines");
    let answer = nvim.answer().await;
    assert!(answer.contains("? Which alpha?") && answer.contains("  2. c.py::alpha"), "{answer}");
    assert!(answer.contains("def alpha() -> int:\n    return 1\n"), "{answer}");
    nvim.command("AgentAsk switch to supervised").await;
    assert!(nvim.finished().await.contains("supervised"));
    let mode: String = nvim.lua("return require('sextant').given.mode").await;
    assert_eq!(mode, "supervised");
    assert!(server.requests().is_empty(), "no model was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_after_the_answer_and_its_changes_are_in_the_buffer() {
    let project = Project::new(&[("a.py", TEXT), ("new.py", &TEXT.replace("return 1", "return 5"))]);
    let copy = json!({"command": ["cp", "new.py", "a.py"]});
    let edit = change("a.py", "return 5", "return 6");
    let server = ModelServer::start([
        step("run_command", copy, true),
        step("edit_file", edit, true),
        step("run_command", json!({"command": ["touch", "made"]}), true),
        says("done"),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("1").await;
    let question = nvim.command_until("AgentAsk change alpha", "SextantQuestion").await;
    assert_eq!(question["text"], "Run `cp new.py a.py` in the workspace?");
    // Given together, they are taken in their order: the wrong ones are all told before the right one counts.
    nvim.command("for i in range(9, 308) | execute 'AgentAnswer ' . i | endfor | AgentAnswer 1").await;
    let question = nvim.wait("SextantQuestion").await;
    assert_eq!(question["text"], "Run `touch made` in the workspace?");
    nvim.task("AgentAnswer 3").await;
    assert_eq!(nvim.text().await, TEXT.replace("return 1", "return 6"));
    assert!(!project.root().join("made").exists());
    let answer = nvim.answer().await;
    let refused: String = (9..=308).map(|i| format!("… {i} is not an answer (1 to 3)\n")).collect();
    assert!(answer.contains(&refused) && answer.contains("it changed a.py"), "{answer}");
    let told = server.requests()[3].said_by("user").to_owned();
    assert!(told.contains("the user said no to touch made"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_names_is_shown_to_the_model_and_in_the_trace() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "def helper_one() -> int:\n    return 41\n")]);
    let server = ModelServer::start([says("It returns 41.")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("1").await;
    nvim.task("AgentAsk what does helper_one() return?").await;
    let asked = server.requests()[0].said_by("user").to_owned();
    assert!(asked.contains("Source of b.py::helper_one:") && asked.contains("return 41"), "{asked}");
    assert!(asked.contains("May edit: a.py::alpha"), "the scope is the user's: {asked}");
    let said = nvim.answer().await;
    assert!(!said.contains("risk "), "an answer costs and breaks nothing: {said}");
    nvim.task("AgentAsk why?").await;
    nvim.command("AgentTrace").await;
    let shown = "return (vim.wait(60000, function() return vim.api.nvim_buf_get_name(0) == 'sextant://trace' end, 10))";
    assert!(nvim.lua::<bool>(shown).await, "the window is entered");
    let trace = nvim.text().await;
    assert!(trace.contains("a question; it names b.py::helper_one"), "asking why leaves the record: {trace}");
}
