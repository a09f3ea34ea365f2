//! What a task may reach: the imports of its symbol's file, what the request names, whole files, what it puts beside.

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::engine::{Plan, Request, Steps};
use sextant::llm::prompt;
use sextant::llm::step::StepReply;

use crate::support::engine::{Setup, TestEngine, act, plan_of, planned, says};
use crate::support::project::Project;
use crate::support::replies::change;

const CART: &str = "\
import os


class Cart:
    def total(self) -> int:
        return 1

    def count(self) -> int:
        return 2
";
const OTHER: &str = "from cart import Cart\n\n\ndef use() -> int:\n    return Cart().total()\n";

fn edit(path: &str, old: &str, new: &str) -> StepReply {
    act("edit_file", change(path, old, new))
}

fn at_total(text: &str) -> Request {
    Request { text: text.into(), symbols: vec!["cart.py::Cart::total".into()], ..Request::default() }
}

fn engine(project: &Project, replies: Vec<StepReply>) -> TestEngine {
    TestEngine::new(project, Setup { replies, ..Setup::default() })
}

/// The first question of a task, as its model reads it.
fn asked(engine: &TestEngine) -> String {
    let asked = engine.model.asked.lock().unwrap();
    prompt::step(&asked[0]).user
}

#[tokio::test]
async fn imports_change_with_a_symbol_and_are_undone_with_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let before = project.bytes();
    let replies = vec![
        edit("cart.py", "import os\n", "import os\nfrom math import floor\n"),
        edit("cart.py", "return 1", "return floor(1.5)"),
        edit("cart.py", "import os\n", "import os\n\nLIMIT = 3\n"),
        edit("cart.py", "return 2", "return 3"),
        act("read_symbol", json!({"symbol": "cart.py::Cart::total"})),
        act("edit_symbol", json!({"symbol": "cart.py", "action": "replace", "content": "import re"})),
    ];
    let engine = engine(&project, replies);
    let outcome = engine.ask_about(&at_total("round it down")).await;
    let told = engine.told();
    assert!(told[0].contains("imports of cart.py changed with it"), "{told:?}");
    assert!(!told[1].contains("changed with it"), "{told:?}");
    for refused in &told[2..4] {
        assert!(refused.contains("outside its scope") && refused.contains("the import lines of its file"), "{refused}");
    }
    assert!(told[5].contains("edit_file") && told[5].contains("imports"), "{}", told[5]);
    let text =
        CART.replace("import os\n", "import os\nfrom math import floor\n").replace("return 1", "return floor(1.5)");
    assert_eq!(project.read("cart.py"), text, "{outcome}");
    assert!(asked(&engine).contains("May edit: cart.py::Cart::total, the imports of cart.py\n"), "{}", asked(&engine));
    engine.session.undo().await.result.expect("an undo");
    assert_eq!(project.bytes(), before, "one undo takes both back");
}

#[tokio::test]
async fn a_conversation_shows_the_imports_that_may_change_with_a_symbol() {
    let project = Project::new(&[("cart.py", CART)]);
    for (text, is_shown) in [("round it down", true), ("what does it return?", false)] {
        let engine = TestEngine::new(&project, Setup { chats: vec![says("done")], ..Setup::default() });
        engine.ask_about(&at_total(text)).await;
        let asked = engine.talked()[0].last();
        let shown = asked.split_once("Source of the imports of cart.py:").map(|(_, shown)| shown);
        assert_eq!(shown.is_some_and(|shown| shown.contains("import os\n")), is_shown, "{text}: {asked}");
    }
}

#[tokio::test]
async fn a_file_that_the_request_names_is_in_scope() {
    let project = Project::new(&[("cart.py", CART), ("src/other.py", OTHER), ("README.md", "# Cart\n\nOld.\n")]);
    let before = project.bytes();
    let replies = vec![
        edit("cart.py", "def total(self)", "def total(self, tax: int = 0)"),
        edit("src/other.py", "total()", "total(1)"),
        edit("README.md", "Old.", "New."),
    ];
    let engine = engine(&project, replies);
    let request = at_total("add a parameter tax, update its callers in other.py, and the docs in README.md too");
    engine.ask_about(&request).await;
    assert!(project.read("cart.py").contains("tax: int = 0"));
    assert!(project.read("src/other.py").contains("total(1)") && project.read("README.md").contains("New."));
    let asked = asked(&engine);
    let may = "May edit: cart.py::Cart::total, src/other.py, README.md, the imports of cart.py\n";
    assert!(asked.contains(may), "{asked}");
    let trace = engine.trace();
    assert!(trace.contains("the request names src/other.py, README.md: they may be changed too"), "{trace}");
    engine.session.undo().await.result.expect("an undo");
    assert_eq!(project.bytes(), before);
}

#[tokio::test]
async fn a_symbol_that_the_request_names_is_in_scope_with_the_imports_of_its_file() {
    let project = Project::new(&[("cart.py", CART), ("other.py", OTHER)]);
    let replies = vec![
        edit("other.py", "return Cart().total()", "return path.sep and Cart().total()"),
        edit("other.py", "from cart import Cart\n", "from os import path\n\nfrom cart import Cart\n"),
        edit("cart.py", "return 2", "return 3"),
    ];
    let engine = engine(&project, replies);
    engine.ask_about(&at_total("return a float, and change `use` along with it")).await;
    assert!(project.read("other.py").starts_with("from os import path\n"), "{:?}", engine.told());
    assert_eq!(project.read("cart.py"), CART, "`count` was not named");
    let context = engine.model.asked.lock().unwrap()[0].context.clone();
    let shown: Vec<&str> = context.sources.texts.iter().map(|(path, _)| path.as_str()).collect();
    assert!(shown.contains(&"other.py::use"), "the name stands above its source: {shown:?}");
    assert!(context.request.named.is_empty(), "and is not said twice: {:?}", context.request.named);
}

#[tokio::test]
async fn what_is_to_be_left_alone_or_only_asked_about_stays_out() {
    for text in [
        "add a parameter, but do not touch other.py",
        "add a parameter without changing anything in other.py",
        "leave other.py as it is and add a parameter",
        "what does total do in other.py?",
        "add a parameter to total in cart.py",
    ] {
        let project = Project::new(&[("cart.py", CART), ("other.py", OTHER)]);
        let before = project.bytes();
        let replies = vec![edit("other.py", "total()", "total(1)"), edit("cart.py", "return 2", "return 3")];
        let engine = engine(&project, replies);
        engine.ask_about(&at_total(text)).await;
        assert_eq!(project.bytes(), before, "{text}: {}", asked(&engine));
        assert!(asked(&engine).contains("May edit: cart.py::Cart::total, the imports of cart.py\n"), "{text}");
    }
}

#[tokio::test]
async fn a_name_of_several_things_widens_nothing_and_is_told() {
    let b = "def size() -> int:\n    return 1\n";
    let files = [("cart.py", CART), ("b.py", b), ("c.py", b), ("x/d.py", b), ("y/d.py", b)];
    let project = Project::new(&files);
    let before = project.bytes();
    let mut engine =
        engine(&project, vec![edit("b.py", "return 1", "return 2"), edit("x/d.py", "return 1", "return 2")]);
    engine.ask_about(&at_total("take size() into account, and d.py")).await;
    assert_eq!(project.bytes(), before);
    let named = engine.model.asked.lock().unwrap()[0].context.request.named.clone();
    let wanted =
        ["`size` may be b.py::size or c.py::size or x/d.py::size or y/d.py::size", "`d.py` may be x/d.py or y/d.py"];
    assert_eq!(named, wanted);
    let seen = format!("{:?}", engine.seen());
    assert!(seen.contains("d.py may be x/d.py or y/d.py, so none of them joins the scope"), "{seen}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_named_file_that_is_ignored_outside_or_a_link() {
    let project = Project::new(&[
        ("cart.py", CART),
        (".gitignore", "build/\n"),
        ("build/made.py", "x = 1\n"),
        ("real.py", "x = 1\n"),
        (".env", "KEY=1\n"),
    ]);
    let outside = project.beside("out").join("x.py");
    std::fs::write(&outside, "x = 1\n").unwrap();
    std::os::unix::fs::symlink(&outside, project.root().join("leads_out.py")).unwrap();
    std::os::unix::fs::symlink("real.py", project.root().join("link.py")).unwrap();
    let x = |path: &str| edit(path, "x = 1", "x = 2");
    let replies =
        vec![x("leads_out.py"), x("../out/x.py"), x("link.py"), edit(".env", "KEY", "KEYS"), x("build/made.py")];
    let engine = engine(&project, replies);
    let request = "use x of build/made.py, leads_out.py, ../out/x.py, .env and link.py";
    engine.ask_about(&at_total(request)).await;
    let asked = asked(&engine);
    assert!(
        asked.contains("May edit: cart.py::Cart::total, build/made.py, real.py, the imports of cart.py\n"),
        "{asked}"
    );
    assert_eq!(project.read("build/made.py"), "x = 2\n", "the user named it");
    assert_eq!(project.read("real.py"), "x = 2\n", "{:?}", engine.told());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "x = 1\n");
    assert_eq!(project.read(".env"), "KEY=1\n");
}

#[tokio::test]
async fn a_file_that_the_request_asks_for_may_be_made() {
    let project = Project::new(&[("cart.py", CART)]);
    let new = |path: &str| act("write_file", json!({"path": path, "content": "def one() -> int:\n    return 1\n"}));
    let engine =
        engine(&project, vec![new("src/ones.py"), new("src/twos.py"), edit("src/ones.py", "return 1", "return 11")]);
    engine.ask_about(&at_total("move the number to a new module src/ones.py")).await;
    assert!(project.read("src/ones.py").contains("return 11"), "{:?}", engine.told());
    assert!(!project.root().join("src/twos.py").exists());
}

#[tokio::test]
async fn what_a_task_puts_beside_its_symbol_is_its_own() {
    let project = Project::new(&[("cart.py", CART)]);
    let helper = "def one(self) -> int:\n    return 1\n";
    let replies = vec![
        act("edit_symbol", json!({"symbol": "cart.py::Cart::total", "action": "insert_after", "content": helper})),
        edit(
            "cart.py",
            "    def total(self) -> int:\n        return 1",
            "    def total(self) -> int:\n        return self.one()",
        ),
        act(
            "edit_symbol",
            json!({"symbol": "cart.py::Cart::one", "action": "replace", "content": helper.replace('1', "11")}),
        ),
        act(
            "edit_symbol",
            json!({"symbol": "cart.py::Cart::count", "action": "insert_after", "content": helper.replace("one", "two")}),
        ),
    ];
    let engine = engine(&project, replies);
    engine.ask_about(&at_total("split it")).await;
    let text = project.read("cart.py");
    assert!(text.contains("return self.one()") && text.contains("return 11"), "{text} {:?}", engine.told());
    assert!(!text.contains("def two"), "beside a symbol that is not in scope it is outside");
    assert!(engine.told()[3].contains("right beside it"), "{:?}", engine.told());
}

#[tokio::test]
async fn a_blank_line_in_a_function_is_that_function() {
    let text = CART.replace("        return 1\n", "        one = 1\n\n        return one\n");
    let project = Project::new(&[("cart.py", &text)]);
    for (line, scope) in [(7, "cart.py::Cart::total, the imports of cart.py"), (3, "cart.py"), (2, "cart.py")] {
        let engine = engine(&project, Vec::new());
        let lines = Some((line, line));
        engine
            .ask_about(&Request { text: "tidy".into(), path: Some("cart.py".into()), lines, ..Request::default() })
            .await;
        assert!(asked(&engine).contains(&format!("May edit: {scope}\n")), "{line}: {}", asked(&engine));
    }
}

async fn planned_run(
    project: &Project,
    plan: sextant::llm::step::PlanReply,
    replies: Vec<StepReply>,
) -> (TestEngine, Value) {
    let engine = TestEngine::new(project, Setup { plans: vec![plan], replies, ..Setup::default() });
    let plan: Plan = engine.plan("bring the papers up to date").await.expect("a plan");
    assert_eq!(plan.steps.len(), 1);
    let ran = engine.session.approve(Steps::All, &engine.cancel).await.result;
    let outcome =
        ran.map_or_else(|failure| json!({"failed": failure}), |outcome| serde_json::to_value(outcome).unwrap());
    (engine, outcome)
}

#[tokio::test]
async fn a_plan_edits_and_makes_files_of_any_language() {
    let files = [
        ("README.md", "# Cart\n\nOld.\n"),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
        ("Makefile", "all:\n\techo\n"),
    ];
    let project = Project::new(&files);
    let mut step = planned("tell it", &["README.md", "pyproject.toml", "Makefile"]);
    step.creates = vec!["notes/NEWS.md".to_owned(), "./Justfile".to_owned()];
    let replies = vec![
        edit("README.md", "Old.", "New."),
        edit("pyproject.toml", "\"a\"", "\"b\""),
        edit("Makefile", "echo", "echo all"),
        act("write_file", json!({"path": "notes/NEWS.md", "content": "# News\n"})),
        edit("notes/NEWS.md", "# News\n", "# News\n\nAll.\n"),
        act("write_file", json!({"path": "Justfile", "content": "all:\n"})),
        act("write_file", json!({"path": "other.md", "content": "no\n"})),
        edit("cart.lua", "x", "y"),
    ];
    let (engine, outcome) = planned_run(&project, plan_of([step]), replies).await;
    let told = engine.told();
    assert_eq!(project.read("README.md"), "# Cart\n\nNew.\n", "{outcome} {told:?}");
    assert_eq!(project.read("pyproject.toml"), "[project]\nname = \"b\"\n", "{told:?}");
    assert_eq!(project.read("Makefile"), "all:\n\techo all\n", "{told:?}");
    assert_eq!(project.read("notes/NEWS.md"), "# News\n\nAll.\n", "{told:?}");
    assert_eq!(project.read("Justfile"), "all:\n", "{told:?}");
    assert!(!project.root().join("other.md").exists());
}

#[tokio::test]
async fn a_new_file_that_the_request_names_beside_a_symbol_is_in_scope() {
    for (text, file) in
        [("fix total and write src/shop/new.py", "src/shop/new.py"), ("fix total and add a conftest.py", "conftest.py")]
    {
        let project = Project::new(&[("cart.py", CART)]);
        let replies = vec![act("write_file", json!({"path": file, "content": "LIMIT = 3\n"}))];
        let engine = engine(&project, replies);
        let request =
            Request { text: text.into(), path: Some("cart.py".into()), lines: Some((6, 6)), ..Request::default() };
        engine.ask_about(&request).await;
        let asked = asked(&engine);
        assert!(
            asked.contains(&format!("May edit: cart.py::Cart::total, {file}, the imports of cart.py\n")),
            "{asked}"
        );
        assert_eq!(project.read(file), "LIMIT = 3\n", "{:?}", engine.told());
    }
}
