//! Beside a Neovim that runs: its buffers before the disk, its own diagnostics, one undo step, its user's undo.

use serde_json::json;

use crate::mcp::replace;
use crate::support::mcp::{McpClient, descendants};
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const CART: &str = "def total(prices: list[int]) -> int:\n    return sum(prices)\n";
const PATIENT: &str = "{ diagnostics = { timeout_ms = 60000 }, quickfix = { open = false } }";

/// A Neovim whose workspace has been used, with an unsaved line in the file that is open.
async fn used(project: &Project) -> Nvim {
    used_with(project, PATIENT).await
}

async fn used_with(project: &Project, options: &str) -> Nvim {
    let mut nvim = Nvim::open(project, options, &["basedpyright", "ruff"], "cart.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    crate::rpc::joined(project).await;
    nvim.command("call append('$', 'extra = 1')").await;
    nvim
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsaved_buffer_is_edited_and_answers_with_what_is_new_in_it() {
    let project = Project::new(&[("cart.py", CART), ("other.py", "from cart import total\n\nprint(total([1]))\n")]);
    let mut nvim = used(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let read = client.read("read_file", json!({"path": "cart.py"})).await;
    assert!(read.contains("extra = 1"), "the buffer before the disk: {read}");
    let edited = client.edit("edit_file", replace("cart.py", "return sum(prices)", "return str(sum(prices))")).await;
    let new = edited["new_diagnostics"].as_array().expect("a list");
    assert_eq!(new.len(), 1, "{edited}");
    let told = (&new[0]["code"], &new[0]["symbol"], &new[0]["source"]);
    assert_eq!(told, (&json!("reportReturnType"), &json!("total"), &json!("lsp:basedpyright")), "{edited}");
    assert_eq!((&edited["diagnostics_status"], &edited["saved"]), (&json!("complete"), &json!(false)), "{edited}");
    assert_eq!(project.read("cart.py"), CART, "unsaved changes are the user's to save");
    let both = format!("{}extra = 1\n", CART.replace("sum(prices)", "str(sum(prices))"));
    assert_eq!(nvim.text().await, both);
    assert_eq!(descendants(client.id()), Vec::<u32>::new(), "the servers are the editor's");
    // What it introduced is in a list of its own, which nothing opens.
    while nvim.quickfix().await.len() < 2 {
        tokio::task::yield_now().await;
    }
    let list = nvim.quickfix().await;
    assert!(list[0].contains("edits of codex") && list[1].contains("reportReturnType"), "{list:?}");
    nvim.command("undo").await;
    assert_eq!(nvim.text().await, format!("{CART}extra = 1\n"), "one undo step");
    nvim.command("redo").await;
    let undone = nvim.task("AgentUndo").await;
    assert!(undone.contains("edits of codex"), "{undone}");
    assert_eq!(nvim.text().await, format!("{CART}extra = 1\n"));
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn diagnostics_that_a_client_only_fixed_can_be_listed_and_no_list_is_put_for_them() {
    let project = Project::new(&[("cart.py", &CART.replace("sum(prices)", "str(sum(prices))"))]);
    let nvim = used(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let edited = client.edit("edit_file", replace("cart.py", "return str(sum(prices))", "return sum(prices)")).await;
    assert_eq!(edited["new_diagnostics"], json!([]), "{edited}");
    while nvim.quickfix().await.len() < 2 {
        nvim.command("AgentList fixed").await;
    }
    let list = nvim.quickfix().await;
    assert!(list[0].starts_with("Sextant, fixed: edits of codex") && list[1].contains("reportReturnType"), "{list:?}");
    assert_eq!(nvim.lua::<usize>("return vim.fn.getqflist({ nr = '$' }).nr").await, 1, "only the one asked for");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_user_reviews_before_an_edit_of_a_client_waits_for_the_answer() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut nvim = used_with(&project, &PATIENT.replacen("{ ", "{ review = 'before', ", 1)).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let before = nvim.text().await;
    for (answer, written) in [(3, false), (1, true)] {
        let edit = replace("cart.py", "return sum(prices)", "return max(prices)");
        let asked = async {
            let question = nvim.wait("SextantQuestion").await;
            let text = question["text"].as_str().unwrap_or_default();
            assert!(text.starts_with("codex: Write this edit of cart.py?"), "{question}");
            assert_eq!(nvim.text().await, before);
            nvim.command(&format!("AgentAnswer {answer}")).await;
        };
        let (result, ()) = tokio::join!(client.call("edit_file", edit), asked);
        assert_eq!(result["isError"] != true, written, "{result}");
        assert_eq!(nvim.text().await.contains("return max(prices)"), written, "{result}");
        let text = crate::support::mcp::text(&result);
        assert!(written || text.contains("the user said no"), "{text}");
    }
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_is_left_and_the_next_call_works_on_the_files() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut nvim = used(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    assert!(client.read("read_file", json!({"path": "cart.py"})).await.contains("extra = 1"));
    nvim.child().kill().await.expect("killed");
    // The end is heard before or behind this call: it is answered, and the one after it works.
    client.call("read_file", json!({"path": "cart.py"})).await;
    while client.call("read_file", json!({"path": "cart.py"})).await["isError"] == true {}
    let read = client.read("read_file", json!({"path": "cart.py"})).await;
    assert!(!read.contains("extra = 1") && read.contains("return sum"), "{read}");
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_a_session_that_is_killed_are_told_to_be_made_or_not_and_never_made_twice() {
    let names: Vec<String> = (0..6).map(|number| format!("file{number}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "one\n")).collect();
    let project = Project::new(&[&files[..], &[("cart.py", CART)]].concat());
    let mut nvim = used(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    assert!(client.read("read_file", json!({"path": "cart.py"})).await.contains("extra = 1"));
    // In the middle of them, and after a write whose answer cannot have been given.
    nvim.command("autocmd BufWritePost file1.txt lua vim.uv.kill(vim.uv.os_getpid(), 'sigkill')").await;
    let edit = |name: &str| json!({"name": "edit_file", "arguments": replace(name, "one\n", "one\ntwo\n")});
    let mut asked = Vec::new();
    for name in &names {
        asked.push((client.ask("tools/call", edit(name)).await, name));
    }
    nvim.child().wait().await.expect("killed");
    let mut told = 0;
    for _ in 0..names.len() {
        let answer = client.answer().await;
        let (_, name) = asked.iter().find(|(id, _)| answer["id"] == *id).expect("an answer to one of them");
        let made = project.read(name) == "one\ntwo\n";
        let said = &answer["result"];
        let text = said["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(said["isError"] != true, made, "{name}: {text}");
        if !made {
            assert!(text.contains("nothing was written") || text.contains("call again"), "{name}: {text}");
        }
        told += usize::from(text.contains("made already"));
    }
    assert!(told > 0, "one was made, and its session ended before its answer");
    for name in &names {
        if project.read(name) == "one\n" {
            client.edit("edit_file", replace(name, "one\n", "one\ntwo\n")).await;
        }
        assert_eq!(project.read(name), "one\ntwo\n");
    }
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_file_that_somebody_types_in() {
    let other = "def price(count: int) -> int:\n    return count * 0\n";
    let cart = format!("# Carts.\nfrom other import price\n\nprint(price(1))\n{CART}");
    let project = Project::new(&[("cart.py", &cart), ("other.py", other)]);
    let nvim = used(&project).await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.read("read_file", json!({"path": "other.py"})).await;
    let typing = "_G.keys = vim.uv.new_timer(); keys:start(0, 60, vim.schedule_wrap(function() \
        vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { '#' }) end))";
    nvim.command(&format!("lua {typing}")).await;
    let (mut partial, mut named) = (0, 0);
    let mut texts = Vec::new();
    for number in 0..10 {
        let edit = replace("other.py", &format!("count * {number}"), &format!("count * {}", number + 1));
        let result = client.call("edit_file", edit).await;
        assert_ne!(result["isError"], true, "{result}");
        partial += usize::from(result["structuredContent"]["diagnostics_status"] == "partial");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        named += usize::from(text.contains("somebody types in them: cart.py"));
        texts.push(text.to_owned());
    }
    // What the edit may break there is not known.
    let gone =
        client.call("edit_file", replace("other.py", "def price", "def prize")).await["structuredContent"].take();
    nvim.command("lua keys:stop()").await;
    // The text may come to rest for a moment, and a busy machine may make a server late.
    assert!(partial <= 2, "{partial} partial, {named} name the file that is left out: {texts:#?}");
    let is_known = gone["new_diagnostics"].to_string().contains("cart.py");
    assert!(
        is_known || gone["diagnostics_status"] == "partial" && gone["pending"].to_string().contains("cart.py"),
        "{gone}"
    );
    assert!(project.read("other.py").contains("count * 10"));
    assert!(client.end().await.success());
}
