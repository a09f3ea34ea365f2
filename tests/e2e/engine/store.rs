//! The memory file under the engine: how it is made, an older one brought up, a newer or strange one set aside.

use std::sync::Arc;
use std::time::Duration;

use crate::support::undo::UndoWords;
use rusqlite::Connection;
use serde_json::json;
use sextant::engine::Event;
use sextant::llm::step::{PlanReplyStep, StepReply};
use sextant::memory::store::BUSY;
use tokio::sync::Notify;

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, Stall, TestEngine, last, plan_of, planned};
use crate::support::project::Project;

fn file(project: &Project) -> std::path::PathBuf {
    project.memory_file()
}

fn open(project: &Project) -> Connection {
    Connection::open(file(project)).expect("a database")
}

/// A whole task with memory; what was told beside it.
async fn task(project: &Project, old: &str, new: &str) -> String {
    let replies = vec![last("edit_file", replace(old, new))];
    let mut engine = TestEngine::new(project, Setup { replies, memory: true, ..Setup::default() });
    let outcome = engine.ask("change f").await;
    assert_eq!(outcome["ok"], true, "{outcome}");
    engine.session.close().await;
    let told = engine.seen().into_iter().filter_map(|event| match event {
        Event::Progress { text } => Some(text),
        _ => None,
    });
    told.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_file_is_in_wal_mode_and_every_table_is_strict() {
    let project = project();
    assert_eq!(task(&project, "return 1", "return 2").await, "");
    let db = open(&project);
    let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("a mode");
    assert_eq!(mode, "wal");
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' \
               AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'entries_text_%'";
    let mut query = db.prepare(sql).expect("a query");
    let tables: Vec<(String, String)> = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("tables")
        .collect::<Result<_, _>>()
        .expect("rows");
    assert!(tables.len() > 8, "{tables:?}");
    for (name, sql) in &tables {
        assert!(
            sql.trim_end().ends_with("STRICT") || sql.contains("STRICT,") || sql.contains(", STRICT"),
            "{name}: {sql}"
        );
    }
    let refused = db.execute("UPDATE sessions SET name = x'00ff'", []);
    assert!(refused.is_err(), "a column takes its own type alone");
}

#[tokio::test]
async fn a_file_of_an_older_schema_is_copied_brought_up_and_its_entries_are_used() {
    let project = project();
    project.record().make().expect("folders");
    let old = open(&project);
    old.execute_batch(include_str!("../../../src/store/memory/schema/001_entries.sql")).expect("the first schema");
    old.pragma_update(None, "user_version", 1).expect("a version");
    old.execute("INSERT INTO sessions (name) VALUES ('main')", []).expect("a session");
    drop(old);
    let told = task(&project, "return 1", "return 2").await;
    let copy = project.record().folder().join("memory.db.backup-1");
    assert!(told.contains("the memory was brought up to date; as it was: ") && told.contains("backup-1"), "{told}");
    let backup = Connection::open(&copy).expect("the copy");
    let version =
        |db: &Connection| -> i64 { db.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version") };
    assert_eq!(version(&backup), 1, "as it was");
    let kept: i64 = backup.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).expect("a count");
    assert_eq!(kept, 1);
    let db = open(&project);
    assert!(version(&db) > 1);
    let entries: i64 = db.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).expect("a count");
    assert!(entries > 0, "the task wrote into it");
    drop(db);
    assert_eq!(task(&project, "return 2", "return 3").await, "", "the second time nothing is to be done");
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_set_aside_whole_and_said() {
    let project = project();
    task(&project, "return 1", "return 2").await;
    open(&project).pragma_update(None, "user_version", 99).expect("a version");
    let told = task(&project, "return 2", "return 3").await;
    assert!(told.contains("its schema 99 is newer") && told.contains("memory.db.damaged-1"), "{told}");
    let aside = Connection::open(project.record().folder().join("memory.db.damaged-1")).expect("the old one");
    let entries: i64 = aside.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).expect("a count");
    assert!(entries > 0, "nothing of it is lost");
}

#[tokio::test]
async fn a_page_that_is_overwritten_is_noticed_and_the_task_runs() {
    let project = project();
    task(&project, "return 1", "return 2").await;
    let mut bytes = std::fs::read(file(&project)).expect("the file");
    let middle = bytes.len() / 2;
    bytes[4096..middle.max(12_288)].fill(0x5a);
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(project.record().folder().join(format!("memory.db{ending}")));
    }
    std::fs::write(file(&project), bytes).expect("a file");
    let told = task(&project, "return 2", "return 3").await;
    assert!(told.contains("the memory file could not be used"), "{told}");
    assert!(project.read("a.py").contains("return 3"), "the agent goes on");
    assert!(json!(told).is_string());
}

#[tokio::test]
async fn two_sessions_that_write_at_once_lose_nothing() {
    let project = project();
    task(&project, "return 1", "return 2").await;
    let asks = |name: &'static str| {
        let project = &project;
        async move {
            let engine = TestEngine::new(project, Setup { memory: true, ..Setup::default() });
            for n in 0..6 {
                assert_eq!(engine.ask(&format!("{name} looks at number {n}")).await["ok"], true);
            }
            engine.session.close().await;
        }
    };
    tokio::join!(asks("one"), asks("another"));
    let db = open(&project);
    let sql = "SELECT count(*) FROM entries WHERE kind = 'chat' AND role = 'user' AND content LIKE '%looks at number%'";
    let kept: i64 = db.query_row(sql, [], |row| row.get(0)).expect("a count");
    assert_eq!(kept, 12);
}

#[tokio::test]
async fn a_plan_has_a_checkpoint_before_each_change_and_before_it_is_made_anew() {
    let project = project();
    task(&project, "return 1", "return 2").await;
    let entries: i64 = open(&project).query_row("SELECT max(id) FROM entries", [], |row| row.get(0)).expect("entries");
    let checked = PlanReplyStep { checks: vec!["symbol a.py::f gone".into()], ..planned("one", &["a.py::f"]) };
    let plans = vec![plan_of([checked]), plan_of([planned("two", &["a.py::g"])])];
    let replies = vec![
        last("edit_file", replace("return 2", "return 22")),
        // What does not hold is given back twice before the plan is made anew.
        StepReply::default(),
        StepReply::default(),
        last("edit_file", replace("return f()", "return f() + 1")),
    ];
    let engine = TestEngine::new(&project, Setup { replies, plans, memory: true, ..Setup::default() });
    engine.plan("change both").await.expect("a plan");
    engine.approve().await.0.expect("an outcome");
    engine.session.close().await;
    let db = open(&project);
    let sql = "SELECT reason, step, mark, state FROM checkpoints ORDER BY id LIMIT -1 OFFSET 1";
    let mut query = db.prepare(sql).expect("a query");
    let rows: Vec<(String, i64, i64, String)> = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("rows");
    let order: Vec<(&str, i64)> = rows.iter().map(|(reason, step, ..)| (reason.as_str(), *step)).collect();
    assert_eq!(order, [("plan", 0), ("edit", 1), ("replan", 1), ("edit", 2)]);
    assert!(rows.iter().all(|row| row.2 >= entries), "memory's mark, behind {entries}: {rows:?}");
    assert!(rows[2].3.contains("a.py::f"), "the plan as it stood: {}", rows[2].3);
    let before: Vec<u8> = db
        .query_row(
            "SELECT bytes FROM blobs JOIN checkpoint_files ON before_blob = blobs.id ORDER BY checkpoint LIMIT 1 OFFSET 1",
            [],
            |row| row.get(0),
        )
        .expect("the text before");
    assert_eq!(before, TEXT.replace("return 1", "return 2").as_bytes(), "byte for byte");
}

#[tokio::test]
async fn the_same_text_in_many_checkpoints_is_kept_once() {
    let project = project();
    for _ in 0..3 {
        task(&project, "return 1", "return 2").await;
        task(&project, "return 2", "return 1").await;
    }
    let db = open(&project);
    let count = |sql: &str| -> i64 { db.query_row(sql, [], |row| row.get(0)).expect("a count") };
    assert_eq!(count("SELECT count(*) FROM checkpoints"), 6);
    assert_eq!(count("SELECT count(*) FROM blobs"), 2, "two texts, however often they come and go");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_whose_end_another_process_keeps_from_being_written_can_be_undone_everywhere() {
    let project = project();
    let replies = vec![last("edit_file", replace("return 1", "return 2"))];
    let engine = TestEngine::new(&project, Setup { replies, memory: true, ..Setup::default() });
    let go = Arc::new(Notify::new());
    engine.calls.stall(Some(Stall::After(Arc::clone(&go))));
    let hold = async {
        while project.read("a.py").contains("return 1") {
            tokio::task::yield_now().await;
        }
        let db = open(&project);
        db.execute_batch("BEGIN IMMEDIATE").expect("the only one who writes");
        go.notify_one();
        // Longer than one try takes.
        tokio::time::sleep(BUSY + Duration::from_millis(300)).await;
        db.execute_batch("ROLLBACK").expect("given back");
    };
    let (outcome, ()) = tokio::join!(engine.ask("change f"), hold);
    assert_eq!(outcome["ok"], true, "{outcome}");
    engine.session.close().await;
    drop(engine);
    let other = TestEngine::new(&project, Setup { memory: true, ..Setup::default() });
    other.session.undo().await.result.expect("undone by another process");
    assert_eq!(project.read("a.py"), TEXT);
}
