//! The review of one file: accepted and rejected parts, typing beside them, and the labels of changes.

use crate::editor::event::QuickfixEntry;
use crate::state::review::file_review::{FileReview, HunkPick};
use crate::state::review::review_hunk::shown;

const PATH: &str = "a.txt";

fn review(before: &str, after: &str) -> FileReview {
    let mut file = FileReview::new(PATH, Some(&before.into()));
    file.edited(before, &after.into());
    file
}

fn whole(hunk: usize) -> HunkPick {
    HunkPick { hunk, lines: None }
}

#[test]
fn accepting_moves_the_baseline_and_rejecting_the_buffer() {
    let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nc\nD\ne\nf\n");
    let mut file = review(before, after);
    file.accept(&[whole(0)], after);
    assert_eq!((&*file.baseline, &*file.agent), ("A\nb\nc\nd\ne\n", after));
    let (text, left) = file.reject(&[whole(0)], after);
    assert_eq!((text.as_str(), left.len()), ("A\nb\nc\nd\ne\nf\n", 0));
    assert_eq!(file.pending(&text).len(), 1);
}

#[test]
fn typing_beside_a_hunk_is_the_users_and_typing_in_it_is_a_conflict() {
    let mut file = review("a\nb\nc\n", "a\nB\nc\n");
    file.typed("mine\na\nB\nalso\nc\n");
    assert_eq!(&*file.baseline, "mine\na\nb\nalso\nc\n");
    let (text, _) = file.clone().reject(&[whole(0)], "mine\na\nB\nalso\nc\n");
    assert_eq!(text, "mine\na\nb\nalso\nc\n");
    let changed = "mine\na\nBB\nalso\nc\n";
    file.typed(changed);
    let (text, left) = file.reject(&[whole(0)], changed);
    assert_eq!((text.as_str(), left), (changed, vec![0]));
    file.accept(&[whole(0)], changed);
    assert_eq!((&*file.baseline, file.is_done()), (changed, true));
}

#[test]
fn a_part_of_a_hunk_is_decided_alone() {
    let (before, after) = ("a\nb\nc\n", "A\nB\nC\n");
    let pick = |lines| [HunkPick { hunk: 0, lines: Some(lines) }];
    assert_eq!(review(before, after).reject(&pick(1..2), after).0, "A\nb\nC\n");
    let mut file = review(before, after);
    file.accept(&pick(0..1), after);
    assert_eq!((&*file.baseline, file.pending(after).len()), ("A\nb\nc\n", 1));
    let (before, after) = ("a\nz\n", "a\n1\n2\n3\nz\n");
    assert_eq!(review(before, after).reject(&pick(1..3), after).0, "a\n1\nz\n");
}

#[test]
fn a_hunk_moves_with_its_symbol() {
    let before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
    let after = "def f():\n    return 10\n\n\ndef g():\n    return 2\n";
    let mut file = FileReview::new("a.py", Some(&before.into()));
    file.edited(before, &after.into());
    let moved = "def g():\n    return 2\n\n\ndef f():\n    x = 0\n    return 10\n";
    let hunk = &shown(&file, moved, &[]).hunks[0];
    assert_eq!((hunk.symbol.as_str(), hunk.line, hunk.conflict), ("f", 6, false));
    let (text, left) = file.reject(&[whole(0)], moved);
    assert_eq!((text.as_str(), left.len()), ("def g():\n    return 2\n\n\ndef f():\n    x = 0\n    return 1\n", 0));
}

#[test]
fn what_the_user_undoes_by_hand_waits_no_more() {
    let mut file = review("a\nb\nc\n", "a\nB\nc\n");
    file.typed("a\nb\nc\n");
    assert!(file.is_done());
    let mut file = review("a\nb\nc\n", "a\nc\n");
    file.typed("a\nb\nc\n");
    assert!(file.is_done());
}

#[test]
fn a_new_diagnostic_stands_beside_the_hunk_of_its_line_or_symbol() {
    let before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
    let after = "def f():\n    return ''\n\n\ndef g(x):\n    return 2\n";
    let mut file = FileReview::new("a.py", Some(&before.into()));
    file.edited(before, &after.into());
    let entry = |line, text: &str| QuickfixEntry {
        path: "a.py".into(),
        line,
        column: 1,
        kind: "E".into(),
        text: text.into(),
        sources: vec![],
    };
    let found = shown(&file, after, &[entry(2, "f: wrong"), entry(6, "g: unused"), entry(3, "h: elsewhere")]);
    let texts = |hunk: usize| found.hunks[hunk].diagnostics.iter().map(|one| one.text.as_str()).collect::<Vec<_>>();
    assert_eq!((texts(0), texts(1)), (vec!["f: wrong"], vec!["g: unused"]));
    assert_eq!(found.hunks[0].words.len(), 1);
}

#[test]
fn a_deleted_method_is_labelled_by_its_own_name() {
    let before = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n\n    def h(self):\n        return 1\n";
    let after = before.replace("    def g(self):\n        return 1\n\n", "");
    let label = |before: &str, after: &str| {
        let mut file = FileReview::new("a.py", Some(&before.into()));
        file.edited(before, &after.into());
        shown(&file, after, &[]).hunks.iter().map(|hunk| hunk.symbol.clone()).collect::<Vec<_>>()
    };
    assert_eq!(label(before, &after), ["A::g"]);
    let longer = before.replacen("return 1\n", "x = 2\n        return 1\n", 1);
    assert_eq!(label(&longer, before), ["A::f"], "a deleted line belongs to its method");
}
