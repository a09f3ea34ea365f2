//! Which session a command comes to: one that has just begun, one of a folder around, one of another agent.

use serde_json::json;

use crate::mcp::replace;
use crate::nvim::ask::step;
use crate::rpc::{joined, sextant, stderr, stdout};
use crate::support::mcp::{McpClient, descendants, gone};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const CART: &str = "import os\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";

/// The sessions of this project; those of others on this machine may be there as well.
pub async fn listed(project: &Project) -> String {
    let all = stdout(&sextant(project, &["sessions"]).await);
    let root = project.root().display().to_string();
    all.lines().filter(|line| line.contains(&root)).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_commands_at_once_one_works_and_the_other_is_told() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let server = ModelServer::start([Reply::Stall("{".into()), Reply::Stall("{".into())]).await;
    let url = server.url();
    let ask = ["ask", "change it", "--file", "a.py", "--model", "openai_compatible:m", "--base-url", &url];
    // One of them works until it is ended with the test; the other one does not wait for that.
    let both = (Box::pin(sextant(&project, &ask)), Box::pin(sextant(&project, &ask)));
    let (told, works) = futures::future::select(both.0, both.1).await.factor_first();
    let said = stderr(&told);
    assert!(!told.status.success(), "{said}");
    assert!(said.contains("a task is running already") && said.contains("“change it”"), "{said}");
    server.requests_seen(1).await;
    assert_eq!(server.requests().len(), 1);
    drop(works);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_beside_a_running_task_of_another_process_names_that_task() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let write = step("edit_file", replace("a.txt", "one", "two"), true);
    let server = ModelServer::start([write, Reply::Stall("{".into())]).await;
    let url = server.url();
    let ask = ["ask", "say two", "--file", "a.txt", "--model", "openai_compatible:m", "--base-url", &url];
    let works = Box::pin(sextant(&project, &ask));
    let undo = async {
        server.requests_seen(2).await;
        sextant(&project, &["undo", "--headless"]).await
    };
    let futures::future::Either::Right((undone, _works)) = futures::future::select(works, Box::pin(undo)).await else {
        panic!("the task waits for its model");
    };
    let said = stderr(&undone);
    assert!(said.contains("“say two” is at work in another session") && !said.contains("is left"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_a_folder_of_the_workspace_works_in_its_session() {
    let project =
        Project::new(&[("cart.py", CART), ("packages/one/pyproject.toml", ""), ("packages/one/one.py", CART)]);
    let mut nvim = Nvim::open(&project, "{}", &["ruff"], "packages/one/one.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    let session = joined(&project).await;
    let inner = project.root().join("packages/one");
    let root = inner.to_str().expect("a path");
    nvim.command("call append('$', 'import sys')").await;
    let symbol = ["ask", "fix the warnings", "--root", root, "--file", "packages/one/one.py"];
    let asked = sextant(&project, &symbol).await;
    let wanted = format!("working in the session {} of {}", session.entry.name, project.root().display());
    assert!(stderr(&asked).contains(&wanted), "{}", stderr(&asked));
    assert!(!nvim.text().await.contains("import"), "{}{}", stdout(&asked), stderr(&asked));
    // Another agent names files from its own folder on, and may name them as the answers do.
    let mut client = McpClient::start_in(&project, &inner, &[]);
    client.begin("codex").await;
    for path in ["one.py", "packages/one/one.py"] {
        assert!(client.read("read_file", json!({"path": path})).await.contains("def total"), "{path}");
    }
    let edited =
        client.edit("edit_symbol", json!({"symbol": "one.py::total", "action": "delete", "content": ""})).await;
    assert_eq!(edited["path"], "packages/one/one.py", "{edited}");
    assert!(!nvim.text().await.contains("def total"));
    client.edit("write_file", json!({"path": "new.py", "content": "y = 1\n"})).await;
    assert_eq!(project.read("packages/one/new.py"), "y = 1\n");
    assert!(client.end().await.success());
}

/// A Neovim that stands in this folder, with a file of it open and this line of its own in it.
async fn with_line(project: &Project, folder: &str, file: &str, line: &str) -> Nvim {
    let mut nvim = Nvim::start(project, "{ quickfix = { open = false } }", &["ruff"]).await;
    nvim.command(&format!("cd {folder}")).await;
    nvim.edit(file).await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    nvim.command(&format!("call append('$', '{line}')")).await;
    nvim
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_in_a_folder_inside_comes_to_the_editor_that_has_its_file() {
    let project =
        Project::new(&[("cart.py", CART), ("packages/one/pyproject.toml", ""), ("packages/one/one.py", CART)]);
    let main = with_line(&project, ".", "cart.py", "main = 1").await;
    let inner = project.root().join("packages/one");
    let mut client = McpClient::start_in(&project, &inner, &[]);
    client.begin("codex").await;
    assert!(client.read("read_file", json!({"path": "one.py"})).await.contains("def total"));
    // Of the same workspace as the client's session first, then of a folder that is not that one's.
    for (folder, file, line) in
        [(".", "packages/one/one.py", "def other(): ..."), ("packages/one", "one.py", "def inner(): ...")]
    {
        let holder = with_line(&project, folder, file, line).await;
        let symbol = line.split(['(', ' ']).nth(1).expect("a name");
        for path in ["one.py".to_owned(), "packages/one/one.py".to_owned(), inner.join("one.py").display().to_string()]
        {
            let read = client.read("read_file", json!({"path": path})).await;
            assert!(read.contains(line), "{folder} {path}: {read}");
            let listed = client.read("list_symbols", json!({"query": path})).await;
            assert!(listed.contains(symbol), "{folder} {path}: {listed}");
            let read = client.read("read_symbol", json!({"symbol": format!("{path}::{symbol}")})).await;
            assert!(read.contains(line), "{folder} {path}: {read}");
        }
        let said = stderr(&sextant(&project, &["redo"]).await);
        for nvim in [&main, &holder] {
            assert!(said.contains(&format!("nvim-{}", nvim.id())), "what may be named is told: {said}");
        }
        client.edit("edit_file", replace("packages/one/one.py", "return sum(prices)", "return 1")).await;
        assert!(holder.text().await.contains("return 1"), "{folder}");
        holder.command("bwipeout!").await;
    }
    assert_eq!(project.read("packages/one/one.py"), CART);
    assert!(client.end().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_of_one_agent_is_that_of_the_next_until_it_ends() {
    let project = Project::new(&[("cart.py", CART)]);
    let mut one = McpClient::with_servers(&project, "claude").await;
    one.edit("edit_file", replace("cart.py", "return sum(prices)", "return sum(prices) + 1")).await;
    assert!(listed(&project).await.starts_with("mcp-"));
    let mut two = McpClient::with_servers(&project, "codex").await;
    let edited = two.edit("edit_file", replace("cart.py", "+ 1", "+ 'x'")).await;
    assert!(!edited["new_diagnostics"].as_array().expect("a list").is_empty(), "{edited}");
    assert_eq!(descendants(two.id()), Vec::<u32>::new(), "the servers are the first one's");
    let undone = sextant(&project, &["undo"]).await;
    assert!(stderr(&undone).contains("working in the session mcp-"), "{}", stderr(&undone));
    assert!(stdout(&undone).contains("edits of codex"), "{}{}", stdout(&undone), stderr(&undone));
    assert_eq!(project.read("cart.py"), CART.replace("sum(prices)", "sum(prices) + 1"));
    let children = descendants(one.id());
    assert!(one.end().await.success());
    gone(&children).await;
    while two.call("read_file", json!({"path": "cart.py"})).await["isError"] == true {}
    two.edit("edit_file", replace("cart.py", "+ 1", "+ 2")).await;
    assert!(listed(&project).await.starts_with("mcp-"), "it serves now");
    assert!(two.end().await.success());
    assert_eq!(listed(&project).await, "");
}
