//! One verdict on a piece of work: exit status, data and statistics agree for requests and plans, and `done` beside an
//! edit costs no further answer.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};
use crate::support::scripted::{Scripted, calls, publish, said};

const FILES: &[(&str, &str)] =
    &[("a.py", "def f() -> int:\n    return 1\n"), ("b.py", "def h() -> int:\n    return 1\n")];

fn replace(path: &str, new: &str) -> Value {
    change(path, "return 1", new)
}

fn plan(symbol: &str) -> Reply {
    let step = json!({"title": "change it", "symbols": [symbol], "because": "asked", "expect": "changed"});
    Reply::Json(json!({"title": "Change", "reason": "asked", "steps": [step], "confidence": 1}))
}

fn end() -> Reply {
    says("done")
}

/// The exit status, whether the data call it done, and the line of the statistics that counts it.
async fn judged(script: Vec<Reply>, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let (project, model) = (Project::new(FILES), ModelServer::start(script).await);
    let url = model.url();
    let arguments = [arguments, &["--json", "--model", "openai_compatible:m", "--base-url", &url]].concat();
    let run = |arguments: &[&str]| tokio::task::block_in_place(|| sextant(&project, arguments));
    let output = run(&arguments);
    let ended = outcome(&output)["outcome"].clone();
    let new = ended["new_diagnostics"].as_array().map(Vec::len);
    assert_eq!((new, &ended["diagnostics_status"]), (Some(1), &json!("complete")), "{}", said(&output));
    let stats = said(&run(&["stats"]));
    let success = stats.lines().find(|line| line.contains("success")).unwrap_or_default();
    (output.status.code(), ended["ok"].clone(), success.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_and_a_request_that_leave_the_same_error_are_judged_alike_by_everybody() {
    let bad = || step("edit_file", replace("a.py", "return bad"), false);
    // The second plan takes the place of the step that failed, and is done.
    let other = step("edit_file", replace("b.py", "return 2"), false);
    let planned = vec![plan("a.py::f"), bad(), plan("b.py::h"), other, end(), end()];
    let request = ["ask", "change f", "--file", "a.py:2"];
    let approved = ["plan", "change f and h", "--approve", "--mode", "planner"];
    for (script, arguments) in [(vec![bad(), end()], &request[..]), (planned, &approved)] {
        let (status, ok, success) = judged(script, arguments).await;
        assert_eq!((status, ok), (Some(1), json!(false)), "{arguments:?}");
        assert!(success.contains("0 %"), "{arguments:?}: {success}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_stands_whose_server_says_no_more_of_its_file_behind_another_edit() {
    let edit = |path: &str, new: &str| step("edit_file", replace(path, new), true);
    let script = vec![edit("a.py", "return bad"), edit("b.py", "return 2"), end()];
    let scripted = Scripted::new(FILES, "step", json!([publish()]), 1000, script).await;
    let output = scripted.run(&["ask", "change f and h", "--json"]);
    let ended = outcome(&output)["outcome"].clone();
    assert_eq!((output.status.code(), &ended["ok"]), (Some(1), &json!(false)), "{}", said(&output));
    assert_eq!(ended["new_diagnostics"][0]["code"], "bad", "{ended}");
    assert_eq!(ended["diagnostics_status"], "partial", "{ended}");
    assert!(ended["pending"].to_string().contains("fake (a.py)"), "{ended}");
}

fn done() -> (&'static str, Value) {
    ("done", json!({"answer": "Finished."}))
}

#[tokio::test(flavor = "multi_thread")]
async fn done_in_the_answer_with_the_edit_costs_no_second_answer() {
    let both = calls("", &[("edit_file", replace("a.py", "return 2")), done()]);
    let never = calls("", &[done()]);
    let on_change = json!([{"wait_for": "go"}, publish()]);
    let scripted = Scripted::new(FILES, "conversation", on_change, 300, vec![both, never]).await;
    let mut child = scripted.start(&["ask", "change f to return 2", "--file", "a.py:2", "--json"]);
    let mut shown = String::new();
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("UTF-8");
        if line.contains("waiting for what is not known yet: fake (a.py)") {
            scripted.go();
        }
        shown.push_str(&line);
        shown.push('\n');
    }
    let status = child.wait().expect("an end");
    assert_eq!(scripted.model.requests().len(), 1, "{shown}");
    let last: Value = serde_json::from_str(shown.lines().last().unwrap_or_default()).expect("data");
    let ended = &last["outcome"];
    assert_eq!(
        (status.code(), &ended["ok"], &ended["diagnostics_status"]),
        (Some(0), &json!(true), &json!("complete"))
    );
}

/// A diagnostic of this code on a line; 1 is an error, 2 a warning.
fn item(code: &str, severity: u32, line: u32) -> Value {
    let range = json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}});
    json!({"range": range, "severity": severity, "code": code, "message": format!("{code} is here, {line}")})
}

#[tokio::test(flavor = "multi_thread")]
async fn done_is_refused_for_a_code_that_its_file_did_not_have_and_for_no_other() {
    for (code, answers) in [("bad", 1), ("other", 2)] {
        let items = json!([item("bad", 1, 0), item(code, 2, 1)]);
        let on_change = json!([{"publish": {"version": "same", "items": items}}]);
        let both = calls("", &[("edit_file", replace("a.py", "return 2")), done()]);
        let files = [("a.py", "bad = 1\ndef f() -> int:\n    return 1\n")];
        let script = vec![both, calls("", &[done()])];
        let scripted = Scripted::new(&files, "conversation", on_change, 60_000, script).await;
        let output = scripted.run(&["ask", "change f to return 2", "--file", "a.py", "--json"]);
        assert_eq!(scripted.model.requests().len(), answers, "{code}: {}", said(&output));
    }
}

/// Every kind is another one in a file that was not there: warnings of it are in the answer, and cost no further call.
#[tokio::test(flavor = "multi_thread")]
async fn done_is_refused_for_an_error_in_a_new_file_and_for_no_warning_of_it() {
    for (text, code, answers) in [("import os\n", "F401", 1), ("print(gone)\n", "reportUndefinedVariable", 2)] {
        let project = Project::new(FILES);
        let written = json!({"path": "new.py", "content": text});
        let model = ModelServer::start([calls("", &[("write_file", written), done()]), calls("", &[done()])]).await;
        let base = format!("provider = \"openai_compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\n", model.url());
        let config = format!("[model]\n{base}style = \"conversation\"\ncontext = 64000\n");
        std::fs::write(project.beside("config/sextant").join("config.toml"), config).expect("a configuration");
        let output = tokio::task::block_in_place(|| sextant(&project, &["ask", "write new.py", "--json"]));
        let new = outcome(&output)["outcome"]["new_diagnostics"].to_string();
        assert!(new.contains(code), "{}", said(&output));
        assert_eq!(model.requests().len(), answers, "{code}: {}", said(&output));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_and_its_last_word_are_apart_in_a_shell() {
    for (tool, given) in [("edit_file", replace("a.py", "return 2")), ("read_file", json!({"path": "a.py"}))] {
        let script = vec![calls("I do so.", &[(tool, given)]), calls("I did so.", &[done()])];
        let scripted = Scripted::new(FILES, "conversation", json!([publish()]), 60_000, script).await;
        let shown = said(&scripted.run(&["ask", "what does f return?", "--file", "a.py:2"]));
        assert!(shown.contains("I did so.") && shown.contains("Finished."), "{shown}");
        assert!(!shown.contains("so.Finished") && !shown.contains("so.I did"), "{shown}");
    }
}

/// The edit needs a consent that nobody gives: the model may say that it is done, and nobody else does.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_only_edit_was_refused_is_not_done() {
    let (project, refused) = (Project::new(FILES), json!({"path": "sitecustomize.py", "content": "x = 1\n"}));
    let model = ModelServer::start([step("write_file", refused, false), end()]).await;
    let url = model.url();
    let asked =
        ["ask", "fix the start of the programs", "--json", "--model", "openai_compatible:m", "--base-url", &url];
    let output = tokio::task::block_in_place(|| sextant(&project, &asked));
    let ended = outcome(&output)["outcome"].clone();
    assert_eq!((output.status.code(), &ended["ok"]), (Some(1), &json!(false)), "{}", said(&output));
    let refused = "Not done: the edit of sitecustomize.py was refused: ";
    assert!(ended["summary"].as_str().is_some_and(|text| text.contains(refused)), "{}", said(&output));
}

/// The first request begins with a word that also asks, and wants a change all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_only_edit_left_its_scope_names_that_edit_and_the_way_out() {
    let refused = "Not done: the edit of b.py was refused: b.py is outside the scope of this task (a.py); name it in the \
                   request, select more (a range, the file, the workspace), or make a plan.";
    for (request, done) in [("print the sum in f", false), ("f should return 2", false), ("what does f return?", true)]
    {
        let script = vec![step("edit_file", replace("b.py", "return 2"), false), end()];
        let scripted = Scripted::new(FILES, "step", json!([publish()]), 1000, script).await;
        let output = scripted.run(&["ask", request, "--file", "a.py", "--json"]);
        let ended = outcome(&output)["outcome"].clone();
        let status = Some(i32::from(!done));
        assert_eq!((output.status.code(), &ended["ok"]), (status, &json!(done)), "{request}: {}", said(&output));
        let names_it = ended["summary"].as_str().is_some_and(|text| text.contains(refused));
        assert_eq!(names_it, !done, "{request}: {ended}");
    }
}

/// The refused half counts until another edit makes it; a try that was made otherwise does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_second_edit_left_its_scope_is_done_in_part_only() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 1\n";
    let edit = |symbol: &str| {
        let content = format!("def {}() -> int:\n    return 2", symbol.rsplit(':').next().unwrap_or_default());
        ("edit_symbol", json!({"action": "replace", "symbol": symbol, "content": content}))
    };
    let both = ("edit_file", change("a.py", text, text.replace('1', "2")));
    for (script, is_done) in [
        (vec![vec![edit("a.py::f")], vec![edit("a.py::g")]], false),
        (vec![vec![edit("a.py::f"), edit("a.py::g")]], false),
        (vec![vec![edit("a.py::g")], vec![edit("a.py::f")]], false),
        (vec![vec![both], vec![edit("a.py::f")]], true),
        (vec![vec![edit("a.py::f")]], true),
    ] {
        let mut replies: Vec<Reply> = script.iter().map(|uses| calls("", uses)).collect();
        replies.push(calls("Both return 2 now.", &[done()]));
        let files = &[("a.py", text)];
        let scripted = Scripted::new(files, "conversation", json!([publish()]), 1000, replies).await;
        let output = scripted.run(&["ask", "make f return 2 and the other too", "--file", "a.py:1", "--json"]);
        let ended = outcome(&output)["outcome"].clone();
        let status = Some(i32::from(!is_done));
        assert_eq!((output.status.code(), &ended["ok"]), (status, &json!(is_done)), "{script:?}: {}", said(&output));
        assert_eq!(ended["files"], json!(["a.py"]), "{script:?}: {ended}");
        let summary = ended["summary"].as_str().unwrap_or_default();
        let names_it =
            summary.contains("Not done: the edit of a.py::g was refused: ") && summary.contains("select more");
        assert_eq!(names_it, !is_done, "{script:?}: {summary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_a_model_rightly_finds_nothing_to_do_for_is_done() {
    let scripted = Scripted::new(FILES, "step", json!([publish()]), 1000, vec![end(), end()]).await;
    let output = scripted.run(&["ask", "f should return 1", "--file", "a.py", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
