//! Forgotten text is gone from the answers and from the bytes of every file, and the rest is whole.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::memory::checkpoints::NewCheckpoint;
use crate::memory::entry::NewEntry;
use crate::memory::learnings::Experience;
use crate::memory::preferences::Preference;
use crate::memory::trace_store::TracedEntry;

const SECRET: &str = "Zyxwvut-Quebracho";

fn memory() -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("m.db")).unwrap();
    (dir, memory)
}

/// True if any file of the folder holds the word, in any case.
fn on_disk(dir: &Path, word: &str) -> bool {
    let word = word.to_lowercase();
    std::fs::read_dir(dir).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap().to_ascii_lowercase();
        bytes.windows(word.len()).any(|part| part == word.as_bytes())
    })
}

fn fill(memory: &Memory, noise: i64) {
    let entry = |at: i64| {
        let content = format!("an ordinary text number{at} about carts{} and totals", at % 97);
        NewEntry::new("s", Mode::Simple, Kind::Chat, content, at)
    };
    memory.append_all((0..noise).map(entry).collect()).unwrap();
    let secret = format!("the key is {SECRET}, remember it");
    memory.append(NewEntry::new("s", Mode::Simple, Kind::Error, secret, noise)).unwrap();
    memory.append_all((noise..2 * noise).map(entry).collect()).unwrap();
    memory.summarise_chat("s", 200, 1).unwrap();
    let value = json!({"key": SECRET.to_uppercase()});
    let preference = Preference { key: "token".into(), value, project: Some("p".into()), inferred: false, updated: 1 };
    memory.set_preference(preference).unwrap();
    let learned = Experience {
        task: "deploy".into(),
        approach: format!("use {SECRET}"),
        project: None,
        success: true,
        note: String::new(),
        timestamp: 1,
    };
    memory.learn(learned).unwrap();
    let (session, task) = ("s".to_owned(), "t".to_owned());
    let state = json!({"request": format!("log in with {SECRET}")});
    let reason = String::new();
    memory
        .add_checkpoint(NewCheckpoint { session, task, step: 1, reason, state, files: vec![], once: None, created: 1 })
        .unwrap();
    memory.set_variable("s", "token", json!(SECRET));
}

#[test]
fn a_forgotten_text_is_in_no_byte_of_any_file() {
    let (dir, memory) = memory();
    fill(&memory, 3000);
    assert!(on_disk(dir.path(), "quebracho"), "the test would see it");
    let gone = memory.forget(&Forget::text("zyxwvut-quebracho")).unwrap();
    assert_eq!((gone.entry_count(), gone.entries[&Kind::Error].len()), (1, 1));
    assert_eq!((gone.preferences.as_slice(), gone.learnings, gone.variables), (&["token".to_owned()][..], 1, 1));
    assert_eq!((gone.record.checkpoints.len(), gone.left.log_left), (1, false));
    assert!(gone.to_string().starts_with("forgotten: entries: 1"), "{gone}");
    for word in ["quebracho", "zyxwvut"] {
        assert!(!on_disk(dir.path(), word), "{word}");
    }
    assert_eq!(memory.search("quebracho", 10).unwrap(), []);
    assert_eq!(memory.entry_count().unwrap(), 6000);
    assert!(memory.forget(&Forget::text(SECRET)).unwrap().is_empty());
    intact(&memory);
}

#[test]
fn the_words_of_the_forgotten_leave_the_index_to_its_inner_pages() {
    let (_dir, memory) = memory();
    let word = |at: usize| format!("w{:x}", at.wrapping_mul(2_654_435_761) % 0xffff_ffff);
    let entry = |at: usize| NewEntry::new("s", Mode::Simple, Kind::Chat, format!("{} common", word(at)), at as i64);
    let ids = memory.append_all((0..8000).map(entry).collect()).unwrap();
    let gone: Vec<usize> = (0..8000).filter(|at| at % 3 == 0).collect();
    memory.forget(&Forget { ids: gone.iter().map(|at| ids[*at]).collect(), ..Forget::default() }).unwrap();
    let inner = memory
        .read(|conn| {
            crate::memory::store::all(conn, "SELECT term FROM entries_text_idx", [], |row| row.get::<_, Vec<u8>>(0))
        })
        .unwrap();
    assert!(inner.len() > 10, "too few pages to show anything");
    let kept: BTreeSet<String> = (0..8000).filter(|at| at % 3 != 0).map(word).collect();
    for at in gone {
        let word = word(at);
        // A page is named by the shortest prefix of a word that differs from the page before; the first byte is the
        // index's own.
        let whole = inner.iter().any(|term| term.get(1..) == Some(word.as_bytes()));
        assert!(!whole || kept.contains(&word), "{word}");
    }
    intact(&memory);
}

fn intact(memory: &Memory) {
    memory
        .bare(|conn| {
            conn.execute("INSERT INTO entries_text (entries_text, rank) VALUES ('integrity-check', 1)", [])?;
            let verdict: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            assert_eq!(verdict, "ok");
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_forgotten_session_leaves_nothing_and_takes_nothing_of_others() {
    let (dir, memory) = memory();
    fill(&memory, 50);
    memory.append(NewEntry::new("other", Mode::Simple, Kind::Chat, "stays", 1)).unwrap();
    let gone = memory.forget(&Forget::session("s")).unwrap();
    assert_eq!((gone.entry_count(), gone.summaries, gone.record.checkpoints.len(), gone.variables), (101, 1, 1, 1));
    assert!(!on_disk(dir.path(), "ordinary"));
    assert_eq!((memory.entry_count().unwrap(), memory.preferences(Some("p")).unwrap().len()), (1, 1));
    assert!(memory.forget(&Forget::session("s")).unwrap().is_empty(), "the session itself is unknown again");
    assert_eq!(memory.forget(&Forget::project("p")).unwrap().preferences, ["token"]);
}

/// One entry of a trace about something.
fn traced(about: &str) -> TracedEntry {
    let (effect, rule, reason) = ("kept".into(), "r".into(), "why".into());
    TracedEntry { step: 1, call: None, effect, about: about.into(), rule, reason }
}

#[test]
fn every_record_of_a_trace_counts_and_none_of_another_goes() {
    let (dir, memory) = memory();
    memory.add_traced("s", "named", &format!("use {SECRET}"), vec![traced("a"), traced(SECRET), traced("b")]).unwrap();
    memory.add_traced("s", "other", "else", vec![traced("c"), traced(SECRET)]).unwrap();
    memory.add_traced("s", "bare", &format!("also {SECRET}"), vec![]).unwrap();
    let gone = memory.forget(&Forget::text(SECRET)).unwrap();
    assert_eq!(gone.record.trace, 5, "three of one, one of another, one without entries");
    assert_eq!((memory.traced("named").unwrap().len(), memory.traced("other").unwrap()), (0, vec![traced("c")]));
    assert!(!on_disk(dir.path(), SECRET));
    assert_eq!(memory.forget(&Forget::everything()).unwrap().record.trace, 1);
    assert!(memory.forget(&Forget::everything()).unwrap().is_empty());
}

#[test]
fn more_trace_records_than_an_answer_of_the_store_holds_are_forgotten_one_by_one() {
    let (_dir, memory) = memory();
    for task in 0..3 {
        let about = |n: usize| traced(if n % 1000 == 7 { SECRET } else { "an ordinary decision" });
        let entries = (0..50_000).map(about).collect();
        memory.add_traced("s", &format!("t{task}"), "a long task", entries).unwrap();
    }
    let gone = memory.forget(&Forget::text(SECRET)).unwrap();
    assert_eq!((gone.record.trace, gone.entry_count()), (150, 0));
    assert_eq!(memory.traced("t1").unwrap().len(), 50_000 - 50, "the others stay");
    let gone = memory.forget(&Forget::everything()).unwrap();
    assert_eq!(gone.record.trace, 150_000 - 150);
    assert_eq!((memory.notices(), memory.traced("t1").unwrap()), (vec![], vec![]), "nothing is set aside");
}

#[test]
fn an_empty_wish_is_refused() {
    let (_dir, memory) = memory();
    for filter in [Forget::default(), Forget::text("  "), Forget { project: Some("p".into()), ..Forget::session("s") }]
    {
        assert!(matches!(memory.forget(&filter), Err(MemoryError::Invalid { .. })), "{filter:?}");
    }
}

#[test]
fn copies_of_older_schemas_go_and_damaged_files_are_named() {
    let (dir, memory) = memory();
    fill(&memory, 1);
    let backup = dir.path().join("m.db.backup-1");
    let damaged = dir.path().join("m.db.damaged-1");
    std::fs::write(&backup, "old").unwrap();
    std::fs::write(&damaged, "bad").unwrap();
    let gone = memory.forget(&Forget::text(SECRET)).unwrap();
    assert_eq!((gone.left.backups, gone.left.copies_left), (vec![backup.clone()], vec![damaged]));
    assert!(!backup.exists());
}

fn wish() -> impl Strategy<Value = Forget> {
    let text = proptest::option::of(proptest::sample::select(vec!["alpha", "BETA gam", "amm", "öl"]));
    let session = proptest::option::of(proptest::sample::select(vec!["a", "b"]));
    let mode = proptest::option::of(proptest::sample::select(Mode::ALL));
    let kinds = proptest::sample::subsequence(vec![Kind::Chat, Kind::Error, Kind::Plan], 0..3);
    (text, session, mode, kinds, proptest::option::of(0..20i64), proptest::option::of(0..20i64)).prop_map(
        |(text, session, mode, kinds, since, after)| Forget {
            text: text.map(str::to_owned),
            session: session.map(str::to_owned),
            mode,
            kinds,
            since,
            after: after.map(EntryId),
            ..Forget::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn exactly_what_meets_the_conditions_goes(
        entries in proptest::collection::vec(
            ("(alpha|beta|gamma|Öl){1}( (alpha|beta|gamma|Öl)){0,3}", 0..2u8, 0..3usize, 0..3usize, 0..20i64), 1..25),
        filter in wish(),
    ) {
        let (_dir, memory) = memory();
        let kinds = [Kind::Chat, Kind::Error, Kind::Plan];
        let entries: Vec<NewEntry> = entries.into_iter().map(|(content, session, mode, kind, timestamp)| {
            NewEntry::new(if session == 0 { "a" } else { "b" }, Mode::ALL[mode], kinds[kind], content, timestamp)
        }).collect();
        let ids = memory.append_all(entries.clone()).unwrap();
        let meets = |id: EntryId, entry: &NewEntry| {
            filter.text.as_ref().is_none_or(|text| entry.content.to_lowercase().contains(&text.to_lowercase()))
                && filter.session.as_ref().is_none_or(|session| *session == entry.session)
                && filter.mode.is_none_or(|mode| mode == entry.mode)
                && (filter.kinds.is_empty() || filter.kinds.contains(&entry.kind))
                && filter.since.is_none_or(|since| entry.timestamp >= since)
                && filter.after.is_none_or(|after| id > after)
        };
        let want: BTreeSet<EntryId> = ids.iter().zip(&entries).filter(|(id, e)| meets(**id, e)).map(|(id, _)| *id).collect();
        match memory.forget(&filter) {
            Err(MemoryError::Invalid { .. }) => prop_assert_eq!(&filter, &Forget::default()),
            other => {
                let gone: BTreeSet<EntryId> = other.unwrap().entries.into_values().flatten().collect();
                prop_assert_eq!(&gone, &want);
                for (id, entry) in ids.iter().zip(&entries) {
                    let kept = memory.entry(*id).unwrap().map(|e| e.entry);
                    prop_assert_eq!(kept, (!want.contains(id)).then(|| entry.clone()));
                }
                for word in ["alpha", "beta", "gamma", "Öl"] {
                    let found = memory.search(word, 100).unwrap().len();
                    let held = |(id, e): &(&EntryId, &NewEntry)| !want.contains(id) && e.content.contains(word);
                    prop_assert_eq!(found, ids.iter().zip(&entries).filter(held).count());
                }
                intact(&memory);
            }
        }
    }
}
