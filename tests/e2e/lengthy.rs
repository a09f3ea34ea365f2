//! Long tasks in a shell: what is kept of one stays small, what its model is sent has a bound, and `sextant undo` takes
//! back all of it.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::model_server::Reply;
use crate::support::project::Project;
use crate::support::replies::change;
use crate::support::scripted::{Scripted, calls, said};

/// Bytes of the largest state, and tokens that the model of these tasks reads at once.
const STATE: i64 = 64 << 10;
const WINDOW: usize = 8192;

type Call = (&'static str, Value);

/// A project with this text in each of the files, and a model that makes these calls, so many an answer.
async fn scripted(files: &[(&str, &str)], all: &[Call], answer: usize) -> Scripted {
    let replies = all.chunks(answer).map(|some| calls("", some));
    let done = calls("", &[("done", json!({"answer": "All of it is changed."}))]);
    let manner = format!(
        "style = \"conversation\"\ncontext = {WINDOW}\n\n[limits]\nsteps = 5000\n\n[diagnostics]\non_edit = false\n"
    );
    Scripted::alone(files, &manner, "", replies.chain([done]).collect::<Vec<Reply>>()).await
}

fn state_bytes(project: &Project) -> i64 {
    let db = Connection::open(project.memory_file()).expect("a database");
    db.query_row("SELECT max(octet_length(state)) FROM tasks", [], |row| row.get(0)).expect("a state")
}

/// Bytes of the messages of a request, without the instructions.
fn sent(body: &Value) -> usize {
    let messages = body["messages"].as_array().expect("messages").iter();
    messages.filter(|message| message["role"] != "system").map(|message| message.to_string().len()).sum()
}

/// Runs the task to its end and takes it back in another process.
fn there_and_back(scripted: &Scripted) {
    let before = scripted.project.bytes();
    let ran = scripted.run(&["ask", "rewrite all of it", "--json"]);
    let changed = scripted.project.bytes();
    assert!(changed != before, "{}", said(&ran));
    let undone = scripted.run(&["undo"]);
    assert!(undone.status.success() && scripted.project.bytes() == before, "{}", said(&undone));
    let redone = scripted.run(&["redo"]);
    assert!(redone.status.success() && scripted.project.bytes() == changed, "{}", said(&redone));
    assert!(state_bytes(&scripted.project) <= STATE, "{} bytes", state_bytes(&scripted.project));
    let most = scripted.model.requests().iter().map(|request| sent(&request.body)).max();
    // Half as much again for the quotes of JSON.
    assert!(most.is_some_and(|most| most <= WINDOW * 6), "{most:?} bytes sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_files_that_a_model_has_written_sixty_times_are_taken_back() {
    let text = |round: usize, line: usize| {
        format!("def function_with_a_long_name_{line}() -> int:\n    return {}\n\n\n", line + round)
    };
    let write = |number: usize| {
        let content: String = (0..300).map(|line| text(number / 2 + 1, line)).collect();
        let name = if number.is_multiple_of(2) { "first.py" } else { "second.py" };
        ("write_file", json!({"path": name, "content": content}))
    };
    let all: Vec<Call> = (0..120).map(write).collect();
    let text: String = (0..300).map(|line| text(0, line)).collect();
    let scripted = scripted(&[("first.py", &text), ("second.py", &text)], &all, 2).await;
    there_and_back(&scripted);
    let last = "def function_with_a_long_name_299() -> int:\n    return 359\n\n\n";
    assert!(scripted.project.read("second.py").ends_with(last), "all were made");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_edits_of_twenty_files_are_taken_back() {
    let names: Vec<String> = (0..20).map(|number| format!("notes/file{number}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "first\r\nvalue 0.\r\nlast")).collect();
    let edit = |at: usize| {
        let (old, new) = (format!("value {}.", at / 20), format!("value {}.", at / 20 + 1));
        ("edit_file", change(&names[at % 20], old, new))
    };
    let all: Vec<Call> = (0..2000).map(edit).collect();
    let scripted = scripted(&files, &all, 20).await;
    there_and_back(&scripted);
    assert!(names.iter().all(|name| scripted.project.read(name).contains("value 100.")), "all were made");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_a_file_of_9_megabytes_are_taken_back_byte_for_byte_in_a_shell() {
    let text: String = (0..(9 << 20) / 16).map(|line| format!("line {line:09}.\n")).collect();
    let edit = |at: usize| {
        let old = format!("line {:09}.", at * 100_000);
        ("edit_file", change("data/large.txt", old, format!("changed {at}")))
    };
    let all: Vec<Call> = (0..5).map(edit).collect();
    there_and_back(&scripted(&[("data/large.txt", &text)], &all, 1).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_state_cannot_be_read_is_named_and_taken_back() {
    let edit = ("edit_file", change("a.txt", "one", "two"));
    for state in ["null", "no JSON"] {
        let scripted = scripted(&[("a.txt", "one\n")], std::slice::from_ref(&edit), 1).await;
        let ran = scripted.run(&["ask", "count on"]);
        assert_eq!(scripted.project.read("a.txt"), "two\n", "{}", said(&ran));
        let db = Connection::open(scripted.project.memory_file()).expect("a database");
        db.execute("UPDATE tasks SET state = ?1, phase = 'paused'", [state]).expect("a task");
        drop(db);
        let resumed = scripted.run(&["resume"]);
        let shown = said(&resumed);
        assert!(!resumed.status.success() && shown.contains("its state cannot be read"), "{state}: {shown}");
        let undone = scripted.run(&["undo"]);
        assert_eq!(scripted.project.read("a.txt"), "one\n", "{state}: {}", said(&undone));
    }
}
