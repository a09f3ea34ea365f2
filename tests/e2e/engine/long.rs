//! Long tasks: what is kept of one stays small, what its model is sent stays within its window, and all of it can be
//! taken back by another process.

use std::time::Duration;

use crate::support::undo::UndoWords;
use rusqlite::Connection;
use serde_json::{Value, json};
use sextant::engine::Request;
use sextant::llm::chat::{ChatMessage, ChatReply, ToolResult};

use crate::support::engine::{Setup, TestEngine, calls, says};
use crate::support::project::Project;
use crate::support::replies::change;

/// Bytes of the largest state, and tokens that the model of these tasks reads at once.
const STATE: usize = 64 << 10;
const WINDOW: usize = 8192;

fn setup(chats: Vec<ChatReply>) -> Setup {
    let config = json!({"limits": {"steps": 5000}, "diagnostics": {"on_edit": false}, "memory": {"enabled": true}});
    Setup { chats, config, context: Some(WINDOW), ..Setup::default() }
}

fn open(project: &Project) -> Connection {
    Connection::open(project.memory_file()).expect("a database")
}

fn state_bytes(project: &Project) -> usize {
    let sql = "SELECT max(octet_length(state)) FROM tasks";
    let bytes: i64 = open(project).query_row(sql, [], |row| row.get(0)).expect("a state");
    usize::try_from(bytes).expect("a size")
}

/// Runs a task on the whole workspace to its end, in a process of its own.
async fn run(project: &Project, chats: Vec<ChatReply>) -> TestEngine {
    let engine = TestEngine::new(project, setup(chats));
    let request = Request { text: "rewrite all of it".into(), workspace: true, ..Request::default() };
    let asked = engine.session.ask(&request, &engine.cancel);
    let ending = tokio::time::timeout(Duration::from_secs(300), asked).await.expect("the task hangs");
    ending.result.expect("an outcome");
    engine.session.close().await;
    engine
}

async fn undo(project: &Project) -> Result<String, String> {
    let engine = TestEngine::new(project, setup(vec![says("done")]));
    let undone = engine.session.undo().await.result.map_err(|failure| failure.one_line());
    engine.session.close().await;
    undone
}

fn sent(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::User(text) => text.len(),
        ChatMessage::Model(reply) => {
            reply.text.len() + reply.uses.iter().map(|used| used.parameters.to_string().len()).sum::<usize>()
        }
        ChatMessage::Results(results) => results.iter().map(|result: &ToolResult| result.text.len()).sum(),
    }
}

/// The most bytes that the model was sent at once.
fn most_sent(engine: &TestEngine) -> usize {
    engine.talked().iter().map(|talked| talked.messages.iter().map(sent).sum()).max().unwrap_or(0)
}

fn edit(file: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", change(file, old, new))
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_1_and_100_and_2000_edits_leave_a_small_state_and_are_taken_back_whole() {
    for (edits, answer) in [(1, 1), (100, 1), (2000, 20)] {
        let names: Vec<String> = (0..20).map(|number| format!("notes/file{number}.txt")).collect();
        let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "first\r\nvalue 0.\r\nlast")).collect();
        let project = Project::new(&texts);
        let before = project.bytes();
        let one = |at: usize| {
            let (file, round) = (&names[at % names.len()], at / names.len());
            edit(file, &format!("value {round}."), &format!("value {}.", round + 1))
        };
        let all: Vec<(&str, Value)> = (0..edits).map(one).collect();
        let chats = all.chunks(answer).map(calls).chain([says("done")]).collect();
        let engine = run(&project, chats).await;
        let last = format!("value {}.", (edits - 1) / names.len() + 1);
        assert!(project.read(&names[(edits - 1) % names.len()]).contains(&last), "{edits} edits were made");
        assert!(state_bytes(&project) <= STATE, "{edits} edits: {} bytes", state_bytes(&project));
        assert!(most_sent(&engine) <= WINDOW * 7 / 2, "{edits} edits: {} bytes sent", most_sent(&engine));
        drop(engine);
        let undone = undo(&project).await.unwrap_or_else(|why| panic!("{edits} edits: {why}"));
        assert_eq!(project.bytes(), before, "{edits} edits: {undone}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_pairs_of_files_with_many_symbols_are_taken_back_and_the_model_is_not_sent_them_all() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let before = project.bytes();
    let text = |round: usize, line: usize| {
        format!("def function_with_a_long_name_{line}() -> int:\n    return {}\n\n\n", line * round)
    };
    let file = |round: usize| (0..300).map(|line| text(round, line)).collect::<String>();
    let write = |name: &str, round: usize| ("write_file", json!({"path": name, "content": file(round)}));
    let chats = (1..=60)
        .map(|round| calls(&[write(&format!("first{round}.py"), round), write(&format!("second{round}.py"), round)]));
    let engine = run(&project, chats.chain([says("done")]).collect()).await;
    assert!(project.root().join("second60.py").exists());
    assert!(state_bytes(&project) <= STATE, "{} bytes", state_bytes(&project));
    assert!(most_sent(&engine) <= WINDOW * 7 / 2, "{} bytes sent", most_sent(&engine));
    drop(engine);
    undo(&project).await.expect("it can be taken back");
    assert_eq!(project.bytes(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_a_file_of_9_megabytes_are_taken_back_byte_for_byte() {
    let text: String = (0..(9 << 20) / 16).map(|line| format!("line {line:09}.\n")).collect();
    let project = Project::new(&[("data/large.txt", &text)]);
    let edits: Vec<(&str, Value)> = (0..5)
        .map(|at| edit("data/large.txt", &format!("line {:09}.", at * 100_000), &format!("changed {at}")))
        .collect();
    run(&project, edits.chunks(1).map(calls).chain([says("done")]).collect()).await;
    assert!(project.read("data/large.txt").contains("changed 4"));
    assert!(state_bytes(&project) <= STATE);
    undo(&project).await.expect("it can be taken back");
    assert!(project.read("data/large.txt") == text);
}

/// A task that has changed `a.txt`, and what its state looked like before the conversation was kept apart.
async fn old_record(phase: &str, state: impl Fn(Value) -> String) -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    run(&project, vec![calls(&[edit("a.txt", "two", "2")]), says("done")]).await;
    let db = open(&project);
    let now: String = db.query_row("SELECT state FROM tasks", [], |row| row.get(0)).expect("a state");
    let old = state(serde_json::from_str(&now).expect("data"));
    db.execute("UPDATE tasks SET state = ?1, phase = ?2", (&old, phase)).expect("a state");
    let knowledge = include_str!("../../../src/store/memory/schema/002_knowledge.sql");
    let at = |table: &str| knowledge.find(table).expect("a table");
    db.execute_batch(&knowledge[at("CREATE TABLE project_files")..at("CREATE TABLE summaries")])
        .expect("dropped since");
    db.execute_batch(
        "DROP TABLE conversations; DROP INDEX checkpoints_once; ALTER TABLE checkpoints DROP COLUMN once; \
         PRAGMA user_version = 7",
    )
    .expect("the schema of before");
    project
}

fn with_transcript(mut state: Value, bytes: usize) -> String {
    state["transcript"] = json!({"fence": "f", "model": "script", "messages": [{"user": "x".repeat(bytes)}]});
    state["results"] = json!([]);
    state.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_before_is_taken_back_whatever_its_state_holds() {
    type Old = fn(Value) -> String;
    let states: [(&str, Old); 4] = [
        ("completed", |state| with_transcript(state, 100_000)),
        ("completed", |state| with_transcript(state, 9 << 20)),
        ("paused", |state| with_transcript(state, 9 << 20)),
        ("completed", |_| json!({"version": 99, "request": "of tomorrow"}).to_string()),
    ];
    for (at, (phase, state)) in states.into_iter().enumerate() {
        let project = old_record(phase, state).await;
        assert_eq!(project.read("a.txt"), "one\n2\n");
        let undone = undo(&project).await.unwrap_or_else(|why| panic!("state {at}: {why}"));
        assert_eq!(project.read("a.txt"), "one\ntwo\n", "state {at}: {undone}");
        assert!(at == 3 || undone.contains("rewrite all of it"), "{undone}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_cannot_be_read_is_said_and_its_undo_stands() {
    for state in ["no JSON", "null", "{\"version\": 1, \"request\": \"rewrite\", \"id\": 7}"] {
        let project = old_record("paused", |_| state.to_owned()).await;
        let engine = TestEngine::new(&project, setup(vec![says("done")]));
        let resumed = engine.session.resume(false, &engine.cancel).await;
        let failure = resumed.result.expect_err("it cannot be gone on with").one_line();
        assert!(failure.contains("cannot be gone on with: its state cannot be read"), "{state}: {failure}");
        assert!(failure.contains("can be taken back"), "{state}: {failure}");
        engine.session.close().await;
        undo(&project).await.unwrap_or_else(|why| panic!("{state}: {why}"));
        assert_eq!(project.read("a.txt"), "one\ntwo\n", "{state}");
    }
}
