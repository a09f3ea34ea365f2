//! What nobody has read is nobody's word: a plan that is approved unseen, an answer that was given before its question.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::cli::sextant;
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};

fn write(path: &str) -> Reply {
    step("write_file", json!({"path": path, "content": "X = 'trap'\n"}), true)
}

fn plan(path: &str) -> Reply {
    Reply::Json(json!({"title": "Set up", "reason": "asked", "confidence": 1, "steps": [
        {"title": format!("Write {path}"), "kind": "edit", "symbols": [path], "because": "asked", "with": [], "after": [],
         "creates": [path], "expect": "it is there", "check": [], "fallback": ""},
    ]}))
}

fn run(project: &Project, arguments: &[&str], server: &ModelServer) -> (Output, String) {
    let url = server.url();
    let more = ["--model", "openai_compatible:m", "--base-url", &url];
    let output = tokio::task::block_in_place(|| sextant(project, &[arguments, &more].concat()));
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    (output, String::from_utf8_lossy(&said).into_owned())
}

fn configured(project: &Project) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "servers = []\n").expect("a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_approved_unseen_writes_no_file_that_runs() {
    for path in ["sitecustomize.py", ".nvim.lua", ".vscode/tasks.json", "tools/Makefile", ".github/workflows/ci.yml"] {
        let script = || [plan(path), write(path), says("ok"), write(path), says("ok"), says("ok")];
        let project = Project::new(&[("a.py", "x = 1\n")]);
        configured(&project);
        let made = || project.root().join(path).exists();
        let (_, said) =
            run(&project, &["plan", "set the project up", "--approve"], &ModelServer::start(script()).await);
        assert!(!made() && said.contains(path), "{path}: {said}");
        let answered = ["plan", "set the project up", "--approve", "--answer", "1", "--answer", "1"];
        let (_, said) = run(&project, &answered, &ModelServer::start(script()).await);
        assert!(!made(), "a number is no consent to a file that runs: {path}: {said}");
        let allowed = ["plan", "set the project up", "--approve", "--allow-file", path];
        let (_, said) = run(&project, &allowed, &ModelServer::start(script()).await);
        assert!(made(), "{path}: {said}");
    }
    // Symbols and ordinary files are what a plan is approved for.
    let project = Project::new(&[("a.py", "x = 1\n")]);
    configured(&project);
    let server = ModelServer::start([plan("plain.py"), write("plain.py"), says("ok")]).await;
    let (_, said) = run(&project, &["plan", "set the project up", "--approve"], &server);
    assert!(project.root().join("plain.py").exists(), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_given_beforehand_runs_no_command_and_says_what_does() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    configured(&project);
    let touch = || step("run_command", json!({"command": ["touch", "made"]}), true);
    let server = ModelServer::start([touch(), says("ok")]).await;
    let (_, said) = run(&project, &["ask", "try it", "--answer", "1"], &server);
    assert!(!project.root().join("made").exists(), "a number is no consent to a command: {said}");
    let server = ModelServer::start([touch(), says("ok")]).await;
    let (_, said) = run(&project, &["ask", "try it", "--answer", "1", "--answer", "ask=1"], &server);
    assert!(!project.root().join("made").exists(), "{said}");
    let told = server.requests().last().expect("requests").body.to_string();
    assert!(told.contains("commands_allowed"), "the way out is there: {told}");
    for wrong in ["command=1", "file=1", "0", "often"] {
        let (output, said) = run(&project, &["ask", "try it", "--answer", wrong], &server);
        assert!(!output.status.success() && said.contains("--answer"), "{wrong}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_an_earlier_run_writes_no_file_that_runs_without_a_word() {
    let project = Project::new(&[("Makefile", "all:\n\techo one\n"), ("a.py", "x = 1\n")]);
    configured(&project);
    let edit = || step("edit_file", change("Makefile", "one", "two"), true);
    let server = ModelServer::start([edit(), says("ok")]).await;
    let (_, said) = run(&project, &["ask", "echo two in Makefile"], &server);
    let made = || project.read("Makefile").contains("two");
    assert!(made(), "the request names the file: {said}");
    let shell = |arguments: &[&str]| {
        let output = tokio::task::block_in_place(|| sextant(&project, arguments));
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    for (back, two) in [("undo", false), ("redo", true)] {
        let (ok, said) = shell(&[back]);
        assert!(!ok && made() != two, "{back}: {said}");
        assert!(said.contains("Write Makefile as the record") && said.contains("--allow-file"), "{back}: {said}");
        let said = tokio::task::block_in_place(|| typed(&project, &[back], "2\n"));
        assert!(made() != two && said.contains("Makefile is left as it is"), "{back}: {said}");
        let (ok, said) = shell(&[back, "--allow-file", "Makefile"]);
        assert!(ok && made() == two, "{back}: {said}");
    }
    let said = tokio::task::block_in_place(|| typed(&project, &["undo"], "1\n"));
    assert!(!made() && said.contains("| + \techo one"), "the text is shown before the answer: {said}");
}

/// Runs it in a terminal of its own, at which this is typed.
fn typed(project: &Project, arguments: &[&str], text: &str) -> String {
    let quoted: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let command = format!("'{}' {}", env!("CARGO_BIN_EXE_sextant"), quoted.join(" "));
    let mut terminal = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(project.root())
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, of util-linux");
    let mut keys = terminal.stdin.take().expect("a terminal");
    keys.write_all(text.as_bytes()).expect("keys");
    let output = terminal.wait_with_output().expect("an end");
    drop(keys);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_the_text_that_is_written_and_the_command_are_shown_before_the_answer() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    configured(&project);
    let touch = step("run_command", json!({"command": ["touch", "made file"]}), true);
    let server = ModelServer::start([write("sitecustomize.py"), touch, says("ok")]).await;
    let url = server.url();
    let arguments = ["ask", "set it up", "--model", "openai_compatible:m", "--base-url", &url];
    let said = tokio::task::block_in_place(|| typed(&project, &arguments, "1\n1\n"));
    assert!(said.contains("Change sitecustomize.py?") && said.contains("| + X = 'trap'"), "{said}");
    assert!(said.contains("Run `touch \"made file\"` in the workspace?"), "{said}");
    assert!(project.root().join("sitecustomize.py").exists() && project.root().join("made file").exists(), "{said}");
}
