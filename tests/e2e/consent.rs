//! Where nothing is begun, and what is not taken away without the user's word.

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

const TEXT: &str = "def f() -> int:\n    return gone\n\n\ndef helper() -> int:\n    return 2\n";

/// Runs a request over `a.py` with a scripted model.
async fn ask(project: &Project, request: &str, script: Vec<Reply>) -> Value {
    let server = ModelServer::start(script).await;
    let url = server.url();
    let arguments = ["ask", request, "--file", "a.py", "--json", "--model", "openai_compatible:m", "--base-url", &url];
    let output = tokio::task::block_in_place(|| sextant(project, &arguments));
    outcome(&output)["outcome"].clone()
}

fn delete() -> Reply {
    step("edit_symbol", json!({"symbol": "a.py::helper", "action": "delete", "content": ""}), true)
}

fn traced<'o>(outcome: &'o Value, rule: &str) -> Vec<&'o Value> {
    outcome["trace"].as_array().expect("a trace").iter().filter(|entry| entry["rule"] == rule).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn to_mend_what_is_reported_is_no_word_for_a_deletion_and_to_ask_for_it_is() {
    let project = Project::new(&[("a.py", TEXT)]);
    let kept = ask(&project, "fix the errors", vec![delete(), says("done")]).await;
    assert_eq!(project.read("a.py"), TEXT, "{kept}");
    let asked = traced(&kept, "destructive_asks");
    assert_eq!((asked.len(), &asked[0]["about"]), (1, &json!("deletion of a.py::helper")), "{kept}");
    let gone = ask(&project, "delete helper", vec![delete(), says("done")]).await;
    assert!(!project.read("a.py").contains("helper"), "{gone}");
    project.write("a.py", TEXT);
    let named = ask(&project, "fix the errors, remove helper", vec![delete(), says("done")]).await;
    assert!(!project.read("a.py").contains("helper"), "{named}");
    assert_eq!(traced(&named, "asked_for").len(), 1, "{named}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_the_plan_does_not_say_is_asked_and_the_answer_allows_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    let plan = json!({"title": "Mend", "reason": "asked", "confidence": 1, "steps": [
        {"title": "Mend f with helper", "symbols": ["a.py::f", "a.py::helper"], "because": "reported", "expect": "less"},
    ]});
    let server = ModelServer::start([Reply::Json(plan), delete(), says("done")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command_until("AgentPlan mend f", "SextantPlan").await;
    nvim.keys("<CR>").await;
    let asked = nvim.wait("SextantQuestion").await;
    let text = asked["text"].as_str().unwrap_or_default();
    assert!(text.contains("would delete a.py::helper, which the approved plan does not say"), "{asked}");
    assert!(text.contains("\nWhat it would introduce is not known: "), "{asked}");
    nvim.wait("SextantFinished").await;
    assert_eq!(project.read("a.py"), TEXT);
    server.push(delete());
    server.push(says("done"));
    let summary = nvim.task("AgentAnswer 2").await;
    assert!(!project.read("a.py").contains("helper"), "{summary}");
    assert!(summary.contains("1 of 1 step done"), "{summary}");
}

#[test]
fn too_much_to_weigh_is_said_with_the_figures_and_a_kind_may_be_named() {
    let noisy: String = (0..210).map(|n| format!("print(missing{n})\n")).collect();
    let project = Project::new(&[("a.py", &format!("import os\n{noisy}"))]);
    let stopped = sextant(&project, &["ask", "fix this", "--file", "a.py"]);
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(!stopped.status.success(), "{said}");
    assert!(said.contains("nothing was begun: a.py has 212 diagnostics: too many to weigh"), "{said}");
    assert!(said.contains("undefined name (210), I001 (1), unused import (1)"), "the way out: {said}");
    let named = sextant(&project, &["ask", "fix the unused imports", "--file", "a.py"]);
    assert!(named.status.success(), "{}", String::from_utf8_lossy(&named.stderr));
    assert!(!project.read("a.py").contains("import os"), "what was named is looked at first");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_new_ones_are_summed_up_by_theme() {
    let project = Project::new(&[("a.py", "def f() -> None:\n    return None\n")]);
    let body: String = (0..7).map(|n| format!("    print(missing{n})\n")).collect();
    let edit = change("a.py", "    return None\n", body);
    let outcome = ask(&project, "break it", vec![step("edit_file", edit, false)]).await;
    let summary = outcome["summary"].as_str().unwrap_or_default();
    assert!(
        summary.contains("7 new diagnostics") && summary.ends_with("\n  undefined name: 7 errors (a.py::f)"),
        "{outcome}"
    );
}
