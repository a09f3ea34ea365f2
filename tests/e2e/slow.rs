//! A plan is the same whether a server is quick or slow; what a server has not answered is never said not to be there.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::servers::{fake_config, slow_runs, slow_tools, tool};

/// The first plan of the README, with every limit of time as a user has it.
fn plan(project: &Project, tools: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["plan", "make this file type-clean", "--file", "src/shop/report.py", "--json", "--servers"])
        .arg(tools)
        .current_dir(project.root())
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .output()
        .expect("the binary")
}

/// What a plan is, without what differs from run to run.
fn steps(output: &Output) -> Value {
    let plan = outcome(output)["outcome"]["plan"].clone();
    let steps = plan["steps"].as_array().expect("steps").iter();
    let steps: Vec<Value> =
        steps.map(|step| json!([step["title"], step["symbols"], step["because"], step["expect"]])).collect();
    json!([plan["title"], plan["reason"], steps])
}

#[test]
fn a_slow_server_makes_the_same_plan() {
    let runs = slow_runs();
    let quick = Project::shop();
    let wanted = steps(&plan(&quick, tool("ruff").parent().expect("a folder")));
    assert!(wanted.to_string().contains("import json"), "{wanted}");
    let mut same = 0;
    for run in 1..=runs {
        let project = Project::shop();
        let output = plan(&project, &slow_tools(&project));
        let (found, said) = (steps(&output), String::from_utf8_lossy(&output.stdout).into_owned());
        assert_eq!(found, wanted, "run {run}: {said}");
        assert!(said.contains("waiting for basedpyright's fixes"), "{said}");
        same += 1;
    }
    println!("the same plan {same} of {runs}");
}

#[test]
fn who_has_not_answered_is_not_said_to_offer_nothing() {
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let script = json!({"log": "log", "on": {
        "textDocument/didOpen": [publish], "textDocument/didChange": [publish],
        "textDocument/codeAction": [{"wait_for": "never"}],
    }});
    let project = Project::new(&[("a.py", "bad\nbad\n")]);
    let server = fake_config(&project.beside("fake"), &script);
    let config = format!(
        "[diagnostics]\nstart_timeout_ms = 3000\n\n[[servers]]\nname = \"fake\"\ncommand = {}\nlanguages = [\"python\"]\npublishes_once = true\n",
        json!(server.command)
    );
    fs::create_dir_all(project.beside("config").join("sextant")).expect("a folder");
    fs::write(project.beside("config/sextant").join("config.toml"), config).expect("a configuration");
    for command in ["plan", "ask"] {
        let output = Command::new(env!("CARGO_BIN_EXE_sextant"))
            .args([command, "fix this", "--file", "a.py", "--json"])
            .current_dir(project.root())
            .env("XDG_CONFIG_HOME", project.beside("config"))
            .env("XDG_STATE_HOME", project.state_home())
            .output()
            .expect("the binary");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains("Not answered: fake has not reported in time the fixes for 2 diagnostics"),
            "{command}: {said} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!said.contains("No fix that may be applied"), "{command}: {said}");
        assert!(said.contains("waiting for fake's fixes"), "{command}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_answers_step_by_step_is_shown_as_much_as_its_context_holds() {
    let body: String = (0..160).map(|number| format!("    value_{number} = {number}\n")).collect();
    let text = format!("def f() -> int:\n{body}    return value_159  # the end\n");
    let project = Project::new(&[("a.py", &text)]);
    let mut shown = Vec::new();
    for context in [8192, 32_768] {
        let end = json!({"action": null, "reasoning": "ok", "continue": false, "confidence": 1, "answer": "ok"});
        let server = ModelServer::start([Reply::Json(end.clone()), Reply::Json(end)]).await;
        let config = format!(
            "[model]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\nstyle = \"step\"\ncontext = {context}\n",
            server.url()
        );
        fs::create_dir_all(project.beside("config").join("sextant")).expect("a folder");
        fs::write(project.beside("config/sextant").join("config.toml"), config).expect("a configuration");
        let asked = ["ask", "what does f return?", "--file", "a.py:2", "--json"];
        tokio::task::block_in_place(|| sextant(&project, &asked));
        let last = server.requests().last().map(|request| request.said_by("user").to_owned()).unwrap_or_default();
        shown.push(last.contains("# the end"));
    }
    assert_eq!(shown, [false, true]);
}
