//! Memory across processes and threads: what was acknowledged survives a kill, two processes share one file,
//! and a damaged file is replaced.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use sextant::memory::entry::{EntryId, Kind, Mode, NewEntry};
use sextant::memory::forget::Forget;

use sextant::memory::store::{Memory, StoreNotice};

const FILE: &str = "SEXTANT_TEST_MEMORY_FILE";
const NAME: &str = "SEXTANT_TEST_MEMORY_NAME";
const COUNT: &str = "SEXTANT_TEST_MEMORY_COUNT";

fn entry(session: &str, at: i64) -> NewEntry {
    NewEntry::new(session, Mode::Simple, Kind::Error, format!("entry{at} of {session}"), at)
}

/// The other process: it is this test program again. Without its file it has nothing to do.
#[test]
fn other_process() {
    let Ok(path) = std::env::var(FILE) else { return };
    let name = std::env::var(NAME).unwrap();
    let count: i64 = std::env::var(COUNT).unwrap().parse().unwrap();
    let memory = Memory::open(Path::new(&path)).unwrap();
    for at in 0..count {
        let id = memory.append(entry(&name, at)).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "kept {}", id.0).unwrap();
        out.flush().unwrap();
    }
}

fn start(path: &Path, name: &str, count: i64) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other_process", "--nocapture", "--test-threads=1"])
        .envs([(FILE, path.to_str().unwrap()), (NAME, name), (COUNT, &count.to_string())])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

/// The numbers that the other process says it has kept.
fn kept(out: impl BufRead) -> impl Iterator<Item = EntryId> {
    out.lines().map_while(Result::ok).filter_map(|line| {
        let number = line.split("kept ").nth(1)?.trim().parse().ok()?;
        Some(EntryId(number))
    })
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    let mut acknowledged = Vec::new();
    for round in 0..5 {
        let (mut child, out) = start(&path, &format!("round{round}"), i64::MAX);
        let mut ids = kept(out);
        acknowledged.extend(ids.by_ref().take(1 + 13 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it died counts as well.
        acknowledged.extend(ids);
        let memory = Memory::open(&path).unwrap();
        assert_eq!(memory.notices(), []);
        for id in &acknowledged {
            assert!(memory.entry(*id).unwrap().is_some(), "{id:?} was acknowledged and is gone");
        }
        assert_eq!(memory.search(&format!("round{round}"), 1).unwrap().len(), 1);
    }
    assert!(acknowledged.len() >= 135);
}

#[test]
fn two_processes_begin_and_fill_one_file_together() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    let (mut one, first) = start(&path, "one", 100);
    let (mut two, second) = start(&path, "two", 100);
    let memory = Memory::open(&path).unwrap();
    let own: Vec<EntryId> = (0..100).map(|at| memory.append(entry("own", at)).unwrap()).collect();
    let ids: Vec<EntryId> = own.into_iter().chain(kept(first)).chain(kept(second)).collect();
    assert!(one.wait().unwrap().success() && two.wait().unwrap().success());
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (300, 300));
    assert_eq!(memory.entry_count().unwrap(), 300);
    assert_eq!(memory.history("two", &[], 1000).unwrap().len(), 100);
    assert_eq!(memory.notices(), []);
}

#[test]
fn readers_see_whole_transactions_while_others_write() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("m.db")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = 0;
                    while !done.load(Ordering::Relaxed) {
                        let count = memory.entry_count().unwrap();
                        assert_eq!(count % 10, 0, "half a transaction");
                        assert!(count >= seen, "what was seen is gone");
                        seen = count;
                        assert!(memory.recall(Mode::Simple, "s", 0, 100).unwrap().tokens <= 100);
                        memory.search("entry1 of s", 5).unwrap();
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let ids = memory.append_all((0..10).map(|at| entry("s", at)).collect()).unwrap();
                        assert!(memory.entry(ids[9]).unwrap().is_some(), "one's own write is seen at once");
                    }
                })
            })
            .collect();
        let written: Vec<bool> = writers.into_iter().map(|writer| writer.join().is_ok()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(written.into_iter().all(|ok| ok));
        assert!(readers.into_iter().all(|reader| reader.join().is_ok()));
    });
    assert_eq!(memory.entry_count().unwrap(), 600);
}

fn filled(path: &Path) {
    let memory = Memory::open(path).unwrap();
    memory.append_all((0..2000).map(|at| entry("s", at)).collect()).unwrap();
}

fn overwrite(path: &Path, from: u64, bytes: usize) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xa5; bytes]).unwrap();
}

/// Opens, expects to be told, and goes on.
fn begins_anew(path: &Path, number: u32) {
    let memory = Memory::open(path).unwrap();
    let notices = memory.notices();
    let [StoreNotice::SetAside { to, why }] = notices.as_slice() else { panic!("{notices:?}") };
    assert!(to.ends_with(format!("m.db.damaged-{number}")) && to.exists() && !why.is_empty(), "{notices:?}");
    assert_eq!(memory.notices(), [], "told once");
    assert_eq!(memory.entry_count().unwrap(), 0);
    memory.append(entry("s", 1)).unwrap();
    drop(memory);
    assert_eq!(Memory::open(path).unwrap().entry_count().unwrap(), 1);
}

#[test]
fn a_file_that_cannot_be_used_is_set_aside_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    std::fs::write(&path, "this is a text, and long enough to have been a file of another kind".repeat(100)).unwrap();
    begins_anew(&path, 1);

    filled(&path);
    let middle = std::fs::metadata(&path).unwrap().len() / 2 / 4096 * 4096;
    overwrite(&path, middle, 4096 * 8);
    begins_anew(&path, 2);

    filled(&path);
    // `user_version`, at byte 60 of the header: a schema of the future.
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(60)).unwrap();
    file.write_all(&999u32.to_be_bytes()).unwrap();
    drop(file);
    begins_anew(&path, 3);
}

#[test]
fn a_file_that_is_damaged_under_way_is_replaced_and_the_call_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    filled(&path);
    let memory = Memory::open(&path).unwrap();
    let size = usize::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
    overwrite(&path, 4096, size - 4096);
    assert_eq!(memory.history("s", &[], 9).unwrap(), [], "answered from the new file");
    assert!(matches!(memory.notices().as_slice(), [StoreNotice::SetAside { .. }]));
    let id = memory.append(entry("s", 1)).unwrap();
    assert!(memory.entry(id).unwrap().is_some());
}

#[test]
fn a_log_that_another_process_reads_is_said_or_emptied() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    let memory = Memory::open(&path).unwrap();
    let other = Memory::open(&path).unwrap();
    memory.append(entry("wanderer", 1)).unwrap();
    assert_eq!(other.history("wanderer", &[], 9).unwrap().len(), 1);
    let gone = memory.forget(&Forget::session("wanderer")).unwrap();
    assert_eq!((gone.entry_count(), gone.left.log_left), (1, false), "nobody is in the middle of reading");
    assert_eq!(other.history("wanderer", &[], 9).unwrap(), []);
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(8).any(|part| part == b"wanderer"));
    }
}
