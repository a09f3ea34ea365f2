//! A model that cannot be reached, a budget that is used up: the work waits and goes on. A step that fails says why.

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::engine::{TEXT, project};
use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::{change, says};

fn run(project: &Project, arguments: &[&str], url: &str) -> std::process::Output {
    let model = ["--json", "--model", "openai_compatible:m", "--base-url", url];
    tokio::task::block_in_place(|| sextant(project, &[arguments, &model[..]].concat()))
}

fn two_steps() -> Reply {
    let step = |title: &str, symbol: &str| json!({"title": title, "symbols": [symbol], "because": "asked", "expect": "it is so"});
    let steps = [step("raise f", "a.py::f"), step("raise g", "a.py::g")];
    Reply::Json(json!({"title": "T", "reason": "asked", "steps": steps, "confidence": 1}))
}

fn edit(old: &str, new: &str, more: bool) -> Reply {
    step("edit_file", change("a.py", old, new), more)
}

fn last_plan(text: &str) -> String {
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut plans = events.filter(|event| event["type"] == "plan");
    plans.next_back().and_then(|event| event["markdown"].as_str().map(str::to_owned)).expect("a plan")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_model_goes_away_stays_open_and_a_resume_finishes_it() {
    let gone = || Reply::Status(401, Vec::new(), json!({"error": {"message": "no"}}).to_string());
    let busy = || Reply::Status(429, vec![("retry-after", "0".to_owned())], "{}".to_owned());
    let down = || Reply::Status(503, vec![("retry-after", "0".to_owned())], "{}".to_owned());
    let cut = || Reply::CutAfter(json!({"reasoning": "because it was asked", "action": null}), 12);
    for outage in [gone(), busy(), down(), cut()] {
        let project = project();
        let halfway = edit("return f()", "return f() + 10", true);
        let mut script = vec![two_steps(), edit("return 1", "return 2", false), halfway];
        script.extend(std::iter::repeat_n(outage.clone(), 12));
        let server = ModelServer::start(script).await;
        let output = run(&project, &["plan", "raise both", "--approve", "--file", "a.py"], &server.url());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success(), "{text}");
        let plan = last_plan(&text);
        assert!(plan.contains("- [x] raise f") && plan.contains("- [ ] raise g"), "{outage:?}: {plan}");
        assert!(plan.contains("outcome: not finished: "), "{plan}");
        assert!(outcome(&output)["failure"]["hint"].as_str().expect("a hint").contains("sextant resume"), "{text}");

        let back = ModelServer::start([edit("return f()", "return f() + 1", false)]).await;
        let output = run(&project, &["resume"], &back.url());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let wanted = TEXT.replace("return 1", "return 2").replace("return f()", "return f() + 1");
        assert_eq!(project.read("a.py"), wanted, "what the broken step had done is taken back first: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_model_cannot_be_reached_can_be_resumed() {
    let project = project();
    let server = ModelServer::start([]).await;
    let url = server.url();
    drop(server);
    let output = run(&project, &["ask", "raise f", "--file", "a.py"], &url);
    let failure = outcome(&output)["failure"].clone();
    assert_eq!((output.status.code(), &failure["kind"]), (Some(1), &json!("model")), "{failure}");
    assert!(failure["hint"].as_str().expect("a hint").contains("sextant resume"), "{failure}");
    let back = ModelServer::start([edit("return 1", "return 2", false)]).await;
    let output = run(&project, &["resume"], &back.url());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_leaves_the_step_open_and_whoever_resumes_gives_it_anew() {
    let project = project();
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "limits = { tokens = 25 }\n").expect("a file");
    let script = [two_steps(), edit("return 1", "return 2", false), edit("return f()", "return f() + 10", true)];
    let server = ModelServer::start(script).await;
    let output = run(&project, &["plan", "raise both", "--approve", "--file", "a.py"], &server.url());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(outcome(&output)["failure"]["kind"], "limit", "{text}");
    assert!(last_plan(&text).contains("- [ ] raise g"), "{text}");
    let left =
        if project.read("a.py").contains("return 2") { Vec::new() } else { vec![edit("return 1", "return 2", false)] };
    let rest = left.into_iter().chain([edit("return f()", "return f() + 1", false)]);
    let back = ModelServer::start(rest).await;
    let mut output = run(&project, &["resume"], &back.url());
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        output = run(&project, &["resume"], &back.url());
        text.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    assert!(output.status.success(), "{text}");
    let wanted = TEXT.replace("return 1", "return 2").replace("return f()", "return f() + 1");
    assert_eq!(project.read("a.py"), wanted, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_says_why_and_not_what_its_model_says() {
    let project = project();
    let wrong = || edit("no such text", "x", true);
    let server =
        ModelServer::start([two_steps(), wrong(), says("ok"), edit("return f()", "return f() + 1", false)]).await;
    let output = run(&project, &["plan", "raise both", "--approve", "--file", "a.py"], &server.url());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let outcome = outcome(&output)["outcome"].clone();
    let failed = &outcome["failed_steps"];
    assert_eq!((failed.as_array().map(Vec::len), &failed[0]["step"]), (Some(1), &json!(1)), "{outcome}");
    for told in
        [&failed[0]["reason"], &outcome["summary"], &json!(last_plan(&text)), &json!(outcome["trace"].to_string())]
    {
        let told = told.as_str().expect("a text");
        assert!(told.contains("nothing was changed (the edit of a.py was refused: "), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_of_a_supervised_plan_names_the_error() {
    let project = project();
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "mode = \"supervised\"\n").expect("a file");
    let broken = edit("return 1", "return missing", false);
    let server = ModelServer::start([two_steps(), broken]).await;
    let output = run(&project, &["plan", "raise both", "--approve", "--file", "a.py"], &server.url());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let question = events.rfind(|event| event["type"] == "question").expect("a question");
    let asked = question["text"].as_str().expect("a text");
    assert!(asked.contains("Step 1 (“raise f”) failed: ") && asked.contains("missing"), "{asked}");
    assert_eq!(output.status.code(), Some(1));
}
