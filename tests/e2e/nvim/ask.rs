//! `:AgentAsk`: the edit, exactly the new diagnostics in the quickfix list, the undo.

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::{change, says};

pub const BOTH: &[&str] = &["basedpyright", "ruff"];

/// Options for a model behind this address; generous in time, since the machine may be busy.
pub fn options(server: &ModelServer) -> String {
    format!(
        "{{ model = {{ provider = 'openai_compatible', model = 'm', base_url = '{}', max_attempts = 2 }}, \
         diagnostics = {{ timeout_ms = 60000, start_timeout_ms = 120000 }} }}",
        server.url()
    )
}

/// One step of a model in the schema of simple mode.
pub fn step(tool: &str, parameters: Value, proceed: bool) -> Reply {
    Reply::Json(json!({
        "action": {"tool": tool, "parameters": parameters},
        "reasoning": "because it was asked",
        "continue": proceed,
        "confidence": 0.9,
        "answer": "",
    }))
}

/// Ten old errors, and two functions without any.
fn old_file() -> String {
    let mut text = String::from("def alpha() -> int:\n    return 1\n\n\ndef beta() -> int:\n    return 2\n");
    for n in 0..10 {
        text.push_str(&format!("\n\ndef old{n}() -> int:\n    return \"old {n}\"\n"));
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_two_new_errors_are_listed_below_forty_inserted_lines() {
    let project = Project::new(&[("shop.py", &old_file())]);
    let inserted: String = (0..40).map(|n| format!("    note{n} = {n}\n    print(note{n})\n")).collect();
    let body = format!(
        "def alpha() -> int:\n{inserted}    wrong: int = \"text\"\n    print(wrong)\n    return missing_name\n"
    );
    let server = ModelServer::start([step(
        "edit_symbol",
        json!({"symbol": "shop.py::alpha", "action": "replace", "content": body}),
        false,
    )])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "shop.py").await;
    nvim.command("call setqflist([], ' ', {'title': 'mine', 'items': [{'text': 'my own entry'}]})").await;
    let summary = nvim.task("AgentAsk break alpha").await;
    assert!(summary.contains("2 new diagnostics, 0 fixed, 10 unchanged"), "{summary}");
    let list = nvim.quickfix().await;
    assert_eq!(list[0], "Sextant: break alpha (project)");
    assert_eq!(list.len(), 3, "{list:#?}");
    assert!(list[1].starts_with("shop.py:82: E: alpha: ") && list[1].ends_with("[reportAssignmentType]"), "{list:#?}");
    assert!(
        list[2].starts_with("shop.py:84: E: alpha: ") && list[2].ends_with("[reportUndefinedVariable]"),
        "{list:#?}"
    );
    nvim.command("colder").await;
    assert_eq!(nvim.quickfix().await[0], "mine", "the user's own list is one :colder away");
    let entered: bool = nvim.lua("return vim.bo.filetype == 'python'").await;
    assert!(entered, "the focus stays in the user's window");
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_new_ones_are_listed_when_a_function_moves_to_the_end() {
    let project = Project::new(&[("shop.py", &old_file())]);
    let moved = old_file();
    let (alpha, rest) = moved.split_at(moved.find("def beta").unwrap());
    let beta_broken = rest.replace("return 2\n", "return beta_missing\n");
    let text = format!("{}\n\n{}", beta_broken, alpha.trim_end().replace("return 1", "return \"one\"")) + "\n";
    let server = ModelServer::start([step("write_file", json!({"path": "shop.py", "content": text}), false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "shop.py").await;
    // The empty line between the functions: the scope is the file.
    nvim.command("3").await;
    let summary = nvim.task("AgentAsk move alpha to the end").await;
    assert!(summary.contains("2 new diagnostics, 0 fixed, 10 unchanged"), "{summary}");
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 3, "{list:#?}");
    assert!(list[1].contains("E: beta: ") && list[2].contains("E: alpha: "), "{list:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_outside_the_scope_is_refused_and_changes_nothing() {
    let project = Project::new(&[("shop.py", &old_file())]);
    let outside = change("shop.py", "return 2", "return 22");
    let done = says("I may not.");
    let server = ModelServer::start([step("edit_file", outside, true), done]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "shop.py").await;
    nvim.command("1").await;
    let summary = nvim.task("AgentAsk change beta").await;
    assert!(summary.contains("nothing was changed"), "{summary}");
    assert_eq!(nvim.text().await, old_file());
    assert_eq!(project.read("shop.py"), old_file());
    let answer = nvim.answer().await;
    assert!(answer.contains("outside its scope") && answer.contains("beta"), "{answer}");
    let told = server.requests()[1].said_by("user").to_owned();
    assert!(told.contains("outside its scope"), "the model is told why: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_text_marks_and_the_order_of_the_undo_history() {
    let project = Project::new(&[("shop.py", &old_file())]);
    let replace = |old: &str, new: &str| change("shop.py", old, new);
    let server = ModelServer::start([
        step(
            "edit_file",
            replace("def alpha() -> int:\n    return 1\n", "def alpha() -> int:\n    one = 1\n    return one\n"),
            true,
        ),
        step("edit_file", replace("    one = 1\n", "    one = 1 + 0\n"), false),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "shop.py").await;
    nvim.command("call setline(6, '    return 2 + 0')").await;
    nvim.command("write").await;
    let mine = nvim.text().await;
    // A mark inside of what will be replaced, one below it.
    nvim.lua::<Value>(
        "vim.api.nvim_buf_set_mark(0, 'a', 2, 4, {}); vim.api.nvim_buf_set_mark(0, 'b', 6, 2, {}) return true",
    )
    .await;
    nvim.command("1").await;
    nvim.task("AgentAsk edit alpha twice").await;
    let theirs = nvim.text().await;
    assert!(theirs.contains("one = 1 + 0"), "{theirs}");
    assert_eq!(project.read("shop.py"), theirs, "a buffer without unsaved changes is written");

    let summary = nvim.task("AgentUndo").await;
    assert!(summary.contains("undone") && summary.contains("shop.py"), "{summary}");
    assert_eq!(nvim.text().await, mine);
    assert_eq!(project.read("shop.py"), mine);
    let marks: Value =
        nvim.lua("return { a = vim.api.nvim_buf_get_mark(0, 'a'), b = vim.api.nvim_buf_get_mark(0, 'b') }").await;
    assert_eq!(marks, json!({"a": [2, 4], "b": [6, 2]}));

    // `u` walks back: the undo, the second edit, the first edit, then the user's own change.
    let mut seen = Vec::new();
    for _ in 0..4 {
        nvim.command("undo").await;
        seen.push(nvim.text().await);
    }
    assert_eq!(seen[0], theirs);
    assert!(seen[1].contains("    one = 1\n"), "{}", seen[1]);
    assert_eq!(seen[2], mine);
    assert_eq!(seen[3], old_file());

    for _ in 0..4 {
        nvim.command("redo").await;
    }
    nvim.command("AgentRedo").await;
    assert!(nvim.finished().await.contains("brought back"));
    assert_eq!(nvim.text().await, theirs, "an undo can be undone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_break_in_another_open_file_is_reported_there() {
    let project = Project::new(&[
        ("prices.py", "def price(item: str) -> int:\n    return len(item)\n"),
        ("shop.py", "from prices import price\n\n\ndef total() -> int:\n    return price(\"a\")\n"),
    ]);
    let server = ModelServer::start([step("edit_file", change("prices.py", "def price(", "def cost("), false)]).await;
    let mut nvim = Nvim::open(&project, &options(&server), BOTH, "shop.py").await;
    nvim.edit("prices.py").await;
    let summary = nvim.task("AgentAsk rename price to cost for me").await;
    assert!(summary.contains("1 new diagnostic"), "{summary}");
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 2, "{list:#?}");
    assert!(list[1].starts_with("shop.py:1: E: ") && list[1].contains("reportAttributeAccessIssue"), "{list:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_offline_model_repairs_what_the_servers_can() {
    let project = Project::shop();
    let options = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";
    let mut nvim = Nvim::open(&project, options, BOTH, "src/shop/cart.py").await;
    // The first line belongs to no symbol: the scope is the file.
    nvim.command("1").await;
    let before = project.read("src/shop/cart.py");
    let summary = nvim.task("AgentAsk fix this").await;
    assert!(summary.contains("0 new diagnostics, 3 fixed"), "{summary}\n{}", nvim.answer().await);
    let after = project.read("src/shop/cart.py");
    assert!(!after.contains("import json") && after.contains("is None") && !after.contains("noqa"), "{after}");
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("src/shop/cart.py"), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_edits_is_settled_once_with_the_next_result() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n\n\nx = f()\n")]);
    let edit =
        |old: &str, new: &str| json!({"path": "a.py", "old_string": old, "new_string": new, "diagnostics": "defer"});
    let server = ModelServer::start([
        step("edit_file", edit("def f()", "def g()"), true),
        step("edit_file", edit("return 1", "return missing"), true),
        step("edit_file", edit("x = f()", "x = g()"), true),
        step("read_symbol", json!({"symbol": "a.py::g"}), false),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("3").await;
    nvim.task("AgentAsk rename f").await;
    let told: Vec<String> = server.requests().iter().map(|request| request.said_by("user").to_owned()).collect();
    assert!(
        told[1].contains("diagnostics: with the next result") && !told[2].contains("is not defined"),
        "{}",
        told[2]
    );
    assert!(told[2].contains("of an older text; not heard yet about this one: basedpyright (a.py))"), "{}", told[2]);
    let answer = nvim.answer().await;
    assert!(answer.contains("4. read_symbol"), "{answer}");
    let list = nvim.quickfix().await;
    assert_eq!(list.len(), 2, "only what is left at the end: {list:#?}");
    assert!(list[1].contains("g: \"missing\" is not defined"), "{list:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_place_in_the_result_of_edits_in_two_files_names_its_file() {
    let text = "def f() -> int:\n    return 1\n";
    let project = Project::new(&[("a.py", text), ("b.py", text)]);
    let edit = |path: &str| json!({"path": path, "old_string": "return 1", "new_string": "return missing"});
    let mut burst = edit("a.py");
    burst["diagnostics"] = json!("defer");
    let script = [step("edit_file", burst, true), step("edit_file", edit("b.py"), true), Reply::Stall("{".into())];
    let server = ModelServer::start(script).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "a.py").await;
    nvim.command("AgentAsk! break both").await;
    server.requests_seen(3).await;
    nvim.failed_task("AgentStop").await;
    let answer = nvim.answer().await;
    for place in ["error a.py::f:2 reportUndefinedVariable", "error b.py::f:2 reportUndefinedVariable"] {
        assert!(answer.contains(place), "{place}:\n{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_of_a_diagnostic_brings_its_place_into_scope() {
    let text = "import os\n\n\ndef alpha() -> int:\n    return 1\n";
    let project = Project::new(&[("shop.py", text)]);
    let server = ModelServer::start([step(
        "edit_file",
        json!({"path": "shop.py", "old_string": "import os\n\n\n", "new_string": ""}),
        false,
    )])
    .await;
    let mut nvim = Nvim::start(&project, &options(&server), &["ruff"]).await;
    nvim.edit("shop.py").await;
    nvim.command("4").await;
    nvim.command("AgentAsk fix #F401").await;
    let summary = nvim.finished().await;
    let asked = server.requests()[0].said_by("user").to_owned();
    assert!(asked.contains("May edit: shop.py::alpha, shop.py"), "{asked}");
    assert!(asked.contains("`os` imported but unused"), "{asked}");
    assert!(summary.contains("0 new diagnostics, 1 fixed"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_list_entry_goes_with_the_request() {
    let project =
        Project::new(&[("shop.py", "def alpha() -> int:\n    return 1\n\n\ndef beta() -> int:\n    return 2\n")]);
    let edit = json!({"path": "shop.py", "old_string": "return 2", "new_string": "return 3"});
    let server = ModelServer::start([step("edit_file", edit, false)]).await;
    let mut nvim = Nvim::start(&project, &options(&server), &["ruff"]).await;
    nvim.edit("shop.py").await;
    nvim.command("call setqflist([{'filename': 'shop.py', 'lnum': 6, 'text': 'beta is off by one'}]) | copen").await;
    nvim.command("AgentAsk fix this").await;
    nvim.finished().await;
    let asked = server.requests()[0].said_by("user").to_owned();
    assert!(asked.contains("May edit: shop.py::beta"), "{asked}");
    assert!(asked.contains("fix this (asked on the list entry: beta is off by one)"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_list_entry_are_not_those_of_the_request_for_the_offline_model() {
    let project = Project::new(&[("shop.py", "import os\n\n\ndef alpha() -> int:\n    return 1\n")]);
    let offline = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";
    let mut nvim = Nvim::start(&project, offline, &["ruff"]).await;
    nvim.edit("shop.py").await;
    nvim.command(
        "call setqflist([{'filename': 'shop.py', 'lnum': 1, 'text': 'No use of `os`, only of others'}]) | copen",
    )
    .await;
    let summary = nvim.task("AgentAsk fix this").await;
    assert!(summary.contains("1 fixed"), "{summary}: {}", nvim.answer().await);
    assert!(!project.read("shop.py").contains("import os"));
}
