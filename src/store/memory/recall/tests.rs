//! Recall against the rules written out naively, and the limit under every counter.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::memory::entry::{Kind, NewEntry};

const NOW: i64 = 1_800_000_000_000;
const HOUR: i64 = 3_600_000;

fn memory() -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("m.db")).unwrap();
    (dir, memory)
}

fn contents(recall: &Recall) -> Vec<&str> {
    recall.entries.iter().map(|recalled| recalled.entry.entry.content.as_str()).collect()
}

#[test]
fn each_mode_takes_its_own_kinds_in_its_own_order() {
    let (_dir, memory) = memory();
    for mode in Mode::ALL {
        for (at, (kind, relevance)) in
            [(Kind::Error, 1.0), (Kind::Success, 5.0), (Kind::Solution, 2.0), (Kind::Pattern, 9.0), (Kind::Chat, 7.0)]
                .into_iter()
                .enumerate()
        {
            let mut entry = NewEntry::new("s", *mode, kind, kind.name(), NOW - 100 + at as i64);
            entry.relevance = relevance;
            memory.append(entry).unwrap();
        }
    }
    let recall = |mode| memory.recall(mode, "s", NOW, usize::MAX).unwrap();
    assert_eq!(contents(&recall(Mode::Simple)), ["solution", "error"]);
    assert_eq!(contents(&recall(Mode::Planner)), ["pattern", "success"]);
    assert_eq!(contents(&recall(Mode::Supervised)), ["chat", "pattern", "solution", "success", "error"]);
    assert_eq!(memory.recall(Mode::Simple, "other", NOW, 100).unwrap().entries, []);
}

#[test]
fn an_entry_that_an_undo_has_sunk_is_left_out_until_it_is_brought_back() {
    let (_dir, memory) = memory();
    for mode in Mode::ALL {
        let kind = if *mode == Mode::Planner { Kind::Success } else { Kind::Solution };
        let id = memory.append(NewEntry::new("s", *mode, kind, "done", NOW - 1)).unwrap();
        let recalled = || memory.recall(*mode, "s", NOW, usize::MAX).unwrap().entries.len();
        memory.weigh(vec![id], 0.25).unwrap();
        assert_eq!(recalled(), 0, "{mode:?}");
        memory.weigh(vec![id], 4.0).unwrap();
        assert_eq!(recalled(), 1, "{mode:?}");
    }
}

#[test]
fn only_the_last_day_and_ten_entries_at_most() {
    let (_dir, memory) = memory();
    for at in 0..15 {
        memory.append(NewEntry::new("s", Mode::Simple, Kind::Error, format!("e{at}"), NOW - at * HOUR)).unwrap();
    }
    memory.append(NewEntry::new("t", Mode::Simple, Kind::Error, "old", NOW - WINDOW_MS)).unwrap();
    memory.append(NewEntry::new("t", Mode::Simple, Kind::Error, "just in", NOW - WINDOW_MS + 1)).unwrap();
    let found = memory.recall(Mode::Simple, "s", NOW, usize::MAX).unwrap();
    assert_eq!(contents(&found), ["e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9"]);
    assert_eq!(contents(&memory.recall(Mode::Simple, "t", NOW, usize::MAX).unwrap()), ["just in"]);
}

#[test]
fn an_entry_too_long_is_cut_at_a_word_and_nothing_follows_it() {
    let (_dir, memory) = memory();
    memory.append(NewEntry::new("s", Mode::Simple, Kind::Error, "short", NOW - 2)).unwrap();
    memory.append(NewEntry::new("s", Mode::Simple, Kind::Error, "words ".repeat(200), NOW - 1)).unwrap();
    let found = memory.recall(Mode::Simple, "s", NOW, usize::MAX).unwrap();
    assert_eq!((found.entries.len(), found.left_out), (1, 1));
    assert!(found.entries[0].cut && found.text().ends_with("words …"), "{}", found.text());
    assert!((90..=100).contains(&found.tokens), "{}", found.tokens);
    assert_eq!(estimate(&found.text()), found.tokens);
}

#[test]
fn an_entry_with_no_place_to_cut_is_left_out_and_a_shorter_one_behind_it_comes() {
    let (_dir, memory) = memory();
    memory.append(NewEntry::new("s", Mode::Simple, Kind::Error, "short", NOW - 2)).unwrap();
    memory.append(NewEntry::new("s", Mode::Simple, Kind::Error, "x".repeat(2000), NOW - 1)).unwrap();
    let found = memory.recall(Mode::Simple, "s", NOW, usize::MAX).unwrap();
    assert_eq!((contents(&found), found.left_out), (vec!["short"], 1));
}

#[test]
fn the_order_comes_from_an_index() {
    let (_dir, memory) = memory();
    for mode in Mode::ALL {
        let sql = format!("EXPLAIN QUERY PLAN {}", chosen(*mode));
        let params = (1, *mode, 5, 10);
        let plan =
            memory.read(|conn| store::all(conn, &sql, params, |row| row.get::<_, String>(3))).unwrap().join("; ");
        assert!(plan.contains("USING INDEX") && !plan.contains("TEMP B-TREE"), "{mode:?}: {plan}");
    }
}

fn entry() -> impl Strategy<Value = NewEntry> {
    // A long word of many letters may count as a key, whose text is not kept.
    let word = prop_oneof!["[a-zñ]{1,12}", "[ \n]{1,3}", "[日本語😀]{1,8}", "[ab]{200,400}"];
    let content = proptest::collection::vec(word, 0..80).prop_map(|words| words.join(" "));
    let kind = proptest::sample::select(Kind::ALL);
    let mode = proptest::sample::select(Mode::ALL);
    (content, kind, mode, 0..30i64, 0..5u8, proptest::sample::select(vec!["a", "b"])).prop_map(
        |(content, kind, mode, hours, relevance, session)| {
            let mut entry = NewEntry::new(session, mode, kind, content, NOW - hours * HOUR);
            entry.relevance = f64::from(relevance);
            entry
        },
    )
}

/// One file for all cases; each has sessions of its own.
static SHARED: LazyLock<(tempfile::TempDir, Memory)> = LazyLock::new(memory);
static CASE: AtomicUsize = AtomicUsize::new(0);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn recall_follows_the_rules_and_never_goes_over_its_limit(
        entries in proptest::collection::vec(entry(), 0..40),
        budget in prop_oneof![0..40usize, 80..400usize],
    ) {
        let memory = &SHARED.1;
        let case = CASE.fetch_add(1, Ordering::Relaxed);
        let mut entries = entries;
        entries.iter_mut().for_each(|entry| entry.session += &case.to_string());
        let session = format!("a{case}");
        memory.append_all(entries.clone()).unwrap();
        let by_words = |text: &str| text.split_whitespace().count();
        let counters: [&dyn Fn(&str) -> usize; 3] = [&estimate, &by_words, &|text: &str| text.chars().count() * 2];
        for mode in Mode::ALL {
            let mut want: Vec<&NewEntry> = entries.iter().rev()
                .filter(|e| e.session == session && e.mode == *mode && e.timestamp > NOW - WINDOW_MS)
                .filter(|e| e.relevance >= RECALLED)
                .filter(|e| match mode {
                    Mode::Simple => matches!(e.kind, Kind::Error | Kind::Solution),
                    Mode::Planner => matches!(e.kind, Kind::Success | Kind::Pattern),
                    Mode::Supervised => true,
                })
                .collect();
            want.sort_by_key(|entry| std::cmp::Reverse(entry.timestamp));
            if *mode == Mode::Planner {
                want.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
            }
            want.truncate(ENTRIES);
            for count in counters {
                let found = memory.recall_counted(*mode, &session, NOW, budget, count).unwrap();
                prop_assert!(count(&found.text()) <= budget.min(limit(*mode)));
                prop_assert_eq!(found.tokens, count(&found.text()));
                prop_assert_eq!(found.entries.len() + found.left_out, want.len());
                // In order, and a subsequence of the rules' result.
                let mut rest = want.iter();
                for recalled in &found.entries {
                    prop_assert!(rest.any(|e| **e == recalled.entry.entry));
                    let words: Vec<&str> = recalled.entry.entry.content.split_whitespace().collect();
                    let line: Vec<&str> = recalled.line.split_whitespace().skip(1).filter(|w| *w != "…").collect();
                    prop_assert!(words.starts_with(&line), "cut inside a word");
                    prop_assert_eq!(recalled.cut, line.len() < words.len());
                }
            }
        }
    }
}
