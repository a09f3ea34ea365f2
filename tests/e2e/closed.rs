//! What an edit breaks in files that nobody has open, at every door, with the real type checker.

mod conditional;
mod sequences;
pub(crate) mod shapes;
mod taken_back;
mod unlisted;
mod unparsed_crate;

use std::sync::Arc;

use serde_json::{Value, json};
use sextant::engine::{OutsideClient, Request, Steps};
use tokio_util::sync::CancellationToken;

use crate::mcp::replace;
use crate::nvim::ask::{options, step};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::mcp::{McpClient, servers};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::servers::{fake_config, python_servers};

const ITEMS: &str = "\
def make_item(name: str) -> str:
    return name


class Cart:
    def total(self) -> int:
        return 1

    def count(self) -> int:
        return 2


def other() -> int:
    return 3
";
const MAKE: &str = "def make_item(name: str) -> str:\n    return name\n\n\n";
const USER: &str = "from shop.items import make_item\n\n\ndef use() -> str:\n    return make_item('a')\n";
const TOTALS: &str = "from shop.items import Cart\n\n\ndef total(cart: Cart) -> int:\n    return cart.total()\n";

fn project() -> Project {
    Project::new(&[
        ("shop/__init__.py", ""),
        ("shop/items.py", ITEMS),
        ("shop/user.py", USER),
        ("shop/totals.py", TOTALS),
        ("shop/apart.py", "x: int = 'a'\n"),
        ("conf.ini", "a = 1\n"),
    ])
}

fn engine(project: &Project, setup: Setup) -> TestEngine {
    let config = json!({"diagnostics": {"timeout_ms": 60_000}});
    TestEngine::new(project, Setup { servers: python_servers(project.root()), config, ..setup })
}

fn about(symbol: &str) -> Request {
    Request { text: "remove make_item".into(), symbols: vec![symbol.into()], ..Request::default() }
}

fn delete(extra: Value) -> Value {
    let mut given = change("shop/items.py", MAKE, "");
    if let (Some(given), Value::Object(extra)) = (given.as_object_mut(), extra) {
        given.extend(extra);
    }
    given
}

/// The second client opens the file that the first one's edit reaches, while that edit is looked at.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_clients_at_once_one_is_told_what_breaks_in_the_file_of_the_other() {
    let project = Project::new(&[
        ("m.py", "def ff() -> int:\n    return 1\n"),
        ("use.py", "from m import ff\nx: int = ff()\nprint(x)\n"),
        ("z.py", "q = 1\n"),
    ]);
    let engine = engine(&project, Setup::default());
    let (first, second) = (OutsideClient::new("1", "claude"), OutsideClient::new("2", "codex"));
    let cancel = CancellationToken::new();
    let call = async |client: &OutsideClient, given: Value| {
        engine.session.call(client, "edit_file", given, None, &cancel).await.expect("an edit").text
    };
    call(&first, replace("z.py", "q = 1", "q = 2")).await;
    let later = async {
        tokio::time::timeout(std::time::Duration::from_millis(3), std::future::pending::<()>()).await.ok();
        call(&second, replace("use.py", "print(x)", "print(x + 1)")).await
    };
    let (one, other) =
        tokio::join!(call(&first, replace("m.py", "-> int:\n    return 1", "-> str:\n    return ''")), later);
    assert!([&one, &other].iter().any(|text| text.contains("reportAssignmentType")), "{one}\n{other}");
}

#[tokio::test]
async fn a_client_is_told_what_its_edit_breaks_in_a_closed_file() {
    for (old, new, file, code) in [
        (MAKE, "", "shop/user.py", "reportAttributeAccessIssue"),
        ("make_item(name: str)", "make_item(name: str, price: int)", "shop/user.py", "reportCallIssue"),
        ("def total(self)", "def sum(self)", "shop/totals.py", "reportAttributeAccessIssue"),
    ] {
        let project = project();
        let mut client = McpClient::with_servers(&project, "codex").await;
        let edited = client.edit("edit_file", replace("shop/items.py", old, new)).await;
        assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
        let new = edited["new_diagnostics"].to_string();
        assert!(new.contains(file) && new.contains(code), "{edited}");
        // Nothing of it is old when the broken file itself is edited, and what it repairs is counted.
        if file == "shop/user.py" {
            let own = "def make_item(name: str, price: int = 0) -> str:\n    return name * price\n";
            let repaired = client.edit("edit_file", replace(file, "from shop.items import make_item\n", own)).await;
            assert_eq!(repaired["diagnostics_status"], "complete", "{repaired}");
            assert!(repaired["fixed"].as_u64().is_some_and(|fixed| fixed > 0), "{repaired}");
        }
        assert!(client.end().await.success());
    }
}

#[tokio::test]
async fn a_common_word_reaches_those_alone_whom_the_server_names() {
    let project = project();
    for number in 0..40 {
        let text = "from shop.items import other\n\ntotal = other()\nprint(total)\n";
        project.write(&format!("reports/r{number}.py"), text);
    }
    let mut client = McpClient::with_servers(&project, "codex").await;
    // The server has read the project.
    client.edit("edit_file", replace("shop/items.py", "return 2", "return 4")).await;
    let edited = client.edit("edit_file", replace("shop/items.py", "def total(self)", "def sum(self)")).await;
    assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
    assert!(edited["new_diagnostics"].to_string().contains("shop/totals.py"), "{edited}");
    // A name that all of them use reaches them all.
    let edited = client.edit("edit_file", replace("shop/items.py", "def other() -> int", "def other() -> bytes")).await;
    assert_eq!(edited["diagnostics_status"], "partial", "{edited}");
    assert!(edited["pending"].to_string().contains("that may use `other`"), "{edited}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_test_beside_the_source_folder_is_told_of_what_its_import_loses() {
    let user = USER.replace("shop.items", "cart.items");
    let files = [("src/cart/__init__.py", ""), ("src/cart/items.py", ITEMS), ("tests/test_items.py", &user)];
    let project = Project::new(&files);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let edited = client.edit("edit_file", replace("src/cart/items.py", MAKE, "")).await;
    assert!(edited["new_diagnostics"].to_string().contains("tests/test_items.py"), "{edited}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_new_file_that_takes_the_place_of_another_module_is_answered_with_what_its_importers_lose() {
    let project = project();
    project.write("app.py", "import yaml\n\nprint(yaml.safe_load('1'))\n");
    let mut client = McpClient::with_servers(&project, "codex").await;
    client.edit("edit_file", replace("shop/items.py", "return 3", "return 4")).await;
    let made = client.edit("write_file", json!({"path": "yaml.py", "content": "RED = 1\n"})).await;
    assert_eq!(made["diagnostics_status"], "complete", "{made}");
    // Where the package is not installed, the import itself was reported before, and what it hid counts as revealed.
    let reported = format!("{}{}", made["new_diagnostics"], made["revealed"]);
    assert!(reported.contains("app.py"), "{made}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_new_file_is_answered_with_what_it_breaks_before_any_server_has_reported() {
    let project = project();
    let mut client = McpClient::with_servers(&project, "codex").await;
    let stub = "class Cart: ...\n";
    let made = client.edit("write_file", json!({"path": "shop/items.pyi", "content": stub})).await;
    assert_eq!(made["diagnostics_status"], "complete", "{made}");
    assert!(made["new_diagnostics"].to_string().contains("shop/user.py"), "{made}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn an_edit_of_a_body_looks_at_no_closed_file() {
    let project = project();
    let mut client = McpClient::with_servers(&project, "codex").await;
    let edited = client.edit("edit_file", replace("shop/items.py", "return name", "return name + name")).await;
    assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
    assert_eq!((&edited["unchanged"], edited["new_diagnostics"].as_array().map(Vec::len)), (&json!(0), Some(0)));
    assert!(client.end().await.success());
}

#[tokio::test]
async fn an_answer_that_was_put_off_tells_what_the_first_edit_broke_in_a_closed_file() {
    let project = project();
    let mut client = McpClient::with_servers(&project, "codex").await;
    client.edit("edit_file", delete(json!({"diagnostics": "defer"}))).await;
    let moved = change("shop/apart.py", "x: int = 'a'\n", format!("x: int = 'a'\n{MAKE}"));
    let edited = client.edit("edit_file", moved).await;
    assert_eq!(edited["diagnostics_status"], "complete", "{edited}");
    assert!(edited["new_diagnostics"].to_string().contains("shop/user.py"), "{edited}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_file_that_was_in_reach_before_is_asked_about_once_it_is_edited_itself() {
    let project = project();
    let mut client = McpClient::with_servers(&project, "codex").await;
    let parameter = replace("shop/items.py", "make_item(name: str)", "make_item(name: str, price: int = 0)");
    client.edit("edit_file", parameter).await;
    let broken = json!({"path": "shop/user.py", "old_string": "make_item('a')", "new_string": "missing", "diagnostics": "defer"});
    client.edit("edit_file", broken).await;
    let edited = client.edit("edit_file", replace("shop/apart.py", "x: int = 'a'", "x: int = 'b'")).await;
    assert!(edited["new_diagnostics"].to_string().contains("shop/user.py"), "{edited}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn more_files_than_the_limit_are_named_and_the_answer_is_partial() {
    let users: Vec<(String, String)> = (0..4).map(|n| (format!("shop/user{n}.py"), USER.to_owned())).collect();
    let project = project();
    users.iter().for_each(|(path, text)| project.write(path, text));
    let config = json!({"diagnostics": {"timeout_ms": 60_000, "reach": 2}});
    let replies = vec![act("edit_file", delete(json!({})))];
    let setup = Setup { replies, config, servers: python_servers(project.root()), ..Setup::default() };
    let engine = TestEngine::new(&project, setup);
    let outcome = engine.ask_about(&about("shop/items.py")).await;
    assert_eq!(outcome["diagnostics_status"], "partial", "{outcome}");
    let pending = outcome["pending"].to_string();
    assert!(pending.contains("3 files that may use `make_item`, not looked at, first shop/user"), "{outcome}");
    assert_eq!(outcome["new_diagnostics"].as_array().map(Vec::len), Some(2), "{outcome}");
}

#[tokio::test]
async fn an_importer_that_no_server_can_be_asked_about_is_named_and_the_answer_is_partial() {
    let notebook = json!({"cells": [{"cell_type": "code", "source": ["from shop.items import make_item\n"]}]});
    for (path, bytes) in [
        ("shop/look.ipynb", notebook.to_string().into_bytes()),
        ("shop/latin.py", b"# -*- coding: latin-1 -*-\n# caf\xe9\nfrom shop.items import make_item\n".to_vec()),
    ] {
        let project = project();
        std::fs::write(project.root().join(path), bytes).unwrap();
        let mut client = McpClient::with_servers(&project, "codex").await;
        let edited = client.edit("edit_file", delete(json!({}))).await;
        assert_eq!(edited["diagnostics_status"], "partial", "{path}: {edited}");
        let pending = edited["pending"].to_string();
        assert!(pending.contains(&format!("{path} (may use `make_item`, not looked at)")), "{edited}");
        assert!(client.end().await.success());
    }
}

#[tokio::test]
async fn a_task_and_a_plan_tell_what_they_break_in_a_closed_file() {
    let project = project();
    let mut setup = Setup { replies: vec![last("edit_file", delete(json!({})))], ..Setup::default() };
    let asked = engine(&project, setup).ask_about(&about("shop/items.py")).await;
    assert!(asked["new_diagnostics"].to_string().contains("shop/user.py"), "{asked}");
    let project = self::project();
    setup = Setup {
        plans: vec![plan_of([planned("remove it", &["shop/items.py::make_item"])])],
        replies: vec![last("edit_file", delete(json!({})))],
        ..Setup::default()
    };
    let engine = engine(&project, setup);
    engine.plan_for(&about("shop/items.py")).await.expect("a plan");
    let ran = engine.session.approve(Steps::All, &engine.cancel).await.result;
    let told = format!("{ran:?}");
    assert!(told.contains("shop/user.py"), "{told}");
}

#[tokio::test]
async fn a_question_says_what_the_edit_would_break_in_a_closed_file() {
    let project = Project::new(&[("conftest.py", ITEMS), ("user.py", &USER.replace("shop.items", "conftest"))]);
    let mut engine = engine(&project, Setup::default());
    engine.session.answers_come();
    let session = Arc::clone(&engine.session);
    let client = OutsideClient::new("1", "codex");
    let given = replace("conftest.py", MAKE, "");
    let called =
        tokio::spawn(async move { session.call(&client, "edit_file", given, None, &CancellationToken::new()).await });
    let (text, options) = engine.question().await;
    assert!(text.contains("\nIt would introduce 1 error:\n") && text.contains("user.py:1"), "{text}");
    engine.session.answer_waiting(options.len()).expect("a question").expect("an answer");
    called.await.expect("no panic").expect_err("refused");
    assert_eq!(project.read("conftest.py"), ITEMS);
}

#[tokio::test(flavor = "multi_thread")]
async fn neovim_tells_what_is_broken_in_a_file_without_a_buffer() {
    let project = project();
    let server = ModelServer::start([step("edit_file", delete(json!({})), false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "shop/items.py").await;
    nvim.command("1").await;
    nvim.task("AgentAsk remove make_item").await;
    let list = nvim.quickfix().await.join("\n");
    assert!(list.contains("user.py:1: E:"), "{list}");
    let windows: usize = nvim.lua("return #vim.api.nvim_tabpage_list_wins(0)").await;
    assert!(windows <= 3, "nothing else was opened: {windows}");
}

#[tokio::test]
async fn a_file_that_nothing_checks_is_no_clean_one() {
    let project = project();
    let mut client = McpClient::with_servers(&project, "codex").await;
    client.edit("edit_file", replace("shop/items.py", "return 3", "return 4")).await;
    let edited = client.edit("edit_file", replace("conf.ini", "a = 1", "a = [")).await;
    assert_ne!(edited["diagnostics_status"], "complete", "{edited}");
    assert!(edited["pending"].to_string().contains("nothing checks conf.ini"), "{edited}");
    assert!(client.end().await.success());
}

#[tokio::test]
async fn the_first_edit_of_a_client_waits_for_cold_servers_and_what_it_breaks_is_new() {
    for _ in 0..3 {
        let project = project();
        let mut client = McpClient::open(&project, "codex", &["--servers", &servers()]).await;
        let edited = client.edit("edit_file", replace("shop/items.py", "return name", "return 1")).await;
        assert!(edited["new_diagnostics"].to_string().contains("reportReturnType"), "{edited}");
        assert!(client.end().await.success());
    }
}

#[tokio::test]
async fn what_a_server_says_of_an_edit_only_after_its_deadline_is_told_with_the_next_answer() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let script = json!({
        "capabilities": {"diagnosticProvider": {"interFileDependencies": true, "workspaceDiagnostics": false}},
        "on": {"textDocument/diagnostic": [{"wait_for": "go"}, {"reply": {"pull": "scan"}}]},
    });
    let servers = vec![fake_config(&project.beside("fake"), &script)];
    let config = json!({"diagnostics": {"timeout_ms": 400, "start_timeout_ms": 400}});
    let engine = TestEngine::new(&project, Setup { servers, config, ..Setup::default() });
    let client = OutsideClient::new("1", "codex");
    let edit = |old: &str, new: &str| {
        let given = replace("a.py", old, new);
        engine.session.call(&client, "edit_file", given, None, &engine.cancel)
    };
    let first = edit("x = 1", "x = bad").await.expect("an edit").text;
    assert!(first.contains("nothing is known yet"), "{first}");
    std::fs::write(project.beside("fake").join("go"), "").expect("a file");
    let second = edit("x = bad\n", "x = bad\nz = 2\n").await.expect("an edit").text;
    assert!(second.contains("first looked at after an earlier edit, may be older: error a.py"), "{second}");
}
