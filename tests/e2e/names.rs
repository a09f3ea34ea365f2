//! The tools that ask a language server about a name, headless: real basedpyright, and a server that misbehaves.

use std::collections::BTreeSet;

use crate::support::undo::UndoWords;
use serde_json::{Value, json};
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::engine::Request;

use crate::cli::sextant;
use crate::support::engine::{Setup, TestEngine, act, last};
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{fake_config, python_servers};

/// A class whose second method has text beyond ASCII before a name.
pub const CART: &str = "\
import json


class Cart:
    def total(self, names: list[str]) -> int:
        return len(names)

    def show(self) -> str:
        ümlaut = \"😀\"; return ümlaut + json.dumps(self.total([]))
";

const SHOP: &str = "\
from cart import Cart

# total is what is paid
LABEL = \"total\"


def pay(cart: Cart) -> int:
    return cart.total([LABEL])
";

fn shop() -> Project {
    Project::new(&[("cart.py", CART), ("shop.py", SHOP), ("README.md", "Call `total` first.\n")])
}

fn engine(project: &Project, servers: Vec<ServerConfig>, replies: Vec<sextant::llm::step::StepReply>) -> TestEngine {
    let config = json!({"diagnostics": {"timeout_ms": 60_000, "start_timeout_ms": 60_000}});
    TestEngine::new(project, Setup { replies, servers, config, ..Setup::default() })
}

fn everywhere(text: &str) -> Request {
    Request { text: text.into(), workspace: true, ..Request::default() }
}

fn at(symbol: &str, text: &str) -> Request {
    Request { text: text.into(), symbols: vec![symbol.into()], ..Request::default() }
}

fn rename(symbol: &str, new_name: &str) -> sextant::llm::step::StepReply {
    act("rename_symbol", json!({"symbol": symbol, "new_name": new_name}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_reaches_files_that_nobody_opened_and_is_taken_back_in_one_step() {
    let project = shop();
    let before = project.bytes();
    let engine = engine(&project, python_servers(project.root()), vec![rename("cart.py::Cart::total", "amount")]);
    let outcome = engine.ask_about(&everywhere("rename Cart.total to amount for me")).await;
    assert!(outcome["failed"].is_null(), "{outcome}");
    assert!(project.read("cart.py").contains("def amount(") && project.read("cart.py").contains("self.amount([])"));
    assert!(project.read("shop.py").contains("cart.amount([LABEL])"));
    let told = engine.told().remove(0);
    assert!(told.contains("renamed total to amount: 3 places in 2 files: cart.py (2), shop.py (1)"), "{told}");
    assert!(told.contains("total still stands on 3 lines"), "{told}");
    assert!(told.contains("README.md:1, shop.py:3, shop.py:4"), "{told}");
    assert!(told.contains("diagnostics: 0 new"), "{told}");
    engine.session.undo().await.result.expect("undone");
    assert_eq!(project.bytes(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_that_leaves_the_scope_changes_nothing_and_names_what_is_outside() {
    let project = shop();
    let before = project.bytes();
    let engine = engine(&project, python_servers(project.root()), vec![rename("cart.py::Cart::total", "amount")]);
    engine.ask_about(&at("cart.py::Cart", "rename total to amount")).await;
    let told = engine.told().remove(0);
    assert!(
        told.contains("outside of the scope of this task (cart.py::Cart): shop.py::pay; nothing was changed"),
        "{told}"
    );
    assert!(told.contains("ask the user for a wider scope"), "{told}");
    assert_eq!(project.bytes(), before);
}

/// The whole of such a request needs no model; a part of one is done by the model, which may rename as far.
#[tokio::test(flavor = "multi_thread")]
async fn a_rename_whose_request_says_everywhere_reaches_every_use_from_the_file_it_points_at() {
    for text in ["rename total to amount with all its uses", "renombra total a amount en todo el proyecto"] {
        for file in ["cart.py", "shop.py"] {
            let project = shop();
            let engine = engine(&project, python_servers(project.root()), Vec::new());
            let request = Request { text: text.into(), path: Some(file.into()), ..Request::default() };
            let outcome = engine.ask_about(&request).await;
            assert_eq!(
                (&outcome["ok"], &outcome["files"]),
                (&json!(true), &json!(["cart.py", "shop.py"])),
                "{outcome}"
            );
            assert!(project.read("shop.py").contains("cart.amount([LABEL])"), "{file}: {text}");
        }
    }
    let project = shop();
    let replies = vec![rename("cart.py::Cart::total", "amount")];
    let engine = engine(&project, python_servers(project.root()), replies);
    let text = "rename total to amount with all its uses, and say what it counts";
    engine.ask_about(&Request { text: text.into(), path: Some("shop.py".into()), ..Request::default() }).await;
    assert!(engine.told().remove(0).contains("3 places in 2 files"), "{:?}", engine.told());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_says_everywhere_of_one_name_lets_no_other_edit_out_of_its_scope() {
    let project = shop();
    let before = project.bytes();
    let replace = change("cart.py", "import json", "import re");
    let body = json!({"symbol": "cart.py::Cart::total", "action": "replace", "content": "def total(self): ...\n"});
    for reply in [
        rename("cart.py::Cart::show", "amount"),
        rename("cart.py::Cart::total", "count"),
        act("edit_file", replace),
        act("edit_symbol", body),
    ] {
        let engine = engine(&project, python_servers(project.root()), vec![reply.clone()]);
        let text = "rename total to amount with all its uses, and say what it counts";
        engine.ask_about(&Request { text: text.into(), path: Some("shop.py".into()), ..Request::default() }).await;
        let told = engine.told().remove(0);
        assert!(told.contains("outside"), "{reply:?}: {told}");
        assert_eq!(project.bytes(), before, "{reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_none_or_is_taken_is_refused_and_so_is_every_edit_where_nothing_may_change() {
    let project = shop();
    let before = project.bytes();
    let replies = vec![
        rename("cart.py::Cart::total", "class"),
        rename("cart.py::Cart::total", "a b"),
        rename("cart.py::Cart::total", "show"),
        rename("cart.py::Cart::total", "total"),
        rename("cart.py::Cart::none", "x"),
        rename("../x.py::f", "x"),
    ];
    let wanted = engine(&project, python_servers(project.root()), replies);
    wanted.ask_about(&everywhere("rename Cart.total")).await;
    let told = wanted.told();
    // Three failures in a row end a task.
    assert!(told[0].contains("\"class\" is not a name in python"), "{told:#?}");
    assert!(told[1].contains("\"a b\" is not a name"), "{told:#?}");
    let replies = vec![rename("cart.py::Cart::total", "show"), rename("cart.py::Cart::total", "total")];
    let taken = engine(&project, python_servers(project.root()), replies);
    taken.ask_about(&everywhere("rename Cart.total")).await;
    assert!(taken.told()[0].contains("cart.py::Cart::show exists already"), "{:#?}", taken.told());
    assert!(taken.told()[1].contains("is called that already"), "{:#?}", taken.told());
    let forbidden = engine(&project, Vec::new(), vec![rename("cart.py::Cart::total", "amount")]);
    forbidden.ask_about(&everywhere("explain Cart.total, change nothing")).await;
    assert!(forbidden.told()[0].contains("nothing may be changed"), "{:#?}", forbidden.told());
    assert_eq!(project.bytes(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_definitions_and_hovers_are_told_by_symbol() {
    let project = shop();
    let replies = vec![
        act("find_references", json!({"symbol": "cart.py::Cart::total"})),
        act("definition", json!({"symbol": "shop.py::pay", "name": "cart.total"})),
        act("definition", json!({"symbol": "cart.py::Cart::show", "name": "json.dumps"})),
        act("hover", json!({"symbol": "cart.py::Cart::show", "name": "self.total"})),
        act("hover", json!({"symbol": "shop.py::pay"})),
        act("definition", json!({"symbol": "shop.py::pay", "name": "LABEL"})),
        act("definition", json!({"symbol": "shop.py::pay", "name": "nothing"})),
    ];
    let engine = engine(&project, python_servers(project.root()), replies);
    engine.ask_about(&everywhere("explain Cart.total")).await;
    let told = engine.told();
    let expected = "2 references to cart.py::Cart::total (declared on line 5) in 2 files\n\
        cart.py\n  Cart::show\n    9: ümlaut = \"😀\"; return ümlaut + json.dumps(self.total([]))\n\
        shop.py\n  pay\n    8: return cart.total([LABEL])";
    assert_eq!(told[0], expected);
    assert!(told[1].starts_with("cart.py::Cart::total, line 5\n    def total(self, names"), "{}", told[1]);
    assert!(told[2].contains("typeshed-fallback/stdlib/json/__init__.pyi::dumps, line "), "{}", told[2]);
    assert!(told[2].contains("def dumps("), "{}", told[2]);
    assert!(told[3].contains("total") && told[3].contains("list[str]") && told[3].contains("```"), "{}", told[3]);
    assert!(told[4].contains("def pay(cart: Cart) -> int"), "{}", told[4]);
    assert!(told[5].starts_with("shop.py, line 4\nLABEL = \"total\""), "{}", told[5]);
    assert!(told[6].contains("shop.py::pay does not use a name nothing"), "{}", told[6]);
    assert!(told[6].contains("cart, Cart, int, total, LABEL"), "{}", told[6]);
}

/// What a scripted server is made of that says it can rename.
fn fake(project: &Project, capabilities: Value, on: Value) -> Vec<ServerConfig> {
    let script = json!({"name": "fake", "capabilities": capabilities, "log": "log", "on": on});
    let config = fake_config(&project.beside("fake"), &script);
    vec![ServerConfig { languages: vec!["python".into()], ..config }]
}

fn renames() -> Value {
    json!({"renameProvider": true, "referencesProvider": {}, "textDocumentSync": 1, "diagnosticProvider": {}})
}

fn pulled(on: Value) -> Value {
    let mut on = on;
    on["textDocument/diagnostic"] = json!([{"reply": {"pull": []}}]);
    on
}

fn edit(line: u32, from: u32, to: u32, text: &str) -> Value {
    json!({"range": {"start": {"line": line, "character": from}, "end": {"line": line, "character": to}}, "newText": text})
}

/// `def f(): return f` in `a.py`.
async fn renamed(answer: impl Fn(&Project) -> Value) -> (Project, String, usize) {
    let project = Project::new(&[("a.py", "def f():\n    return f\n")]);
    let on = pulled(json!({"textDocument/rename": answer(&project)}));
    let engine = engine(&project, fake(&project, renames(), on), vec![rename("a.py::f", "g")]);
    engine.ask_about(&everywhere("rename f to g for me")).await;
    let told = engine.told().remove(0);
    let log = std::fs::read_to_string(project.beside("fake").join("log")).expect("a log");
    let asked = log.lines().filter(|line| line.contains("\"textDocument/rename\"")).count();
    (project, told, asked)
}

fn uri(project: &Project, file: &str) -> String {
    format!("file://{}", project.root().join(file).display())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_s_bad_edit_changes_nothing_and_is_said() {
    const TEXT: &str = "def f():\n    return f\n";
    type Answer = Box<dyn Fn(&Project) -> Value>;
    let bad: Vec<(&str, &str, usize, Answer)> = vec![
        (
            "two that overlap",
            "do not fit together",
            1,
            Box::new(|p| {
                let edits = [edit(0, 4, 5, "g"), edit(0, 0, 8, "def g()")];
                json!([{"reply": {"changes": {uri(p, "a.py"): edits}}}])
            }),
        ),
        (
            "a stale version",
            "is not the current one, twice",
            2,
            Box::new(|p| {
                let document = json!({"uri": uri(p, "a.py"), "version": 7});
                json!([{"reply": {"documentChanges": [{"textDocument": document, "edits": [edit(0, 4, 5, "g")]}]}}])
            }),
        ),
        (
            "another text",
            "is not the current one, twice",
            2,
            Box::new(|p| json!([{"reply": {"changes": {uri(p, "a.py"): [edit(0, 0, 3, "g")]}}}])),
        ),
        (
            "the whole world",
            "outside the workspace; nothing was changed",
            1,
            Box::new(
                |p| json!([{"reply": {"changes": {uri(p, "a.py"): [edit(0, 4, 5, "g")], "file:///etc/hosts": [edit(0, 0, 0, "g")]}}}]),
            ),
        ),
        (
            "a file operation",
            "wants more than edits in the workspace: rename",
            1,
            Box::new(|p| {
                let change = json!({"kind": "rename", "oldUri": uri(p, "a.py"), "newUri": uri(p, "b.py")});
                json!([{"reply": {"documentChanges": [change]}}])
            }),
        ),
        ("garbage", "answered what cannot be read", 1, Box::new(|_| json!([{"reply": ["x", 7]}]))),
        ("nothing", "fake found nothing", 1, Box::new(|_| json!([{"reply": null}]))),
        ("an error", "fake answered: scripted", 1, Box::new(|_| json!([{"error": -32602}]))),
        ("that the text has changed", "is not the current one, twice", 2, Box::new(|_| json!([{"error": -32801}]))),
        ("its last word", "is gone (it ended with", 1, Box::new(|_| json!([{"die": 3}]))),
    ];
    for (what, words, times, answer) in bad {
        let (project, told, asked) = renamed(answer).await;
        assert!(told.contains(words), "{what}: {told}");
        // A server that has published nothing about the text may not have read it: it is asked for some time.
        assert!(asked == times || what == "nothing" && asked > times, "{what}: {told}");
        assert_eq!(project.read("a.py"), TEXT, "{what}");
        let files: BTreeSet<_> = project.bytes().into_iter().map(|(path, _)| path).collect();
        assert_eq!(files.len(), 2, "{what}: {files:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_stale_once_is_asked_for_again_and_used() {
    let (project, told, asked) = renamed(|p| {
        let change = |version: i64| {
            let document = json!({"uri": uri(p, "a.py"), "version": version});
            let edits = [edit(0, 4, 5, "g"), edit(1, 11, 12, "g")];
            json!([{"reply": {"documentChanges": [{"textDocument": document, "edits": edits}]}}])
        };
        json!([change(9), change(1)])
    })
    .await;
    assert!(told.contains("renamed f to g: 2 places in 1 file: a.py (2)"), "{told}");
    assert!(told.contains("no text of the workspace holds f any more"), "{told}");
    assert_eq!((project.read("a.py").as_str(), asked), ("def g():\n    return g\n", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_names_the_parts_that_were_not_searched_for_the_old_name() {
    let (_, told, _) = renamed(|p| {
        p.write(".github/check.py", "f()\n");
        p.write(".gitignore", "made/\n");
        p.write("made/user.py", "f()\n");
        json!([{"reply": {"changes": {uri(p, "a.py"): [edit(0, 4, 5, "g"), edit(1, 11, 12, "g")]}}}])
    })
    .await;
    assert!(!told.contains("no text of the workspace") && told.contains("no text that was searched holds f"), "{told}");
    assert!(told.contains("not searched: .github/, .gitignore, made/"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_is_counted_as_the_server_counts() {
    for (encoding, column) in [("utf-8", 14), ("utf-16", 11), ("utf-32", 10)] {
        let project = Project::new(&[("a.py", "ü = 0\n'é😀'; x = ü\n\n\ndef f(): 'é😀'; return ü\n")]);
        let capabilities = json!({"hoverProvider": true, "positionEncoding": encoding, "textDocumentSync": 1});
        let on = json!({"textDocument/hover": [{"reply": {"contents": "a number"}}]});
        let replies = vec![act("hover", json!({"symbol": "a.py::f", "name": "ü"}))];
        let engine = engine(&project, fake(&project, capabilities, on), replies);
        engine.ask_about(&everywhere("explain f")).await;
        assert_eq!(engine.told()[0], "a number");
        let log = std::fs::read_to_string(project.beside("fake").join("log")).expect("a log");
        let hover = log.lines().find(|line| line.contains("textDocument/hover\"")).expect("a hover");
        let sent: Value = serde_json::from_str(hover).expect("JSON");
        // `def f(): 'é😀'; return ` before it.
        assert_eq!(sent["params"]["position"], json!({"line": 4, "character": column + 12}), "{encoding}");
    }
}

/// The users of a function have it from its stub.
#[tokio::test(flavor = "multi_thread")]
async fn a_function_with_a_stub_is_not_renamed_alone_and_its_uses_name_the_stub() {
    let project = Project::new(&[
        ("a.py", "def f(x):\n    return x\n"),
        ("a.pyi", "def f(x: int) -> int: ...\n"),
        ("u.py", "from a import f\n\nprint(f(1))\n"),
    ]);
    let before = project.bytes();
    let uses = |symbol: &str| act("find_references", json!({"symbol": symbol}));
    let replies = vec![uses("a.py::f"), uses("a.pyi::f"), rename("a.py::f", "g"), rename("a.pyi::f", "g")];
    let engine = engine(&project, python_servers(project.root()), replies);
    engine.ask_about(&everywhere("rename f to g for me")).await;
    let told = engine.told();
    assert!(told[0].contains("u.py") && told[0].contains("with the uses of a.pyi::f, which"), "{told:#?}");
    assert!(told[1].contains("u.py") && told[1].contains("with the uses of a.py::f, which"), "{told:#?}");
    assert!(told[2].contains("a.pyi::f declares the same name, and a rename of one"), "{told:#?}");
    assert!(told[3].contains("a.py::f declares the same name, and a rename of one"), "{told:#?}");
    assert_eq!(project.bytes(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_that_can_search_is_the_way_out() {
    let project = Project::new(&[("a.py", "def f():\n    return f\n")]);
    for servers in [Vec::new(), fake(&project, json!({"textDocumentSync": 1}), json!({}))] {
        let replies = vec![rename("a.py::f", "g"), last("find_references", json!({"symbol": "a.py::f"}))];
        let engine = engine(&project, servers, replies);
        engine.ask_about(&everywhere("rename f to g for me")).await;
        let told = engine.told();
        assert!(told[0].contains("no language server of a.py offers the renames of f"), "{told:#?}");
        assert!(told[0].contains("search finds its places"), "{told:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_that_are_found_by_word_come_with_the_reason() {
    let project = Project::new(&[("a.py", "def f():\n    return f\n")]);
    let capabilities = json!({"referencesProvider": true, "textDocumentSync": 1});
    let on = json!({"textDocument/references": [{"error": -32602}]});
    let engine = engine(&project, fake(&project, capabilities, on), Vec::new());
    let request = Request { path: Some("a.py".into()), ..everywhere("who uses f?") };
    let found = engine.ask_about(&request).await;
    let summary = found["summary"].as_str().expect("a summary");
    let words = "1 line of text with f (no language server found the uses of f: fake answered: scripted; found by word";
    assert!(summary.starts_with(words), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_cancels_the_question() {
    let project = Project::new(&[("a.py", "def f():\n    return f\n")]);
    let on = json!({"textDocument/references": [{"notify": ["window/logMessage", {"type": 3, "message": "asked"}]}]});
    let replies = vec![act("find_references", json!({"symbol": "a.py::f"}))];
    let engine = engine(&project, fake(&project, renames(), pulled(on)), replies);
    let log = project.beside("fake").join("log");
    let says = |words: &'static str| {
        let log = log.clone();
        async move {
            while !std::fs::read_to_string(&log).unwrap_or_default().contains(words) {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    };
    let stop = async {
        says("textDocument/references").await;
        engine.cancel.cancel();
        says("$/cancelRequest").await;
    };
    let request = everywhere("explain f");
    let (outcome, ()) = tokio::join!(engine.ask_about(&request), stop);
    assert_eq!(outcome["failed"]["kind"], "cancelled", "{outcome}");
}

/// A getter and its setter have one name, and each an import that nobody uses.
const TWINS: &str = "class A:\n    @property\n    def size(self) -> int:\n        import os\n\n        return 1\n\n    \
                     @size.setter\n    def size(self, value: int) -> None:\n        import sys\n\n        print(value)\n";

#[test]
fn the_first_of_two_symbols_of_one_name_is_repaired_as_well_as_the_second() {
    for (line, gone) in [(4, "        import os\n\n"), (10, "        import sys\n\n")] {
        let project = Project::new(&[("a.py", TWINS)]);
        let place = format!("a.py:{line}");
        let asked = ["ask", "--model", "offline", "fix the unused imports", "--file", place.as_str(), "--json"];
        let output = self::sextant(&project, &asked);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        assert!(!project.read("a.py").contains(gone.trim()), "{line}: {}\n{said}", project.read("a.py"));
    }
    let project = Project::new(&[("a.py", TWINS)]);
    let output =
        self::sextant(&project, &["plan", "--model", "offline", "fix the unused imports", "--file", "a.py", "--json"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
}
