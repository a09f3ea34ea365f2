//! What a tool or a module gets to see: the workspace without its secrets and Sextant's record, one step's own facts.

use serde_json::json;
use sextant::llm::step::PlanReplyStep;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;

const SECRET: &str = "quebracho";

#[tokio::test]
async fn a_file_whose_name_looks_like_a_symbol_is_found_by_it() {
    let project = Project::new(&[("a::b.py", "x = 1\n"), ("a.py", TEXT)]);
    let engine = TestEngine::new(&project, Setup::default());
    let found = engine.session.locate("a::b.py").await.expect("a file");
    assert_eq!((found.path.as_str(), found.line), ("a::b.py", 1));
    assert_eq!(engine.session.locate("a.py::f").await.expect("a symbol").path, "a.py");
    // Models leave folders out.
    project.write("deep/only.py", "\ndef only() -> int:\n    return 1\n");
    let found = engine.session.locate("only.py::only").await.expect("the one file of that name");
    assert_eq!((found.path.as_str(), found.line), ("deep/only.py", 2));
    assert_eq!(engine.session.locate("only.py:3").await.expect("its line").line, 3);
    project.write("other/only.py", "x = 1\n");
    assert!(engine.session.locate("only.py::only").await.is_err(), "two files have that name");
}

#[tokio::test]
async fn no_tool_reads_secrets_the_own_record_or_what_lies_outside() {
    let project = project();
    project.write(".env", &format!("KEY={SECRET}\n"));
    project.write("server.pem", SECRET);
    project.write(".git/config", SECRET);
    let beside = project.beside("other").join("far.py");
    std::fs::write(&beside, SECRET).expect("a file");
    std::os::unix::fs::symlink(&beside, project.root().join("near.py")).expect("a link");
    let read = |path: &str| act("read_file", json!({"path": path}));
    let replies = vec![
        act("search", json!({"pattern": SECRET})),
        act("list_symbols", json!({"query": "a.py"})),
        read("a.py"),
        read(".env"),
        read("server.pem"),
        act("search", json!({"pattern": "KEY="})),
        read(".git/config"),
        read(".sextant/memory.db"),
        act("search", json!({"pattern": "return"})),
        read("near.py"),
        read("../other/far.py"),
    ];
    let mut engine = TestEngine::new(&project, Setup { replies, memory: true, ..Setup::default() });
    engine.ask("look around").await;
    engine.session.close().await;
    let told: Vec<String> = engine
        .model
        .asked
        .lock()
        .unwrap()
        .iter()
        .flat_map(|input| input.ask.results.clone())
        .map(|result| result.text)
        .collect();
    assert!(told.iter().all(|text| !text.contains(SECRET) || text.starts_with("nothing matches")), "{told:#?}");
    let said = told.join("\n");
    for wanted in [
        ".env may hold secrets",
        "server.pem may hold secrets",
        ".git/config may hold secrets",
        "Sextant's own record",
        "leads out of the workspace",
        "outside the workspace",
    ] {
        assert!(said.contains(wanted), "{wanted}\n{said}");
    }
    let shown = format!("{:?}", engine.seen());
    assert!(!shown.contains(&format!("KEY={SECRET}")), "{shown}");
}

#[tokio::test]
async fn a_step_is_told_of_its_own_symbols_inputs_and_results_alone() {
    let project = project();
    let look = PlanReplyStep { kind: "examine".into(), ..planned("Look at g", &["a.py::g"]) };
    let given = PlanReplyStep { with: vec!["seen = step1.output".into()], ..planned("Change f", &["a.py::f"]) };
    let plans = vec![plan_of([look, given, planned("Change g", &["a.py::g"])])];
    let replies = vec![
        act("search", json!({"pattern": "whatever_f_needs"})),
        last("edit_file", replace("return 1", "return 11")),
        last("edit_file", replace("return f()", "return f() + 1")),
    ];
    let engine = TestEngine::new(&project, Setup { replies, plans, ..Setup::default() });
    engine.plan("change both").await.expect("a plan");
    assert!(engine.approve().await.0.expect("an outcome").ok);
    let asked = engine.model.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3);
    let scopes = [&asked[0].context.request.scope, &asked[2].context.request.scope];
    assert_eq!(scopes, [&["a.py::f", "the imports of a.py"], &["a.py::g", "the imports of a.py"]]);
    assert_eq!(asked[0].ask.inputs.len(), 1);
    assert!(
        asked[2].ask.inputs.is_empty() && asked[2].ask.results.is_empty(),
        "nothing of the step before: {:?}",
        asked[2]
    );
    assert!(
        asked[2].context.sources.texts.iter().all(|(name, _)| name == "a.py::g"),
        "{:?}",
        asked[2].context.sources.texts
    );
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11").replace("return f()", "return f() + 1"));
}

#[tokio::test]
async fn a_tool_that_the_user_has_not_made_possible_is_not_offered() {
    let folder = project();
    for (config, offered) in [(json!({}), false), (json!({"commands_allowed": ["pytest"]}), true)] {
        let engine = TestEngine::new(
            &folder,
            Setup { config, plans: vec![plan_of([planned("x", &["a.py::f"])])], ..Setup::default() },
        );
        engine.plan("change f").await.expect("a plan");
        engine.approve().await.0.expect("an outcome");
        let step = sextant::llm::prompt::step(&engine.model.asked.lock().unwrap()[0]);
        let plan = sextant::llm::prompt::plan(&engine.model.planned.lock().unwrap()[0]);
        for prompt in [step, plan] {
            assert!(prompt.system.contains("edit_symbol"), "{}", prompt.system);
            assert_eq!(prompt.system.contains("run_command"), offered, "{}", prompt.system);
        }
    }
}
