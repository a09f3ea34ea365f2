//! Search on small files: the hits, their order, and typed text that must not break it.

use proptest::prelude::*;

use crate::memory::entry::{Kind, Mode, NewEntry};
use crate::memory::search::*;
use crate::memory::store::StoreNotice;

fn memory(texts: &[&str]) -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(&dir.path().join("m.db")).unwrap();
    let entry = |(at, text): (usize, &&str)| NewEntry::new("s", Mode::Simple, Kind::Chat, *text, at as i64);
    memory.append_all(texts.iter().enumerate().map(entry).collect()).unwrap();
    (dir, memory)
}

fn found(memory: &Memory, text: &str) -> Vec<String> {
    memory.search(text, 10).unwrap().into_iter().map(|hit| hit.entry.entry.content).collect()
}

#[test]
fn all_words_first_then_some() {
    let (_dir, memory) = memory(&["the tax rate is wrong", "tax only", "rate only", "nothing of it"]);
    assert_eq!(found(&memory, "tax rate"), ["the tax rate is wrong", "rate only", "tax only"]);
    assert_eq!(found(&memory, "tax unheard").len(), 2, "a word nobody used does not hide the rest");
    assert_eq!(found(&memory, "Sesión"), [""; 0]);
    assert_eq!(found(&memory, "the"), ["the tax rate is wrong"], "a stop word alone is looked for");
}

#[test]
fn accents_and_separators_do_not_matter() {
    let (_dir, memory) = memory(&["la sesión terminó", "Cart::total fails", "total of the cart"]);
    assert_eq!(found(&memory, "SESION"), ["la sesión terminó"]);
    assert_eq!(found(&memory, "cart.total"), ["Cart::total fails"]);
}

#[test]
fn more_words_come_first_then_the_newest() {
    let (_dir, memory) = memory(&["rate and tax", "tax tax tax", "Cart::total fails", "total of the cart", "a tax"]);
    assert_eq!(found(&memory, "tax rate"), ["rate and tax", "a tax", "tax tax tax"]);
    assert_eq!(found(&memory, "cart_total tax")[0], "a tax", "a part with a separator is a phrase");
    assert_eq!(memory.search("tax", 0).unwrap(), []);
}

#[test]
fn a_rare_word_is_found_however_old_and_common_words_bring_the_newest() {
    let (_dir, memory) = memory(&["needle in common hay"]);
    let hay = |at: i64| NewEntry::new("s", Mode::Simple, Kind::Chat, format!("common hay {at}"), at);
    memory.append_all((0..2000).map(hay).collect()).unwrap();
    assert_eq!(found(&memory, "needle"), ["needle in common hay"]);
    assert_eq!(found(&memory, "common needle hay")[0], "needle in common hay");
    assert_eq!(found(&memory, "common")[0], "common hay 1999");
}

#[test]
fn a_damaged_index_is_made_again_under_way_and_the_entries_stay() {
    let (_dir, memory) = memory(&[]);
    let hay = |at: i64| NewEntry::new("s", Mode::Simple, Kind::Chat, format!("hay number{at} {}", at % 9), at);
    memory.append_all((0..2000).map(hay).collect()).unwrap();
    // A connection of ours may not do that.
    let conn = rusqlite::Connection::open(memory.path()).unwrap();
    conn.execute("UPDATE entries_text_data SET block = zeroblob(40) WHERE id > 10", []).unwrap();
    drop(conn);
    assert_eq!(found(&memory, "number77").len(), 1);
    assert!(matches!(memory.notices().as_slice(), [StoreNotice::Reindexed { .. }]));
    assert_eq!(memory.entry_count().unwrap(), 2000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_typed_is_an_error_and_words_are_found_as_a_reader_would(
        texts in proptest::collection::vec("[a-e]( [a-e\u{0}\"'*():^-]){0,4}", 1..8),
        question in prop_oneof!["\\PC{0,30}", "[a-e\"'*():^ -]{0,12}", "(a|b|AND|OR|NOT|NEAR\\(|content:|\"){0,5}"],
    ) {
        let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (_dir, memory) = memory(&refs);
        let hits = memory.search(&question, 100).unwrap();
        // In other scripts the index has its own, older idea of letters (Unicode 6.1).
        prop_assume!(question.is_ascii());
        let asked = search_words::terms(&question);
        let holds = |text: &str| {
            let text: Vec<String> = search_words::words(text).map(Into::into).collect();
            asked.iter().filter(|term| text.windows(term.words.len()).any(|part| part == term.words)).count()
        };
        prop_assert_eq!(hits.len(), texts.iter().filter(|text| holds(text) > 0).count());
        prop_assert!(hits.iter().all(|hit| holds(&hit.entry.entry.content) == hit.terms as usize));
        prop_assert!(hits.is_sorted_by(|a, b| a.terms >= b.terms));
    }
}
