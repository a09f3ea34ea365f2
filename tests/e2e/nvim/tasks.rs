//! The five tasks of `make tasks` in a real Neovim, in planner mode: plan, edits, evaluation, rollback.

use std::process::Command;

use serde_json::Value;

use crate::nvim::ask::{BOTH, options};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::tasks::harness;

fn task(name: &str) -> Value {
    let (said, ok) = harness(&["--spell-out"]);
    let all: Vec<Value> = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{ok}, {error}: {said}"));
    all.into_iter().find(|task| task["name"] == name).unwrap_or_else(|| panic!("no task {name}"))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// A copy of the task's project with what is wrong planted in it.
fn planted(task: &Value) -> Project {
    let project = Project::copy_of(&format!("tests/tasks/projects/{}", text(&task["project"])));
    for plant in list(&task["plants"]) {
        let (file, old, new) = (text(&plant[0]), text(&plant[1]), text(&plant[2]));
        let before = project.read(file);
        assert_eq!(before.matches(old).count(), 1, "{old:?} in {file}");
        project.write(file, &before.replace(old, new));
    }
    for (file, content) in task["files"].as_object().expect("files") {
        project.write(file, text(content));
    }
    project
}

fn tests_pass(project: &Project) -> Result<(), String> {
    let ran = Command::new("python3")
        .args(["-B", "-m", "unittest", "discover", "-q", "-s", "tests", "-t", "."])
        .current_dir(project.root())
        .output()
        .expect("python3");
    if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
}

/// Files that are different now, relative to the root.
fn changed(project: &Project, before: &[(std::path::PathBuf, Vec<u8>)]) -> Vec<String> {
    let now = project.bytes();
    assert_eq!(now.len(), before.len(), "no file came or went");
    let pairs = now.iter().zip(before).filter(|(now, before)| now != before);
    pairs.map(|((path, _), _)| path.strip_prefix(project.root()).expect("inside").display().to_string()).collect()
}

async fn carried_out(name: &str) {
    let task = task(name);
    let project = planted(&task);
    let before = project.bytes();
    let server = ModelServer::start(list(&task["replies"]).iter().cloned().map(Reply::Json)).await;
    let mut nvim = Nvim::open(&project, &options(&server), BOTH, "toolshed/report.py").await;
    nvim.command_until(&format!("AgentPlan! {}", text(&task["text"])), "SextantPlan").await;
    assert_eq!(project.bytes(), before, "a plan changes nothing");
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    let steps = &task["steps"];
    assert!(
        summary.contains(&format!("{steps} of {steps} step{} done", if steps == 1 { "" } else { "s" })),
        "{summary}"
    );
    assert!(summary.contains("0 new diagnostics"), "{summary}");

    let aim = &task["aim"];
    assert_eq!(changed(&project, &before), list(&aim["changes"]).iter().map(text).collect::<Vec<_>>());
    tests_pass(&project).unwrap_or_else(|why| panic!("{name}: {why}"));
    for pair in list(&aim["has"]) {
        assert!(project.read(text(&pair[0])).contains(text(&pair[1])), "{pair}");
    }
    for pair in list(&aim["lacks"]) {
        assert!(!project.read(text(&pair[0])).contains(text(&pair[1])), "{pair}");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), list(&task["replies"]).len(), "the script is at its end");
    for told in list(&task["told"]) {
        let asked = requests[told["request"].as_u64().expect("a number") as usize].said_by("user");
        for part in list(&told["parts"]) {
            assert!(asked.contains(text(part)), "the model was not told {part}: {asked}");
        }
    }

    nvim.task("AgentUndo").await;
    assert_eq!(project.bytes(), before, "the whole of it is rolled back byte for byte");
}

#[tokio::test(flavor = "multi_thread")]
async fn type_errors_are_fixed_and_rolled_back() {
    carried_out("fix type errors").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_across_files_is_carried_out_and_rolled_back() {
    carried_out("rename across files").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_is_extracted_and_put_back() {
    carried_out("extract a function").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_is_added_with_its_callers_and_taken_out_again() {
    carried_out("add a parameter").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_is_moved_to_another_file_and_back() {
    carried_out("move a function").await;
}
