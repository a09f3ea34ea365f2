//! Checkpoints byte for byte, kept once, and cleaned without touching the running task.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::memory::entry::{Kind, Mode, NewEntry};

fn memory() -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("m.db")).unwrap();
    (dir, memory)
}

fn bytes(text: &[u8]) -> FileState {
    FileState::Bytes(text.to_vec())
}

fn new(task: &str, created: i64, files: Vec<CheckpointFile>) -> NewCheckpoint {
    let (session, task, reason) = ("s".to_owned(), task.to_owned(), "before the step".to_owned());
    NewCheckpoint { session, task, step: 1, reason, state: json!({"step": 1}), files, once: None, created }
}

fn file(path: &str, before: FileState) -> CheckpointFile {
    CheckpointFile { path: path.to_owned(), before, after: None }
}

fn count(memory: &Memory, table: &str) -> i64 {
    memory.read(|conn| Ok(conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)).unwrap()
}

#[test]
fn a_checkpoint_comes_back_byte_for_byte_with_state_and_mark() {
    let (_dir, memory) = memory();
    let last = memory.append(NewEntry::new("s", Mode::Simple, Kind::Chat, "x", 1)).unwrap();
    let odd: Vec<u8> = (0..=255u8).cycle().take(5000).collect();
    let files = vec![file("new.py", FileState::Absent), file("a.bin", bytes(&odd)), file("empty", bytes(b""))];
    let id = memory.add_checkpoint(new("t", 5, files)).unwrap();
    memory.append(NewEntry::new("s", Mode::Simple, Kind::Chat, "y", 2)).unwrap();
    let after = vec![("a.bin".into(), FileState::Absent), ("new.py".into(), bytes(b"pass\r\n"))];
    memory.close_checkpoint(id, after, json!({"step": 1}), Vec::new()).unwrap();

    let back = memory.checkpoint(id, 9).unwrap();
    assert_eq!((back.info.mark, back.info.last_used, &back.state), (last, 9, &json!({"step": 1})));
    let want = [
        CheckpointFile { path: "a.bin".into(), before: bytes(&odd), after: Some(FileState::Absent) },
        CheckpointFile { path: "empty".into(), before: bytes(b""), after: None },
        CheckpointFile { path: "new.py".into(), before: FileState::Absent, after: Some(bytes(b"pass\r\n")) },
    ];
    assert_eq!(back.files, want);
    assert!(matches!(memory.checkpoint(id + 1, 9), Err(MemoryError::NotFound { what: "checkpoint", .. })));
    assert!(memory.close_checkpoint(id, vec![("other".into(), FileState::Absent)], json!({}), Vec::new()).is_err());
}

#[test]
fn the_same_contents_are_kept_once_and_go_with_the_last_who_named_them() {
    let (_dir, memory) = memory();
    let text = bytes(&b"the same line\n".repeat(100));
    let first = memory.add_checkpoint(new("old", 1, vec![file("a", text.clone()), file("b", text.clone())])).unwrap();
    let second = memory.add_checkpoint(new("new", 2, vec![file("a", text), file("c", bytes(b"other"))])).unwrap();
    assert_eq!(count(&memory, "blobs"), 2);
    assert_eq!(memory.clean_checkpoints(0, &["new"]).unwrap().dropped, [first]);
    assert_eq!((count(&memory, "blobs"), count(&memory, "checkpoint_files")), (2, 2));
    assert_eq!(memory.clean_checkpoints(0, &[]).unwrap().dropped, [second]);
    assert_eq!((count(&memory, "blobs"), count(&memory, "checkpoint_files")), (0, 0));
}

#[test]
fn a_content_that_is_not_what_was_kept_is_an_error() {
    let (_dir, memory) = memory();
    let id = memory.add_checkpoint(new("t", 1, vec![file("a", bytes(b"right"))])).unwrap();
    memory.write(|conn| Ok(conn.execute("UPDATE blobs SET bytes = x'00'", [])?)).unwrap();
    assert!(memory.checkpoint(id, 2).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn cleaning_drops_the_least_recently_used_and_never_the_running(
        made in proptest::collection::vec((0..4u8, 0..50i64, 0..3u8), 1..12),
        limit in 0..4000u64,
    ) {
        let (_dir, memory) = memory();
        let mut by_use: Vec<(i64, i64, u8)> = Vec::new();
        for (task, used, content) in &made {
            // Contents that cannot be packed, so that their sizes stay the same on disk.
            let content: Vec<u8> = (0..100).map(|at: u8| at.wrapping_mul(37) ^ content).collect();
            let id = memory.add_checkpoint(new(&format!("t{task}"), *used, vec![file("a", bytes(&content))])).unwrap();
            by_use.push((*used, id, *task));
        }
        let cleaned = memory.clean_checkpoints(limit, &["t0"]).unwrap();
        let mut last: BTreeMap<u8, (i64, i64)> = BTreeMap::new();
        for (used, id, task) in by_use.iter().filter(|(_, _, task)| *task != 0) {
            let known = last.entry(*task).or_default();
            *known = (known.0.max(*used), *id);
        }
        let mut tasks: Vec<u8> = last.keys().copied().collect();
        tasks.sort_by_key(|task| last[task]);
        let gone: Vec<u8> = cleaned.tasks.iter().map(|gone| gone.task[1..].parse().unwrap()).collect();
        prop_assert!(tasks.starts_with(&gone));
        prop_assert!(cleaned.bytes_after <= limit || gone.len() == tasks.len());
        let of_gone = by_use.iter().filter(|(_, _, task)| gone.contains(task)).count();
        prop_assert_eq!(cleaned.dropped.len(), of_gone, "all of a task or nothing");
        for (_, id, _) in by_use.iter().filter(|(_, id, _)| !cleaned.dropped.contains(id)) {
            prop_assert_eq!(memory.checkpoint(*id, 0).unwrap().files.len(), 1);
        }
    }
}
