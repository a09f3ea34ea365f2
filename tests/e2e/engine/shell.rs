//! The same at the command line: answers given beforehand, secrets kept back, prompts shown and replaced.

use std::process::{Command, Output};

use serde_json::json;

use crate::engine::{TEXT, project};
use crate::nvim::ask::step;
use crate::support::model_server::ModelServer;
use crate::support::project::Project;
use crate::support::replies::says;

fn sextant(project: &Project, arguments: &[&str]) -> Output {
    tokio::task::block_in_place(|| {
        Command::new(env!("CARGO_BIN_EXE_sextant"))
            .args(arguments)
            .current_dir(project.root())
            .env("XDG_CONFIG_HOME", project.beside("config"))
            .env("XDG_STATE_HOME", project.state_home())
            .env("SHOP_API_KEY", "sk-4711")
            .env("SHOP_PLAIN", "plain-4712")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the binary")
    })
}

fn configured(project: &Project, text: &str) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), format!("servers = []\n{text}")).expect("a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_asked_about_whatever_was_answered_before_and_sees_no_secrets() {
    let project = project();
    configured(&project, "commands_allowed = [\"printenv\"]\ncommands_env = [\"SHOP_PLAIN\"]\n");
    let run = |words: &[&str]| step("run_command", json!({"command": words}), true);
    let server = ModelServer::start([
        run(&["printenv", "SHOP_PLAIN"]),
        run(&["printenv", "SHOP_API_KEY"]),
        run(&["touch", "one"]),
        run(&["touch", "two"]),
        says("ok"),
    ])
    .await;
    let url = server.url();
    let arguments = ["ask", "try it", "--file", "a.py", "--answer", "1", "--answer", "3"];
    let output = sextant(&project, &[&arguments[..], &["--model", "openai_compatible:m", "--base-url", &url]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("plain-4712") && !text.contains("sk-4711"), "{text}");
    assert!(text.contains("? Run `touch one` in the workspace?"), "{text}");
    let risk = "risk medium (steps: about 3, complexity 0.30, confidence 0.50): 1 whole file may be changed";
    assert!(text.contains(risk), "{text}");
    assert!(!project.root().join("one").exists() && !project.root().join("two").exists(), "{text}");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("run_command"), "the tool is offered");
}

#[tokio::test(flavor = "multi_thread")]
async fn direct_requests_work_without_an_editor() {
    let project = project();
    configured(&project, "");
    let output = sextant(&project, &["ask", "where is g", "--json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("\"summary\":\"a.py::g, line 5\""), "{text}");
    let missing = sextant(&project, &["ask", "read Cart::total"]);
    assert!(!missing.status.success());
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no symbol and no file named Cart::total"));
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_shown_and_replaced_and_bad_ones_refused() {
    let project = Project::new(&[("a.py", TEXT)]);
    configured(&project, "");
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let list = said(&sextant(&project, &["prompts"]));
    assert!(list.contains("step: built in; yours would be ") && list.contains("plan: built in"), "{list}");
    assert!(said(&sextant(&project, &["prompts", "step"])).starts_with("You are Sextant"));
    let unknown = sextant(&project, &["prompts", "rm"]);
    assert!(!unknown.status.success() && String::from_utf8_lossy(&unknown.stderr).contains("there are step, plan"));

    let own = project.beside("config").join("sextant/prompts");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::write(own.join("step.txt"), "Be a poet. Tools: {tools}. Data: {data}. Answer in JSON.").expect("a file");
    let server = ModelServer::start([says("ok")]).await;
    let url = server.url();
    let ask = ["ask", "explain it", "--file", "a.py", "--model", "openai_compatible:m", "--base-url", &url];
    let output = sextant(&project, &ask);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(server.requests()[0].said_by("system").starts_with("Be a poet. Tools: read_file(path"));
    assert!(said(&sextant(&project, &["prompts"])).contains("step: yours, "));

    std::fs::write(own.join("step.txt"), "").expect("a file");
    let refused = sextant(&project, &ask);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && why.contains("step.txt cannot be used: it is empty"), "{why}");
}
