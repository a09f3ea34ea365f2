//! Two Neovims in one workspace: which of them a change is made in, what is refused, and what the other one sees.

use serde_json::{Value, json};

use crate::mcp::replace;
use crate::meeting::listed;
use crate::nvim::ask::options;
use crate::nvim::memory::page;
use crate::rpc::{sextant, stderr, stdout};
use crate::support::mcp::McpClient;
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const UNUSED: &str = "import os\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";
const MENDED: &str = "\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";

/// A Neovim whose session has been opened by a command, with this file open.
pub async fn used(project: &Project, file: &str) -> Nvim {
    let mut nvim = Nvim::start(project, "{ quickfix = { open = false } }", &["ruff"]).await;
    nvim.edit(file).await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    nvim
}

fn name(nvim: &Nvim) -> String {
    format!("nvim-{}", nvim.id())
}

/// Waits until the buffer has this text.
async fn reads(nvim: &Nvim, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let lua = format!(
        "return (vim.wait(60000, function() return vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false),
            vim.json.decode({:?})) end, 10))",
        json!(lines).to_string()
    );
    assert!(nvim.lua::<bool>(&lua).await, "{}", nvim.text().await);
}

async fn both_are_found(project: &Project) {
    while listed(project).await.lines().count() < 2 {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_changed_in_the_neovim_that_has_it_and_refused_elsewhere() {
    let project = Project::new(&[("cart.py", UNUSED), ("other.py", "x = 1\n")]);
    let one = used(&project, "cart.py").await;
    let mut two = used(&project, "other.py").await;
    both_are_found(&project).await;
    one.command("call append('$', 'extra = 1')").await;
    // The second one was used last, and does not have the file.
    two.command("AgentAsk! fix the warnings").await;
    let (_, ended) = two.wait_for(&["SextantFinished", "SextantFailed"]).await;
    let answer = two.answer().await;
    assert!(format!("{ended}{answer}").contains(&name(&one)), "{ended} {answer}");
    assert_eq!(project.read("cart.py"), UNUSED);
    assert_eq!(one.text().await, format!("{UNUSED}extra = 1\n"));

    // A shell and another agent are brought to the one that has it, whoever was used last.
    let asked = sextant(&project, &["ask", "fix the warnings", "--file", "cart.py"]).await;
    assert!(stderr(&asked).contains(&format!("working in the session {}", name(&one))), "{}", stderr(&asked));
    assert_eq!(one.text().await, format!("{MENDED}extra = 1\n"), "{}{}", stdout(&asked), stderr(&asked));
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let read = client.read("read_file", json!({"path": "cart.py"})).await;
    assert!(read.contains("extra = 1"), "{read}");
    client.edit("edit_file", replace("cart.py", "extra = 1", "extra = 2")).await;
    assert_eq!(one.text().await, format!("{MENDED}extra = 2\n"));
    client.edit("edit_file", replace("other.py", "x = 1", "x = 2")).await;
    assert_eq!((two.text().await, project.read("other.py")), ("x = 2\n".to_owned(), "x = 2\n".to_owned()));
    assert!(client.end().await.success());
    // Who works beside them is refused as well.
    let beside = sextant(&project, &["ask", "fix the warnings", "--file", "cart.py", "--headless"]).await;
    assert!(!stdout(&beside).contains("1 edit"), "{}", stdout(&beside));
    assert_eq!(project.read("cart.py"), UNUSED, "the unsaved changes are the user's to write");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_is_asked_for_a_file_with_unsaved_text_elsewhere() {
    let project = Project::new(&[("cart.py", UNUSED)]);
    let one = used(&project, "cart.py").await;
    one.command("call append('$', 'extra = 1')").await;
    let server = ModelServer::start([]).await;
    let mut two = Nvim::start(&project, &options(&server), &[]).await;
    two.edit("cart.py").await;
    two.command("AgentAsk add a docstring to total").await;
    let failure = two.failed().await.to_string();
    assert!(failure.contains(&name(&one)) && failure.contains("with unsaved changes"), "{failure}");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(one.text().await, format!("{UNUSED}extra = 1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_both_have_is_read_again_in_the_other_one() {
    let project = Project::new(&[("cart.py", UNUSED)]);
    let mut one = used(&project, "cart.py").await;
    let two = used(&project, "cart.py").await;
    both_are_found(&project).await;
    one.task("AgentAsk fix the warnings").await;
    assert_eq!(project.read("cart.py"), MENDED);
    reads(&two, MENDED).await;
    // What is unsaved in the other one is in the way of neither: it is said whose it is.
    two.command("call append('$', 'extra = 1')").await;
    one.command("AgentUndo").await;
    let (_, ended) = one.wait_for(&["SextantFinished", "SextantFailed"]).await;
    let said = format!("{ended}{}", one.answer().await);
    assert!(said.contains(&name(&two)) && said.contains("unsaved"), "{said}");
    assert_eq!(project.read("cart.py"), MENDED);
    two.command("write").await;
    one.task("AgentUndo").await;
    reads(&two, &format!("{UNUSED}extra = 1\n")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_names_the_later_task_of_another_session_before_it_takes_it() {
    let project = Project::new(&[("cart.py", UNUSED), ("other.py", UNUSED)]);
    let mut one = used(&project, "cart.py").await;
    let mut two = used(&project, "other.py").await;
    both_are_found(&project).await;
    one.task("AgentAsk fix the warnings").await;
    two.task("AgentAsk fix all warnings").await;
    one.command("AgentUndo").await;
    let failure = one.failed().await.to_string();
    for part in ["fix all warnings", "fix the warnings", "another session"] {
        assert!(failure.contains(part), "{part}: {failure}");
    }
    assert_eq!((project.read("cart.py"), project.read("other.py")), (MENDED.to_owned(), MENDED.to_owned()));
    let undone = one.task("AgentUndo fix the warnings").await;
    assert!(undone.contains("fix the warnings"), "{undone}");
    assert_eq!((project.read("cart.py"), project.read("other.py")), (UNUSED.to_owned(), MENDED.to_owned()));
    // Nothing of its own is left: the other one's task is named all the same.
    one.command("AgentUndo").await;
    let failure = one.failed().await.to_string();
    assert!(failure.contains("fix all warnings"), "{failure}");
    two.task("AgentUndo").await;
    assert_eq!(project.read("other.py"), UNUSED);
}

/// The words after `undo ` in a failure's hint, one for each offered undo.
fn offered(failure: &Value) -> Vec<String> {
    let hint = failure["hint"].as_str().unwrap_or_default();
    let (_, ways) = hint.split_once(": ").unwrap_or_else(|| panic!("{failure}"));
    ways.split(", ").filter_map(|way| way.strip_prefix("undo ")).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_the_same_words_in_two_sessions_are_taken_back_by_name() {
    let project = Project::new(&[("cart.py", UNUSED), ("other.py", UNUSED)]);
    let mut one = used(&project, "cart.py").await;
    let mut two = used(&project, "other.py").await;
    both_are_found(&project).await;
    one.command("AgentAsk fix the warnings").await;
    one.finished().await;
    two.command("AgentAsk fix the warnings").await;
    two.finished().await;
    for words in ["", " fix the warnings"] {
        one.command(&format!("AgentUndo{words}")).await;
        let failure = one.failed().await;
        let said = failure.to_string();
        assert!(said.contains("cart.py") && said.contains("other.py"), "{said}");
        assert!(offered(&failure).iter().all(|way| way.starts_with("task ")), "{said}");
        assert_eq!((project.read("cart.py"), project.read("other.py")), (MENDED.to_owned(), MENDED.to_owned()));
    }
    one.command("AgentHistory").await;
    let page = page(&one, "history").await;
    assert_eq!(page.matches("(task ").count(), 2, "{page}");
    one.command("AgentUndo").await;
    let own = offered(&one.failed().await).remove(0);
    one.command(&format!("AgentUndo {own}")).await;
    one.finished().await;
    assert_eq!((project.read("cart.py"), project.read("other.py")), (UNUSED.to_owned(), MENDED.to_owned()));
    // A shell joins a session: it is told the same, and text typed in the other's buffer stays.
    one.command("AgentUndo task 9-9").await;
    assert!(one.failed().await.to_string().contains("no task that changed something is named"));
    two.lua::<bool>("vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'typed = 1' }) return true").await;
    two.command("AgentUndo fix the warnings").await;
    two.finished().await;
    reads(&two, &format!("{UNUSED}typed = 1\n")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_after_a_client_has_edited_takes_the_one_that_is_named() {
    let project = Project::new(&[("cart.py", UNUSED), ("other.py", "x = 1\n")]);
    let mut nvim = used(&project, "cart.py").await;
    crate::rpc::joined(&project).await;
    nvim.task("AgentAsk fix the warnings").await;
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.edit("edit_file", replace("other.py", "1", "2")).await;
    assert!(client.end().await.success());
    nvim.command("AgentUndo").await;
    let failure = nvim.failed().await.to_string();
    assert!(failure.contains("edits of codex") && failure.contains("fix the warnings"), "{failure}");
    assert_eq!((project.read("cart.py"), project.read("other.py")), (MENDED.to_owned(), "x = 2\n".to_owned()));
    let undone = nvim.task("AgentUndo codex").await;
    assert!(undone.contains("edits of codex"), "{undone}");
    assert_eq!((project.read("cart.py"), project.read("other.py")), (MENDED.to_owned(), "x = 1\n".to_owned()));
    nvim.task("AgentUndo").await;
    assert_eq!(project.read("cart.py"), UNUSED);
}
