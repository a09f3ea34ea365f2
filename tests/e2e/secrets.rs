//! What is secret stays where it is: files by name and by content, the environment of commands, ignored files.

use std::process::{Command, Output};

use serde_json::json;

use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;

fn done() -> Reply {
    Reply::Json(json!({"action": null, "reasoning": "done", "continue": false, "confidence": 1, "answer": "done"}))
}

/// Asks with a scripted model and a configuration, in a process with more variables: what it said, and every prompt.
async fn ask(
    project: &Project,
    request: &str,
    more: &[&str],
    settings: &str,
    script: Vec<Reply>,
    variables: &[(&str, &str)],
) -> (Output, Vec<String>) {
    let server = ModelServer::start(script).await;
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    let model = format!("[model]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nbase_url = {:?}\n", server.url());
    std::fs::write(folder.join("config.toml"), format!("servers = []\n{settings}\n{model}")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    command.args(["ask", request, "--json"]).args(more).current_dir(project.root());
    command.env("XDG_CONFIG_HOME", project.beside("config")).envs(variables.iter().copied());
    let output = tokio::task::block_in_place(|| command.output()).expect("the binary");
    let prompts = server.requests().iter().map(|request| request.said_by("user").to_owned()).collect();
    (output, prompts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_given_what_programs_need_and_what_the_user_names() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let variables = [("DATABASE_URL", "postgres://h/db"), ("GH_PAT", "abc"), ("MY_SETTING", "kept"), ("LC_ALL", "C")];
    let run = || vec![step("run_command", json!({"command": ["env"]}), true), done()];
    let settings = "commands_allowed = [\"env\"]";
    let (_, prompts) = ask(&project, "try it", &["--file", "a.py"], settings, run(), &variables).await;
    let last = prompts.last().expect("a prompt");
    assert!(last.contains("exit status 0") && last.contains("PATH=") && last.contains("LC_ALL=C"), "{last}");
    for name in ["DATABASE_URL", "GH_PAT", "MY_SETTING"] {
        assert!(!last.contains(name), "{name}: {last}");
    }
    let settings = "commands_allowed = [\"env\"]\ncommands_env = [\"MY_SETTING\"]";
    let (_, prompts) = ask(&project, "try it", &["--file", "a.py"], settings, run(), &variables).await;
    let last = prompts.last().expect("a prompt");
    assert!(last.contains("MY_SETTING=kept") && !last.contains("GH_PAT"), "{last}");
}
