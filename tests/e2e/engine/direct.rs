//! Direct requests through the engine: no model is asked, and what is not clear goes on to it.

use serde_json::{Value, json};
use sextant::engine::{Event, Request};

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;

async fn say(engine: &TestEngine, text: &str) -> Value {
    engine.ask_about(&Request { text: text.into(), path: Some("a.py".into()), ..Request::default() }).await
}

fn asked(engine: &TestEngine) -> usize {
    engine.model.asked.lock().unwrap().len()
}

#[tokio::test]
async fn reading_and_finding_need_no_model() {
    let project = project();
    project.write("b.py", "from a import f\n\n\ndef h() -> int:\n    return f() + 1\n");
    let engine = TestEngine::new(&project, Setup::default());
    let read = say(&engine, "read f").await;
    assert_eq!(read["answer"], "a.py::f\ndef f() -> int:\n    return 1", "{read}");
    assert_eq!(read["summary"], "a.py::f: 2 lines");
    assert_eq!(say(&engine, "lee b.py").await["summary"], "b.py: 5 lines");
    assert_eq!(say(&engine, "where is g?").await["summary"], "a.py::g, line 5");
    assert_eq!(say(&engine, "¿dónde está h?").await["summary"], "b.py::h, line 4");
    let used = say(&engine, "who uses f?").await;
    let summary = used["summary"].as_str().unwrap();
    assert!(summary.contains("(no language server of a.py offers the uses of f; found by word"), "{summary}");
    let uses = used["answer"].as_str().unwrap().to_owned();
    assert!(uses.contains("a.py::g:6: return f()") && uses.contains("b.py::h:5: return f() + 1"), "{uses}");
    assert!(!uses.contains("def f()"), "the definition is no use: {uses}");
    assert_eq!(say(&engine, "list a.py").await["answer"], "function a.py::f\nfunction a.py::g");
    assert_eq!(asked(&engine), 0);
    assert!(engine.trace().contains("no model was asked"), "{}", engine.trace());
    let missing = say(&engine, "read Cart::total").await;
    assert!(missing["failed"]["message"].as_str().unwrap().contains("no symbol and no file named Cart::total"));
    say(&engine, "read nothing_of").await;
    assert_eq!(asked(&engine), 0, "a name that is surely one is answered");
    say(&engine, "show me progress").await;
    assert_eq!(asked(&engine), 1, "a word that is no name goes on to the model");
}

#[tokio::test]
async fn a_name_in_several_places_is_asked_about_or_told() {
    let project = Project::new(&[("a.py", "x = 1\n"), ("b.py", TEXT), ("c.py", TEXT)]);
    let mut engine = TestEngine::new(&project, Setup::default());
    let told = say(&engine, "read f").await;
    assert_eq!(told["failed"]["hint"], "name one: b.py::f, c.py::f", "{told}");
    engine.session.answers_come();
    let session = engine.session.clone();
    let request = Request { text: "read f".into(), path: Some("a.py".into()), ..Request::default() };
    let cancel = engine.cancel.clone();
    let answer = async {
        assert_eq!(engine.question().await, ("Which f?".to_owned(), vec!["b.py::f".to_owned(), "c.py::f".to_owned()]));
        session.answer_waiting(2).expect("it waits").expect("an option");
    };
    let (ended, ()) = tokio::join!(session.ask(&request, &cancel), answer);
    assert!(ended.result.expect("an outcome").answer.starts_with("c.py::f\n"));
}

#[tokio::test]
async fn a_definition_is_meant_before_its_declaration_and_the_symbol_at_the_cursor_before_any() {
    let shapes = "class Circle:\n    def area(self):\n        return 3\n\n\nclass Square:\n    def area(self):\n        return 4\n";
    let project = Project::new(&[
        ("a.py", "x = 1\n"),
        ("shapes.py", shapes),
        ("total.h", "int total(int a);\n"),
        ("total.cc", "#include \"total.h\"\n\nint total(int a) { return a; }\n"),
        ("lib.h", "void init(int a);\n"),
        ("other.c", "static void init(int a) { }\n"),
    ]);
    let engine = TestEngine::new(&project, Setup::default());
    assert_eq!(say(&engine, "where is total?").await["summary"], "total.cc::total, line 3");
    let apart = say(&engine, "where is init?").await;
    assert_eq!(apart["failed"]["hint"], "name one: lib.h::init, other.c::init", "{apart}");
    let at = |line: usize| Request {
        text: "where is area?".into(),
        path: Some("shapes.py".into()),
        lines: Some((line, line)),
        ..Request::default()
    };
    assert_eq!(engine.ask_about(&at(3)).await["summary"], "shapes.py::Circle::area, line 2");
    assert_eq!(engine.ask_about(&at(8)).await["summary"], "shapes.py::Square::area, line 7");
    let between = engine.ask_about(&at(5)).await;
    assert_eq!(between["failed"]["hint"], "name one: shapes.py::Circle::area, shapes.py::Square::area", "{between}");
}

#[tokio::test]
async fn undo_why_and_mode_are_the_user_s_own_words() {
    let project = project();
    let mut last = act("edit_file", replace("return 1", "return 11"));
    last.proceed = false;
    let engine = TestEngine::new(&project, Setup { replies: vec![last], ..Setup::default() });
    assert_eq!(say(&engine, "why?").await["summary"], "nothing was decided here yet");
    engine.ask("change f").await;
    assert!(project.read("a.py").contains("return 11"));
    let why = say(&engine, "why did you do that?").await["answer"].as_str().unwrap().to_owned();
    assert!(why.starts_with("step 1: acted edit_file a.py — as the text says → edited a.py"), "{why}");
    assert!(why.contains("what it came from:\n- understood the request"), "{why}");
    let undone = say(&engine, "undo that because it broke the tests").await;
    let summary = undone["summary"].as_str().unwrap();
    assert!(summary.contains("undone “change f”: a.py") && summary.ends_with("noted: it broke the tests"), "{undone}");
    assert_eq!(project.read("a.py"), TEXT);
    let step = say(&engine, "undo step 7").await;
    assert!(step["failed"]["message"].is_string(), "{step}");
    let mode = say(&engine, "cambia a supervisado").await;
    assert!(mode["summary"].as_str().unwrap().ends_with("in mode supervised"), "{mode}");
    assert!(
        say(&engine, "switch to simple").await["summary"]
            .as_str()
            .unwrap()
            .contains("a request without a plan is the simple mode")
    );
    assert_eq!(say(&engine, "stop").await["summary"], "nothing is running");
    assert!(say(&engine, "forget about tuples").await["failed"]["message"].is_string(), "memory is off here");
    assert_eq!(asked(&engine), 1);
    assert_eq!(json!(engine.calls.names().iter().filter(|name| **name == "plan").count()), json!(0));
}

#[tokio::test]
async fn a_step_undone_in_words_is_open_again_in_the_plan_that_is_shown() {
    let project = project();
    let plans = vec![plan_of([planned("one", &["a.py::f"]), planned("two", &["a.py::g"])])];
    let edits = [("return 1", "return 11"), ("return f()", "return f() + 1")];
    let replies = edits.map(|(old, new)| last("edit_file", replace(old, new))).to_vec();
    let mut engine = TestEngine::new(&project, Setup { replies, plans, memory: true, ..Setup::default() });
    engine.plan("change both").await.expect("a plan");
    engine.approve().await.0.expect("an outcome");
    engine.seen();
    let undone = say(&engine, "undo step 2").await;
    assert!(undone["summary"].as_str().unwrap().starts_with("undone step 2 of “change both”: a.py"), "{undone}");
    assert_eq!(project.read("a.py"), TEXT.replace("return 1", "return 11"));
    let shown = engine.seen().into_iter().find_map(|event| match event {
        Event::Plan { markdown, .. } => Some(markdown),
        _ => None,
    });
    let shown = shown.expect("the plan is shown");
    assert!(shown.contains("- [x] one") && shown.contains("- [ ] two"), "{shown}");
}
