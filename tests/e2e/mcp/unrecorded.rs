//! Changes that the record does not hold, or that lie behind a link by now: an undo takes back the others and names them.

use rusqlite::Connection;
use serde_json::json;

use crate::cli::sextant;
use crate::mcp::replace;
use crate::rpc::stdout;
use crate::support::mcp::McpClient;
use crate::support::project::Project;

fn run(project: &Project, arguments: &[&str]) -> String {
    let output = tokio::task::block_in_place(|| sextant(project, arguments));
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_not_recorded_says_so_and_an_undo_names_it() {
    let project = Project::new(&[("kept.txt", "one\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let write = |name: &str| json!({"path": name, "content": "new\n"});
    let first = client.edit("write_file", write("a.txt")).await;
    assert!(!first.to_string().contains("recorded"), "{first}");
    let db = Connection::open(project.memory_file()).expect("a database");
    db.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let second = client.edit("write_file", write("b.txt")).await;
    let note = "this edit could not be recorded: it cannot be undone once this session is over";
    assert!(second.to_string().contains(note), "{second}");
    db.execute_batch("ROLLBACK").expect("the lock is gone");
    let third = client.edit("write_file", write("c.txt")).await;
    assert!(!third.to_string().contains("recorded"), "{third}");
    assert!(client.end().await.success());

    let list = run(&project, &["undo", "--list"]);
    assert!(list.contains("step 2: b.txt (cannot be undone any more)"), "{list}");
    let undone = run(&project, &["undo"]);
    let left = "ot recorded when it was changed, so it stays: b.txt (step 2)";
    assert!(undone.contains(left), "{undone}");
    assert_eq!(project.read("b.txt"), "new\n");
    assert!(["a.txt", "c.txt"].iter().all(|name| !project.root().join(name).exists()), "{undone}");
    let again = run(&project, &["undo"]);
    assert!(again.contains(left) && !again.contains("all of it"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_its_own_session_takes_back_is_not_named_as_unrecorded() {
    let project = Project::new(&[("kept.txt", "one\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let write = |name: &str| json!({"path": name, "content": "new\n"});
    client.edit("write_file", write("a.txt")).await;
    let db = Connection::open(project.memory_file()).expect("a database");
    db.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    client.edit("write_file", write("b.txt")).await;
    db.execute_batch("ROLLBACK").expect("the lock is gone");
    // It joins the session of the client.
    let undone = stdout(&crate::rpc::sextant(&project, &["undo"]).await);
    assert!(undone.contains("b.txt") && !undone.contains("ot recorded"), "{undone}");
    assert!(["a.txt", "b.txt"].iter().all(|name| !project.root().join(name).exists()), "{undone}");
    assert!(client.end().await.success());
    let later = run(&project, &["undo"]);
    assert!(later.contains("nothing to undo") && !later.contains("ot recorded"), "{later}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_undo_leaves_a_file_that_became_a_link_out_of_the_workspace() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    for name in ["a.txt", "b.txt"] {
        client.edit("edit_file", replace(name, "one", "new")).await;
    }
    assert!(client.end().await.success());
    let away = project.beside("away").join("a.txt");
    std::fs::create_dir_all(away.parent().expect("a folder")).expect("a folder");
    std::fs::rename(project.root().join("a.txt"), &away).expect("it moves");
    std::os::unix::fs::symlink(&away, project.root().join("a.txt")).expect("a link");
    let refused = run(&project, &["undo"]);
    assert!(refused.contains("--partial") && project.read("b.txt") == "new\n", "{refused}");
    let undone = run(&project, &["undo", "--partial"]);
    assert!(undone.contains("a.txt") && project.read("b.txt") == "one\n", "{undone}");
    assert_eq!(std::fs::read_to_string(&away).expect("a file"), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_was_set_aside_is_named_to_a_client_and_by_the_doctor() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    client.edit("edit_file", replace("a.txt", "one", "two")).await;
    assert!(client.end().await.success());
    let db = Connection::open(project.memory_file()).expect("a database");
    db.pragma_update(None, "user_version", 999).expect("a newer schema");
    drop(db);
    let mut client = McpClient::open(&project, "codex", &[]).await;
    let first = client.edit("edit_file", replace("a.txt", "two", "three")).await.to_string();
    assert!(first.contains("is newer than this program's") && first.contains("damaged-1"), "{first}");
    let second = client.edit("edit_file", replace("a.txt", "three", "four")).await.to_string();
    assert!(!second.contains("damaged-1"), "it is said once: {second}");
    assert!(client.end().await.success());
    let looked = run(&project, &["doctor"]);
    assert!(looked.contains("memory.db.damaged-1 was set aside") && looked.contains("old name"), "{looked}");
}
