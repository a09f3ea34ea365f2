//! The tools that ask a language server about a name, with Neovim's own clients: real basedpyright, and one that
//! misbehaves.

use serde_json::{Value, json};

use crate::names::CART;
use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::says;
use crate::support::servers::tool;

const SHOP: &str = "\
from cart import Cart


class Mine(Cart):
    def amount(self, first: int, second: int) -> str:
        return \"\"


def pay(cart: Cart) -> int:
    return cart.total([\"total\"])
";

const OFFLINE: &str = "{ diagnostics = { timeout_ms = 60000, start_timeout_ms = 120000 } }";

fn shop() -> Project {
    Project::new(&[("cart.py", CART), ("shop.py", SHOP), ("README.md", "Call `total` first.\n")])
}

fn rename(symbol: &str, new_name: &str) -> Reply {
    step("rename_symbol", json!({"symbol": symbol, "new_name": new_name}), true)
}

/// What the model was told in its question of this number, from 0.
fn told(server: &ModelServer, question: usize) -> String {
    server.requests()[question].said_by("user").to_owned()
}

async fn is_loaded(nvim: &Nvim, file: &str) -> bool {
    nvim.lua(&format!("return vim.fn.bufloaded('{file}') == 1")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_reaches_unsaved_and_unopened_files_and_one_undo_gives_all_back() {
    let project = shop();
    let server = ModelServer::start([rename("cart.py::Cart::total", "whole"), says("done")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "cart.py").await;
    nvim.command("call append(line('$'), '# mine: total')").await;
    let unsaved = format!("{CART}# mine: total\n");
    let summary = nvim.task("AgentAsk! rename Cart.total to whole for me").await;
    assert!(summary.contains("0 new diagnostics"), "{summary}");
    let said = told(&server, 1);
    assert!(said.contains("renamed total to whole: 3 places in 2 files: cart.py (2), shop.py (1)"), "{said}");
    assert!(said.contains("total still stands on 3 lines"), "{said}");
    assert!(said.contains("README.md:1, cart.py:10, shop.py:10"), "{said}");
    let renamed = unsaved.replace("def total", "def whole").replace("self.total", "self.whole");
    assert_eq!(nvim.text().await, renamed);
    assert_eq!(project.read("cart.py"), CART, "what the user has not written is not written");
    assert_eq!(project.read("shop.py"), SHOP.replace("cart.total", "cart.whole"));
    nvim.task("AgentUndo").await;
    assert_eq!(nvim.text().await, unsaved);
    assert_eq!((project.read("cart.py").as_str(), project.read("shop.py").as_str()), (CART, SHOP));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rename_breaks_in_a_file_that_nobody_opened_is_told_and_listed() {
    let project = shop();
    let server = ModelServer::start([rename("cart.py::Cart::total", "amount"), says("done")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "cart.py").await;
    nvim.task("AgentAsk! rename Cart.total to amount for me").await;
    let said = told(&server, 1);
    assert!(said.contains("1 new") && said.contains("reportIncompatibleMethodOverride"), "{said}");
    let list = nvim.quickfix().await;
    assert!(list.iter().any(|line| line.starts_with("shop.py:5: E: Mine::amount: ")), "{list:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_out_of_the_scope_changes_and_opens_nothing() {
    let project = shop();
    let server = ModelServer::start([rename("cart.py::Cart::total", "whole"), says("done")]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright"], "cart.py").await;
    nvim.command("5").await;
    let summary = nvim.task("AgentAsk rename this method to whole").await;
    assert!(summary.contains("nothing was changed"), "{summary}");
    let said = told(&server, 1);
    assert!(said.contains("outside of the scope of this task (cart.py::Cart::total)"), "{said}");
    assert!(said.contains("cart.py::Cart::show, shop.py::pay; nothing was changed"), "{said}");
    assert_eq!((nvim.text().await.as_str(), project.read("shop.py").as_str()), (CART, SHOP));
    assert!(!is_loaded(&nvim, "shop.py").await, "what was opened for the question is closed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_s_clients_tell_references_definitions_and_types() {
    let project = shop();
    let server = ModelServer::start([
        step("find_references", json!({"symbol": "cart.py::Cart::total"}), true),
        step("definition", json!({"symbol": "cart.py::Cart::show", "name": "json.dumps"}), true),
        step("definition", json!({"symbol": "shop.py::pay", "name": "cart.total"}), true),
        step("hover", json!({"symbol": "cart.py::Cart::show", "name": "self.total"}), true),
        says("done"),
    ])
    .await;
    let mut nvim = Nvim::open(&project, &options(&server), &["basedpyright", "ruff"], "cart.py").await;
    nvim.task("AgentAsk! explain Cart.total").await;
    let said = told(&server, 1);
    assert!(said.contains("2 references to cart.py::Cart::total (declared on line 5) in 2 files"), "{said}");
    assert!(said.contains("9: ümlaut = ") && said.contains("shop.py\n  pay\n    10: return cart.total"), "{said}");
    let said = told(&server, 2);
    assert!(said.contains("json/__init__.py") && said.contains("::dumps, line "), "{said}");
    let said = told(&server, 3);
    assert!(said.contains("cart.py::Cart::total, line 5"), "{said}");
    let said = told(&server, 4);
    assert!(said.contains("list[str]") && said.contains("```"), "{said}");
}

/// Neovim with `a.py` and these clients on it, and a way to ask as the binary does.
struct Scripted {
    nvim: Nvim,
    project: Project,
}

const ASK: &str = r"
function _G.ask(params)
  local buf = vim.api.nvim_get_current_buf()
  params.path = vim.api.nvim_buf_get_name(buf)
  params.version, params.most = vim.b[buf].changedtick, 5000
  require('sextant.lsp.lookup').look_up(params, function(err, answers)
    _G.tell('answer', { err = err, answers = answers })
  end)
end
";

impl Scripted {
    async fn start(text: &str, options: &str, clients: &[(&str, Value)]) -> Self {
        let project = Project::new(&[("a.py", text)]);
        let nvim = Nvim::open(&project, options, &[], "a.py").await;
        nvim.greeted().await;
        nvim.lua::<bool>(&format!("{ASK} return true")).await;
        for (name, script) in clients {
            let mut script = script.clone();
            script["capabilities"]["textDocumentSync"] = json!({"openClose": true, "change": 1, "save": true});
            script["log"] = json!("log");
            let file = project.beside(name).join("script.json");
            std::fs::write(&file, script.to_string()).expect("a script");
            let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
            let command = json!([tool("python3"), program, file]);
            let begin = format!(
                "vim.lsp.start({{ name = '{name}', cmd = vim.json.decode([==[{command}]==]), root_dir = vim.fn.getcwd() }})
                return true"
            );
            nvim.lua::<bool>(&begin).await;
        }
        Self { nvim, project }
    }

    async fn ask(&mut self, method: &str, line: u32, column: u32, ms: u64) -> Value {
        self.begin(method, line, column, ms).await;
        self.nvim.wait("answer").await
    }

    async fn begin(&self, method: &str, line: u32, column: u32, ms: u64) {
        let ask = json!({"id": 1, "method": method, "new_name": "g", "line": line, "column": column, "ms": ms,
            "spans_project": false, "reading_ms": 0});
        self.nvim.lua::<bool>(&format!("_G.ask(vim.json.decode([==[{ask}]==])) return true")).await;
    }

    /// What a server was sent of a method.
    fn sent(&self, client: &str, method: &str) -> Vec<Value> {
        let log = std::fs::read_to_string(self.project.beside(client).join("log")).unwrap_or_default();
        let all = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        all.filter(|message| message["method"] == method).collect()
    }
}

const HOVER: &str = "textDocument/hover";
const RENAME: &str = "textDocument/rename";
const PREPARE: &str = "textDocument/prepareRename";

fn hovers(encoding: &str, on: Value) -> Value {
    json!({"capabilities": {"hoverProvider": true, "positionEncoding": encoding}, "on": {HOVER: on}})
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_useful_answer_counts_and_a_silent_client_is_named() {
    let says = |text: &str| hovers("utf-16", json!([{"reply": {"contents": text}}]));
    let clients = [("zoe", says("z")), ("ann", says("")), ("bob", hovers("utf-16", json!([{"wait_for": "never"}])))];
    let mut scripted = Scripted::start("x = 1\n", "{}", &clients).await;
    let answer = scripted.ask(HOVER, 0, 0, 2000).await;
    let heard: Vec<(&str, &str)> = answer["answers"]
        .as_array()
        .expect("answers")
        .iter()
        .map(|one| (one["client"].as_str().expect("a name"), one["how"].as_str().expect("how")))
        .collect();
    assert_eq!(heard, [("ann", "answered"), ("bob", "silent"), ("zoe", "answered")]);
    assert_eq!(answer["answers"][2]["value"]["contents"], "z");
    let log = scripted.project.beside("bob").join("log");
    let cancelled = async {
        while !std::fs::read_to_string(&log).unwrap_or_default().contains("$/cancelRequest") {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), cancelled).await.expect("the silent one is let go");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_still_reads_is_waited_for_and_one_that_offers_nothing_is_not() {
    let progress =
        |kind: &str| json!({"notify": ["$/progress", {"token": 7, "value": {"kind": kind, "title": "reads"}}]});
    let place = |line: u32| {
        let range = json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}});
        json!([{"uri": "file:///a.py", "range": range}])
    };
    let lint = json!({"capabilities": {}, "on": {"textDocument/didOpen": [progress("begin")]}});
    // Progress for a question ends behind its answer, and the question is not repeated.
    let polite = json!({"capabilities": {"referencesProvider": true}, "log": "log", "on": {
        "textDocument/references": [progress("begin"), {"reply": []}, progress("end")],
    }});
    // Its first answer lacks what it reads until the file is there.
    let reader = json!({"capabilities": {"referencesProvider": true}, "on": {
        "textDocument/references": [
            [progress("begin"), {"reply": place(0)}, {"wait_for": "read"}, progress("end")],
            [{"reply": place(1)}],
        ]
    }});
    let mut scripted =
        Scripted::start("x = 1\n", "{}", &[("lint", lint), ("polite", polite), ("clangd", reader)]).await;
    let ask = json!({"id": 1, "method": "textDocument/references", "line": 0, "column": 0, "ms": 600_000,
        "spans_project": true, "reading_ms": 600_000});
    scripted.nvim.lua::<bool>(&format!("_G.ask(vim.json.decode([==[{ask}]==])) return true")).await;
    let begun = "vim.iter(vim.lsp.get_clients({ name = 'clangd' })):any(function(client)
        return next(client.progress.pending) ~= nil end)";
    let waits: bool = scripted.nvim.lua(&format!("return (vim.wait(30000, function() return {begun} end, 5))")).await;
    assert!(waits, "it reads");
    // The polite one may start later than the other, whose answer would end the question.
    let polite_is_asked = async {
        while scripted.sent("polite", "textDocument/references").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), polite_is_asked).await.expect("both are asked");
    std::fs::write(scripted.project.beside("clangd").join("read"), "").expect("a file");
    let answer = scripted.nvim.wait("answer").await;
    assert_eq!(scripted.sent("polite", "textDocument/references").len(), 1);
    let one = &answer["answers"][0];
    assert_eq!((&one["client"], &one["unread"]), (&json!("clangd"), &Value::Null), "{answer:#}");
    assert_eq!(one["value"][0]["range"]["start"]["line"], 1, "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_asked_in_its_own_unit_behind_any_text() {
    // `é😀ü = 1; ` is 14 bytes, 9 units of UTF-16, 8 characters.
    for (encoding, column) in [("utf-8", 13), ("utf-16", 9), ("utf-32", 8)] {
        let clients = [("fake", hovers(encoding, json!([{"reply": {"contents": "n"}}])))];
        let mut scripted = Scripted::start("é😀ü = 1; x\n", "{}", &clients).await;
        let answer = scripted.ask(HOVER, 0, 13, 60_000).await;
        assert_eq!(answer["answers"][0]["encoding"], encoding);
        let sent = scripted.sent("fake", HOVER);
        assert_eq!(sent[0]["params"]["position"], json!({"line": 0, "character": column}), "{encoding}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_called_off_or_outlived_by_its_text_is_answered_with_nothing_old() {
    let clients = [("fake", hovers("utf-16", json!([{"wait_for": "go"}, {"reply": {"contents": "old"}}])))];
    let mut scripted = Scripted::start("x = 1\n", "{}", &clients).await;
    scripted.begin(HOVER, 0, 0, 60_000).await;
    scripted.nvim.lua::<bool>("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'y = 1' }) return true").await;
    std::fs::write(scripted.project.beside("fake").join("go"), "").expect("a signal");
    let answer = scripted.nvim.wait("answer").await;
    assert_eq!(answer["answers"][0]["how"], "outdated", "{answer}");
    std::fs::remove_file(scripted.project.beside("fake").join("go")).expect("the signal");
    scripted.begin(HOVER, 0, 0, 60_000).await;
    let forget =
        "require('sextant.lsp.lookup').forget({ id = 1 }, function() _G.tell('forgotten', {}) end) return true";
    scripted.nvim.lua::<bool>(forget).await;
    scripted.nvim.wait("forgotten").await;
    let log = scripted.project.beside("fake").join("log");
    let cancelled = async {
        while !std::fs::read_to_string(&log).unwrap_or_default().contains("$/cancelRequest") {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), cancelled).await.expect("the request is cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_dies_or_answers_a_text_gone_by_changes_nothing() {
    const TEXT: &str = "def f():\n    return f\n";
    let edit =
        json!({"range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}}, "newText": "g"});
    let stale = |uri: String| {
        let document = json!({"uri": uri, "version": 77});
        json!([{"reply": {"documentChanges": [{"textDocument": document, "edits": [edit]}]}}])
    };
    for (what, words) in [("die", "fake is gone (the server has stopped)"), ("stale", "is not the current one, twice")]
    {
        let server = ModelServer::start([rename("a.py::f", "g"), says("done")]).await;
        let mut scripted = Scripted::start(TEXT, &options(&server), &[]).await;
        let uri = format!("file://{}", scripted.project.root().join("a.py").display());
        let on = if what == "die" { json!([{"die": 3}]) } else { stale(uri) };
        let script = json!({
            "capabilities": {"renameProvider": true, "diagnosticProvider": {"interFileDependencies": false},
                "textDocumentSync": {"openClose": true, "change": 1}},
            "on": {RENAME: on, "textDocument/diagnostic": [{"reply": {"pull": []}}]},
        });
        let file = scripted.project.beside("fake").join("script.json");
        std::fs::write(&file, script.to_string()).expect("a script");
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
        let command = json!([tool("python3"), program, file]);
        let begin = format!(
            "vim.lsp.start({{ name = 'fake', cmd = vim.json.decode([==[{command}]==]), root_dir = vim.fn.getcwd() }}) return true"
        );
        scripted.nvim.lua::<bool>(&begin).await;
        scripted.nvim.task("AgentAsk! rename f to g for me").await;
        let said = told(&server, 1);
        assert!(said.contains(words), "{what}: {said}");
        assert_eq!(scripted.nvim.text().await, TEXT, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_and_its_undo_leave_no_error_in_an_open_file_out_of_sight() {
    let project = Project::shop();
    let mut nvim = Nvim::open(&project, OFFLINE, &["basedpyright", "ruff"], "src/shop/cart.py").await;
    let unknown = "return #vim.iter(vim.diagnostic.get(vim.fn.bufnr('cart.py'))):filter(function(one)
        return one.message:find('is unknown import symbol') ~= nil end):totable()";
    nvim.edit("src/shop/pricing.py").await;
    let summary = nvim.task("AgentAsk rename round_price to rounded_price").await;
    assert!(summary.contains("0 new diagnostics"), "{summary}");
    assert_eq!(nvim.lua::<i64>(unknown).await, 0, "after the rename");
    nvim.task("AgentUndo").await;
    assert_eq!(nvim.lua::<i64>("return #vim.fn.getqflist()").await, 0);
    assert_eq!(nvim.lua::<i64>(unknown).await, 0, "after the undo");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_not_have_read_the_text_yet_is_asked_again_until_it_has() {
    let (nothing, renamed) = (json!([{"reply": null}]), json!([{"reply": {"changes": {}}}]));
    let publish = json!({"publish": {"version": "same", "items": "scan"}});
    let server = |on: Value| json!({"capabilities": {"renameProvider": {"prepareProvider": true}}, "on": on});
    let unread = json!({PREPARE: [nothing, nothing, [{"reply": {"placeholder": "f"}}]], RENAME: renamed});
    let read = json!({"textDocument/didOpen": [publish], PREPARE: nothing});
    for (script, how, asked) in [(unread, "answered", 3), (read, "refused", 1)] {
        let mut scripted = Scripted::start("x = 1\n", "{}", &[("bash", server(script))]).await;
        if asked == 1 {
            let published = "return (vim.wait(20000, function()
              local client = vim.lsp.get_clients({ name = 'bash' })[1]
              return client and require('sextant.lsp.publishes').last(client.id, vim.uri_from_bufnr(0)) ~= nil
            end, 5))";
            assert!(scripted.nvim.lua::<bool>(published).await);
        }
        let ask = json!({"id": 1, "method": RENAME, "new_name": "g", "line": 0, "column": 0, "ms": 30000,
            "spans_project": true, "reading_ms": 20000});
        scripted.nvim.lua::<bool>(&format!("_G.ask(vim.json.decode([==[{ask}]==])) return true")).await;
        let answer = scripted.nvim.wait("answer").await;
        assert_eq!(answer["answers"][0]["how"], how, "{answer}");
        assert_eq!(scripted.sent("bash", PREPARE).len(), asked);
    }
}
