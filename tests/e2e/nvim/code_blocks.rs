//! Code blocks of the answer: applied to the symbol that they define, confirmed by the user before anything is written.

use serde_json::Value;

use crate::nvim::ask::options;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::says;
use crate::support::wires::{self, Wire};

const CART: &str = "import os\n\n\nclass Cart:\n    def total(self) -> int:\n        return 1\n\n    def add(self, x: int) -> int:\n        return x\n\n\ndef main() -> None:\n    print(os.name)\n";

/// An answer with a block of Python.
fn shows(block: &str) -> String {
    format!("Like this:\n\n```python\n{block}```\n\nThat is all.")
}

async fn holds(nvim: &Nvim, condition: &str) -> bool {
    nvim.lua(&format!("return (vim.wait(30000, function() return {condition} end, 10))")).await
}

/// A Neovim on a screen whose agent has answered a question about line 6 of `cart.py` with this text.
async fn answered(project: &Project, server: &ModelServer, servers: &[&str]) -> Nvim {
    let mut nvim = Nvim::open_on_screen(project, &options(server), servers, "cart.py").await;
    nvim.command("6").await;
    nvim.task("AgentAsk how would you write it").await;
    nvim.answered("That is all.").await;
    nvim
}

/// Presses the key of the answer window in its block, and waits for the prompt with these words.
async fn press(nvim: &Nvim, prompt: &str) {
    nvim.command("AgentShow").await;
    nvim.command("call search('^```', 'bW') | normal! k").await;
    // The screen may show the prompt of before yet.
    nvim.screen.hides("Apply the block to this symbol").await;
    nvim.keys_show("gp", prompt).await;
}

/// Goes to the code of `cart.py`.
async fn in_code(nvim: &Nvim) {
    nvim.command("call win_gotoid(win_findbuf(bufnr('cart.py'))[0])").await;
}

async fn server(answer: &str) -> ModelServer {
    ModelServer::start([says(answer)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_is_applied_to_the_symbol_that_it_defines_and_taken_back_byte_for_byte() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = server(&shows("def add(self, x: int) -> int:\n    y: int = \"two\"\n    return x + y\n")).await;
    let mut nvim = answered(&project, &server, &["basedpyright"]).await;
    press(&nvim, "Apply the block to this symbol (replaces it): cart.py::Cart::add").await;
    assert_eq!(project.read("cart.py"), CART, "nothing is written before the user confirms");
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("changed cart.py. 1 new diagnostic, 0 fixed"), "{summary}\n{}", nvim.answer().await);
    let wanted = CART.replace("        return x\n", "        y: int = \"two\"\n        return x + y\n");
    assert_eq!(project.read("cart.py"), wanted, "the block gets the indentation of its place");
    let list = nvim.quickfix().await;
    assert_eq!(list[0], "Sextant: apply a code block to cart.py::Cart::add (project)");
    assert!(list.len() == 2 && list[1].starts_with("cart.py:9: E: Cart::add: "), "{list:#?}");
    assert_eq!(server.requests().len(), 1, "no model is asked");
    let answer = nvim.answer().await;
    assert!(answer.starts_with("# how would you write it"), "the conversation stays: {answer}");
    in_code(&nvim).await;
    nvim.command_shows("only | AgentHistory", "“apply a code block to cart.py::Cart::add” ← undo").await;
    nvim.keys("t").await;
    let traced = "vim.fn.bufname() == 'sextant://trace' and vim.fn.search('edit_symbol cart.py::Cart::add — the user applied a code block', 'nw') > 0";
    assert!(holds(&nvim, traced).await, "{}", nvim.screen.text());
    in_code(&nvim).await;
    nvim.command("only").await;
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("cart.py"), CART);
    assert!(holds(&nvim, "#vim.fn.getqflist() == 0").await, "{:?}", nvim.quickfix().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_prompt_writes_nothing_and_another_target_can_be_named_with_completion() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = server(&shows("def add(self, x: int) -> int:\n    return 2 * x\n")).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    press(&nvim, "cart.py::Cart::add").await;
    nvim.keys("<Esc>").await;
    assert!(holds(&nvim, "vim.api.nvim_get_mode().mode == 'n'").await);
    assert_eq!(project.read("cart.py"), CART);
    press(&nvim, "cart.py::Cart::add").await;
    // Words that name no symbol of the block are refused, and nothing begins.
    nvim.keys_show("<C-u>cart.py::Cart::to<Tab>", "cart.py::Cart::total").await;
    nvim.keys("<CR>").await;
    let failure = nvim.failed().await;
    assert_eq!(failure["message"], "the code block defines add and would take Cart::total away", "{failure}");
    assert_eq!((project.read("cart.py").as_str(), failure["kind"].as_str()), (CART, Some("tool")));
    press(&nvim, "cart.py::Cart::add").await;
    nvim.keys("<C-u>../else.py::add<CR>").await;
    let failure = nvim.failed().await;
    assert!(failure["message"].as_str().unwrap().contains("outside"), "{failure}");
    let failure = nvim.failed_task("AgentUndo").await;
    assert!(failure["message"].as_str().unwrap().contains("nothing"), "no task was made of it: {failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_symbol_goes_behind_the_one_under_the_cursor() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = server(&shows("def sum(self) -> int:\n    return 4\n")).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    press(&nvim, "Apply the block to this symbol (new, after Cart::total): cart.py::Cart::sum").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    let wanted = CART.replace("return 1\n", "return 1\n\n    def sum(self) -> int:\n        return 4\n");
    assert_eq!(project.read("cart.py"), wanted);
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("cart.py"), CART);
    // At the level of the file, since the user says so.
    in_code(&nvim).await;
    nvim.task("AgentApply cart.py::sum").await;
    let wanted = CART.replace("return x\n", "return x\n\n\ndef sum(self) -> int:\n    return 4\n");
    assert_eq!(project.read("cart.py"), wanted, "no prompt where the target is named");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_that_cannot_be_meant_is_refused_with_the_way_out() {
    let project = Project::new(&[("cart.py", CART)]);
    let blocks = ["def add(self, x:\n    return x\n", "def one():\n    pass\n\n\ndef two():\n    pass\n"];
    let elided = "def add(self, x: int) -> int:\n    # ... existing code\n    return 2\n";
    let rust = "Like this:\n\n```rust\nfn add() {}\n```\n\nThat is all.".to_owned();
    let replies = [shows(blocks[0]), shows(blocks[1]), shows(elided), rust].map(|text| says(&text));
    let server = ModelServer::start(replies).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    for (message, hint) in [
        ("the code block does not parse: syntax error at `def add(self, x:`", "complete symbol"),
        ("the code block defines one and two, and one symbol is applied at a time", "with one or two alone"),
        ("`# ... existing code` in the code block stands for code that was left out", "complete symbol"),
        ("the code block is rust, and cart.py is python", "FILE::SYMBOL"),
    ] {
        in_code(&nvim).await;
        let failure = nvim.failed_task("AgentApply").await;
        assert_eq!(failure["message"], message, "{failure}");
        assert!(failure["hint"].as_str().unwrap().contains(hint), "{failure}");
        if server.requests().len() < 4 {
            nvim.task("AgentAsk and again").await;
        }
    }
    assert_eq!(project.read("cart.py"), CART);
    nvim.command("AgentShow").await;
    // On no block, the last one is meant.
    nvim.keys("gggp").await;
    assert_eq!(nvim.failed().await["message"], "the code block is rust, and cart.py is python");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_may_not_be_changed_or_is_gone_is_refused_before_the_prompt() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = server(&shows("def add(self, x: int) -> int:\n    return 2 * x\n")).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    in_code(&nvim).await;
    nvim.command("set readonly").await;
    let failure = nvim.failed_task("AgentApply").await;
    assert!(failure["message"].as_str().unwrap().contains("readonly"), "{failure}");
    nvim.command("set noreadonly").await;
    nvim.command("AgentShow").await;
    nvim.command("call search('^```', 'bW') | normal! k").await;
    nvim.command("bwipeout! cart.py").await;
    std::fs::remove_file(project.root().join("cart.py")).expect("a file");
    let failure = nvim.failed_task("AgentApply cart.py::Cart::add").await;
    assert_eq!(failure["message"], "cart.py does not exist", "{failure}");
    nvim.command("AgentApply").await;
    assert!(nvim.failed().await["message"].as_str().unwrap().starts_with("no file is open"));
    assert!(!project.root().join("cart.py").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_during_the_first_look_is_not_overwritten() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = server(&shows("def add(self, x: int) -> int:\n    return 2 * x\n")).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    press(&nvim, "cart.py::Cart::add").await;
    nvim.lua::<Value>(
        "vim.api.nvim_create_autocmd('User', { pattern = 'SextantStarted', once = true, callback = function()
            vim.api.nvim_buf_set_lines(vim.fn.bufnr('cart.py'), 8, 9, false, { '        return x + 1' })
        end }) return true",
    )
    .await;
    nvim.keys("<CR>").await;
    let summary = nvim.finished().await;
    assert!(summary.contains("nothing was changed"), "{summary}");
    assert!(nvim.answer().await.contains("changed since"), "{}", nvim.answer().await);
    in_code(&nvim).await;
    assert_eq!(nvim.text().await, CART.replace("return x\n", "return x + 1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_that_loses_a_member_is_asked_about_and_no_leaves_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let block = "class Cart:\n    items: int = 0\n\n    def total(self) -> int:\n        return self.items\n";
    let server = server(&shows(block)).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    press(&nvim, "(replaces it): cart.py::Cart").await;
    nvim.keys("<CR>").await;
    nvim.wait("SextantQuestion").await;
    let asked = nvim.answered("takes cart.py::Cart::add away").await;
    assert!(asked.contains("-     def add"), "{asked}");
    nvim.command("AgentAnswer 2").await;
    assert_eq!(nvim.failed().await["kind"], "cancelled");
    assert!(holds(&nvim, "require('sextant').status().state == 'idle'").await);
    assert_eq!(project.read("cart.py"), CART);
    nvim.command_until("AgentApply cart.py::Cart", "SextantQuestion").await;
    nvim.task("AgentAnswer 1").await;
    assert!(project.read("cart.py").contains("return self.items") && !project.read("cart.py").contains("def add"));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_task_runs_no_block_is_applied_and_afterwards_the_conversation_knows_of_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let answer = shows("def add(self, x: int) -> int:\n    return 2 * x\n");
    let replies = [says(&answer), Reply::Stall("{".into()), says("as you wish")];
    let server = ModelServer::start(replies).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    nvim.command("AgentShow").await;
    nvim.command("AgentAsk wait").await;
    server.requests_seen(2).await;
    in_code(&nvim).await;
    let failure = nvim.failed_task("AgentApply").await;
    assert_eq!(failure["kind"], "busy", "{failure}");
    nvim.failed_task("AgentStop").await;
    press(&nvim, "cart.py::Cart::add").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    assert!(project.read("cart.py").contains("return 2 * x"));
    nvim.command("AgentShow").await;
    nvim.task("AgentAsk and now").await;
    let asked = server.requests()[2].said_by("user").to_owned();
    assert!(asked.contains("The user asked: apply a code block to cart.py::Cart::add"), "{asked}");
    assert!(asked.contains("The user asked: how would you write it"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_converses_has_its_messages_and_what_the_user_did_without_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let block = "Like this:\n\n```python\ndef add(self, x: int) -> int:\n    return 2 * x\n```\n\nThat is all.";
    let replies = [block, "as you wish"].map(|text| Wire::Chat.reply(&wires::says(text)));
    let server = ModelServer::start(replies).await;
    let with = options(&server).replacen("model = 'm'", "model = 'm', style = 'conversation'", 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "cart.py").await;
    nvim.task("AgentAsk how would you write it").await;
    nvim.answered("That is all.").await;
    press(&nvim, "cart.py::Cart::add").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    nvim.command("AgentShow").await;
    nvim.task("AgentAsk and now").await;
    let asked = server.requests()[1].clone();
    let messages = asked.body["messages"].as_array().expect("messages");
    assert!(messages.iter().any(|message| message["role"] == "assistant" && message["content"] == block), "{asked:?}");
    let did = "The user did this without you: apply a code block to cart.py::Cart::add. ok: edited cart.py";
    assert!(asked.said_by("user").contains(did), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fence_of_any_form_is_read_and_what_shows_a_change_is_no_code() {
    let project = Project::new(&[("cart.py", CART), ("new.py", "import os\n")]);
    let listed = "1. First:\n\n   ```python\n   def add(self, x: int) -> int:\n       return 2 * x\n   ```\n";
    let long =
        "2. Then:\n\n~~~~\ndef sum(self) -> str:\n    return \"\"\"\n```\n~~~\n\"\"\"\n~~~~\n\n```diff\n- x\n```\n";
    let server = server(&format!("{listed}{long}\nThat is all.")).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    nvim.command("AgentShow").await;
    nvim.command("call search('First:', 'bW') | normal! 2j").await;
    nvim.keys_show("gp", "(replaces it): cart.py::Cart::add").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    let added = CART.replace("        return x\n", "        return 2 * x\n");
    assert_eq!(project.read("cart.py"), added, "the indentation of the fence is none of the code");
    // A file without symbols, from the code; the last block shows a change.
    in_code(&nvim).await;
    nvim.task("Agent apply new.py::sum").await;
    let wanted = "import os\n\n\ndef sum(self) -> str:\n    return \"\"\"\n```\n~~~\n\"\"\"\n";
    assert_eq!(project.read("new.py"), wanted);
    nvim.task("AgentUndo").await;
    assert_eq!((project.read("new.py").as_str(), project.read("cart.py")), ("import os\n", added));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_review_before_it_is_asked_about_and_a_stop_leaves_nothing_to_resume() {
    let project = Project::new(&[("cart.py", CART)]);
    let server = server(&shows("def add(self, x: int) -> int:\n    return 2 * x\n")).await;
    let with = options(&server).replacen('{', "{ review = 'before', ", 1);
    let mut nvim = Nvim::open_on_screen(&project, &with, &["ruff"], "cart.py").await;
    nvim.task("AgentAsk how would you write it").await;
    nvim.command_until("AgentApply cart.py::Cart::add", "SextantQuestion").await;
    nvim.command("AgentStop").await;
    let (name, ended) = nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    assert!(name == "SextantFailed" && ended["failure"]["kind"] == "cancelled", "{name}: {ended}");
    assert_eq!(project.read("cart.py"), CART);
    let failure = nvim.failed_task("AgentResume").await;
    assert!(failure["message"].as_str().unwrap().starts_with("there is nothing to resume"), "{failure}");
    nvim.command_until("AgentApply cart.py::Cart::add", "SextantQuestion").await;
    nvim.task("AgentAnswer 1").await;
    assert_eq!(project.read("cart.py"), CART.replace("        return x\n", "        return 2 * x\n"));
    assert_eq!(server.requests().len(), 1, "no model goes on with it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_window_shows_by_marks_is_confirmed_and_written_as_the_model_wrote_it() {
    let project = Project::new(&[("cart.py", CART)]);
    let body = "    print(\"\u{200f}שלום \u{2028}\u{c}\u{1b}[0m\u{e0067}\")\n";
    let server = server(&shows(&format!("def main() -> None:\n{body}"))).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    in_code(&nvim).await;
    let marks = "Apply the block to this symbol (replaces it; writes U+200F, U+2028, U+000C";
    nvim.command("AgentApply cart.py::main").await;
    nvim.screen.shows(marks).await;
    nvim.keys("<Esc>").await;
    assert!(holds(&nvim, "vim.api.nvim_get_mode().mode == 'n'").await);
    // The words of the first prompt may stay on the screen behind it: the next one has to be its own.
    nvim.command("mode").await;
    nvim.screen.hides(marks).await;
    assert_eq!(project.read("cart.py"), CART, "nothing is written before the user confirms");
    press(&nvim, marks).await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    assert_eq!(project.read("cart.py"), CART.replace("    print(os.name)\n", body));
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_of_a_block_go_to_those_of_the_file() {
    let project = Project::new(&[("cart.py", CART)]);
    let future = "from __future__ import annotations\n";
    let method = "def add(self, x: int) -> int:\n    return len(re.findall(\"a\", str(x)))\n";
    let server = server(&shows(&format!("{future}import os\nimport re\n\n\n{method}"))).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    press(&nvim, "Apply the block to this symbol (replaces it, with 2 imports): cart.py::Cart::add").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    let body = "        return len(re.findall(\"a\", str(x)))\n";
    let wanted =
        CART.replace("        return x\n", body).replace("import os\n", &format!("{future}import os\nimport re\n"));
    assert_eq!(project.read("cart.py"), wanted);
    nvim.command("AgentUndo").await;
    nvim.finished().await;
    assert_eq!(project.read("cart.py"), CART);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_of_a_symbol_that_another_file_defines_is_for_that_file() {
    let cart =
        CART.replace("import os\n", "import os\n\nfrom price import rate\n").replace("return 1", "return rate()");
    let price = "def rate() -> int:\n    return 1\n";
    let new = "def rate() -> int:\n    return 2\n";
    // The file uses the name; and the first line of the block names the file.
    for (block, written) in [(new.to_owned(), new), (format!("# lib/fee.py\n{}", new.replace("rate", "fee")), "")] {
        let project =
            Project::new(&[("cart.py", &cart), ("price.py", price), ("lib/fee.py", "def other():\n    pass\n")]);
        let server = server(&shows(&block)).await;
        let mut nvim = answered(&project, &server, &["ruff"]).await;
        let is_named = written.is_empty();
        let prompt = if is_named { "(new, after other): lib/fee.py::fee" } else { "(replaces it): price.py::rate" };
        press(&nvim, &format!("Apply the block to this symbol {prompt}")).await;
        nvim.keys("<CR>").await;
        nvim.finished().await;
        let fee = project.read("lib/fee.py");
        assert_eq!(project.read("price.py"), if is_named { price } else { new });
        assert_eq!(fee.contains("def fee() -> int:\n    return 2\n"), is_named, "{fee}");
        assert!(!fee.contains('#'), "{fee}");
        assert_eq!(project.read("cart.py"), cart);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_of_another_file_is_offered_where_the_words_above_the_block_name_it() {
    let other = "class Coupon:\n    def applies(self) -> bool:\n        return True\n";
    let project = Project::new(&[("cart.py", CART), ("money.py", other)]);
    let block = "    def applies(self) -> bool:\n        return False\n";
    let server = server(&format!("It is in `money.py::Coupon::applies`. {}", shows(block))).await;
    let mut nvim = answered(&project, &server, &["ruff"]).await;
    press(&nvim, "(replaces it): money.py::Coupon::applies").await;
    nvim.keys("<CR>").await;
    nvim.finished().await;
    assert_eq!(project.read("money.py"), other.replace("True", "False"));
    assert_eq!(project.read("cart.py"), CART);
}
