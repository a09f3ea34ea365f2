//! Whole edits and parts of them, taken back and brought back, with and without what others typed since.

use proptest::prelude::*;

use crate::editor::Marks;
use crate::state::undo_hunks::*;

fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
    let (before, after) = (before.map(Into::into), after.map(Into::into));
    FileChange { path: "a.py".into(), before, after, marks_before: Marks::Null, marks_after: Marks::Null }
}

/// Undoes every applied hunk of these changes, from the newest to the oldest.
fn back(changes: &[&FileChange], now: Option<&str>) -> Turned {
    let all = |change: &FileChange| (0..count(change)).collect();
    let turns: Vec<HunkTurn<'_>> =
        changes.iter().rev().map(|change| HunkTurn { change, taken: BTreeSet::new(), wanted: all(change) }).collect();
    turn(&turns, now)
}

fn undo(before: &str, after: &str, now: &str) -> Turned {
    back(&[&change(Some(before), Some(after))], Some(now))
}

fn text(turned: &Turned) -> (Option<&str>, usize) {
    (turned.text.as_deref(), turned.left.len())
}

#[test]
fn what_the_user_changed_elsewhere_stays() {
    let before = "one\ntwo\nthree\nfour\n";
    let after = "one\nTWO!\nthree\nfour\n";
    assert_eq!(text(&undo(before, after, after)), (Some(before), 0));
    let kept = undo(before, after, "zero\none\nTWO!\nthree\nFOUR\n");
    assert_eq!(text(&kept), (Some("zero\none\ntwo\nthree\nFOUR\n"), 0));
}

#[test]
fn what_the_user_changed_in_the_same_place_is_left_and_named() {
    let before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
    let after = "def f():\n    return 11\n\n\ndef g():\n    return 22\n";
    let now = "x = 0\n\n\ndef f():\n    return 11\n\n\ndef g():\n    return 22 + 5\n";
    let undone = undo(before, after, now);
    assert_eq!(undone.left, ["a.py::g (line 9)"]);
    assert_eq!(undone.text.as_deref(), Some(now.replace("11", "1").as_str()), "the rest can be taken back");
    assert_eq!(undone.done, [BTreeSet::from([0])]);
    let by_hand = undo(before, after, &after.replace("22", "2"));
    assert_eq!(text(&by_hand), (Some(before), 0), "done already by the user");
    assert_eq!((by_hand.done, by_hand.by_hand), (vec![BTreeSet::from([0])], vec![BTreeSet::from([1])]));
}

#[test]
fn what_the_user_typed_between_two_changes_stays() {
    let first = change(Some("a\nb\nc\nd\ne\n"), Some("A\nb\nc\nd\ne\n"));
    let second = change(Some("A\nb\nmine\nd\ne\n"), Some("A\nb\nmine\nd\nE\n"));
    let undone = back(&[&first, &second], Some("A\nb\nmine\nd\nE\n"));
    assert_eq!(text(&undone), (Some("a\nb\nmine\nd\ne\n"), 0));
}

#[test]
fn one_symbol_is_taken_back_alone_and_the_rest_after_it() {
    let before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
    let after = "import os\n\n\ndef f():\n    return 11\n\n\ndef g():\n    return 22\n";
    let edit = change(Some(before), Some(after));
    let (inside, across) = within(&edit, "g");
    assert!(inside.len() == 1 && !across);
    let one = turn(&[HunkTurn { change: &edit, taken: BTreeSet::new(), wanted: inside.clone() }], Some(after));
    assert_eq!(text(&one), (Some(after.replace("22", "2").as_str()), 0));
    assert!(within(&edit, "h").0.is_empty());
    // The user works at its place: the rest does not undo that.
    let now = one.text.unwrap().replace("return 2", "return 2 + 5");
    let rest: BTreeSet<usize> = (0..count(&edit)).filter(|index| !inside.contains(index)).collect();
    let all = turn(&[HunkTurn { change: &edit, taken: inside, wanted: rest }], Some(&now));
    assert_eq!(text(&all), (Some(before.replace("return 2", "return 2 + 5").as_str()), 0));
}

#[test]
fn files_that_were_made_and_removed() {
    let made = change(None, Some("x\n"));
    assert_eq!(text(&back(&[&made], Some("x\n"))), (None, 0));
    let gone = back(&[&made], None);
    assert_eq!((text(&gone), gone.by_hand.len()), ((None, 0), 1), "gone already");
    assert_eq!(text(&back(&[&made], Some("x\nmine\n"))), (Some("x\nmine\n"), 1));
    let removed = change(Some("x\n"), None);
    assert_eq!(text(&back(&[&removed], None)), (Some("x\n"), 0));
    assert_eq!(text(&back(&[&removed], Some("new\n"))), (Some("new\n"), 1));
    assert_eq!(back(&[&change(Some("a\n"), Some("b\n"))], None).left, ["a.py (it is gone)"]);
    let again = HunkTurn { change: &made, taken: BTreeSet::from([0]), wanted: BTreeSet::from([0]) };
    assert_eq!(text(&turn(std::slice::from_ref(&again), None)), (Some("x\n"), 0), "made again");
    assert_eq!(text(&turn(&[again], Some("mine\n"))), (Some("mine\n"), 1));
}

proptest! {
    #[test]
    fn a_whole_task_is_taken_back_and_brought_back_to_the_letter(
        texts in proptest::collection::vec("([ab ü]{0,3}\n){0,6}[ab]{0,2}", 2..6),
    ) {
        let changes: Vec<FileChange> = texts.windows(2).map(|two| change(Some(&two[0]), Some(&two[1]))).collect();
        let all: Vec<&FileChange> = changes.iter().collect();
        let undone = back(&all, texts.last().map(String::as_str));
        prop_assert_eq!(undone.left.len(), 0);
        prop_assert_eq!(undone.text.as_ref(), texts.first());
        let again: Vec<HunkTurn<'_>> = changes
            .iter()
            .map(|change| {
                let all: BTreeSet<usize> = (0..count(change)).collect();
                HunkTurn { change, taken: all.clone(), wanted: all }
            })
            .collect();
        let redone = turn(&again, undone.text.as_deref());
        prop_assert_eq!(redone.left.len(), 0);
        prop_assert_eq!(redone.text.as_ref(), texts.last());
    }

    #[test]
    fn any_part_of_an_edit_is_taken_back_and_brought_back_to_the_letter(
        before in "([ab]{0,3}\n){0,7}", after in "([ab]{0,3}\n){0,7}", picks in proptest::collection::vec(any::<bool>(), 8),
    ) {
        let edit = change(Some(&before), Some(&after));
        let all = 0..count(&edit);
        let part: BTreeSet<usize> = all.clone().filter(|index| picks[index % 8]).collect();
        let rest: BTreeSet<usize> = all.clone().filter(|index| !part.contains(index)).collect();
        let first = turn(&[HunkTurn { change: &edit, taken: BTreeSet::new(), wanted: part.clone() }], Some(&after));
        let whole = turn(&[HunkTurn { change: &edit, taken: part.clone(), wanted: rest.clone() }], first.text.as_deref());
        prop_assert_eq!(whole.text.as_deref(), Some(before.as_str()));
        let one = turn(&[HunkTurn { change: &edit, taken: all.collect(), wanted: rest }], whole.text.as_deref());
        prop_assert_eq!(&one.text, &first.text);
        let both = turn(&[HunkTurn { change: &edit, taken: part.clone(), wanted: part }], one.text.as_deref());
        prop_assert_eq!(both.text.as_deref(), Some(after.as_str()));
    }

    #[test]
    fn no_text_is_too_strange(before in "[a\nü\r ]{0,12}", after in "[a\nü\r ]{0,12}", now in "[a\nü\r ]{0,12}") {
        undo(&before, &after, &now);
    }
}
