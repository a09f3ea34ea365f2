//! Taking changes of one text back while keeping what others changed since. Pure functions.

use std::ops::Range;

use crate::agent::journal::FileChange;
use crate::base::text::LineIndex;
use crate::edits::TextEdit;
use crate::edits::apply::apply;
use crate::edits::hunks::hunks;
use crate::symbols::language;
use crate::symbols::outline::Outline;

/// Which part of the changes is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    All,
    /// What lies inside of one symbol: its names, without the file.
    Symbol(&'a str),
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversed {
    /// `None` where there is no such file then.
    pub text: Option<String>,
    /// Places that were changed since: `a.py::f (line 12)`.
    pub left: Vec<String>,
}

/// Takes the changes of one file back, the newest first. `now` is the file as it is.
///
/// What touches a later change of somebody else stays as it is and is named. A change that is taken back
/// already, by the user or by whatever ended in the middle, is passed over.
pub fn reverse(changes: &[&FileChange], now: Option<&str>, part: Part<'_>) -> Reversed {
    let mut text = now.map(str::to_owned);
    let mut left = Vec::new();
    for change in changes.iter().rev() {
        if text == change.before {
            continue;
        }
        let path = change.path.as_str();
        match (&change.before, &change.after, &text) {
            (None, Some(after), Some(current)) if part == Part::All => {
                if after == current {
                    text = None;
                } else {
                    left.push(format!("{path} (it was created by the task)"));
                }
            }
            (Some(before), None, None) if part == Part::All => text = Some(before.clone()),
            (Some(_), None, Some(_)) => left.push(format!("{path} (it is there again)")),
            (Some(before), Some(after), Some(current)) => {
                let (new, touched) = reverse_text(path, before, after, current, part);
                text = Some(new);
                left.extend(touched);
            }
            (Some(_), Some(_), None) => left.push(format!("{path} (it is gone)")),
            _ => {}
        }
    }
    left.dedup();
    Reversed { text, left }
}

fn reverse_text(path: &str, before: &str, after: &str, now: &str, part: Part<'_>) -> (String, Vec<String>) {
    let others = hunks(after, now);
    let mut taken = Vec::new();
    let mut left = Vec::new();
    let outlines = language::of_path(path).map(|language| {
        (Outline::parse(language, after), Outline::parse(language, before), Outline::parse(language, now))
    });
    let mut grown: isize = 0;
    for edit in hunks(after, before) {
        let old = edit.range.start.saturating_add_signed(grown);
        grown += edit.text.len() as isize - edit.range.len() as isize;
        let place = if let Part::Symbol(names) = part {
            let sides = outlines.as_ref().map(|(after, before, _)| (extent(after, names), extent(before, names)));
            let (new_side, old_side) = sides.unwrap_or((None, None));
            inside(new_side, &edit.range).max(inside(old_side, &(old..old + edit.text.len())))
        } else {
            Place::Within
        };
        if place == Place::Apart || others.contains(&edit) {
            continue;
        }
        match shift(&edit, &others) {
            Some(edit) if place == Place::Within => taken.push(edit),
            _ => left.push(named(path, &edit, &others, now, outlines.as_ref().map(|(_, _, now)| now))),
        }
    }
    match apply(now, &taken) {
        Ok(text) => (text, left),
        // Not reached with hunks of these texts; nothing is taken back then.
        Err(_) => (now.to_owned(), vec![path.to_owned()]),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Apart,
    /// Partly in the symbol and partly outside.
    Across,
    Within,
}

fn extent(outline: &Outline, names: &str) -> Option<Range<usize>> {
    outline.find(names).ok().map(|index| outline.symbols[index].extent.clone())
}

fn inside(symbol: Option<Range<usize>>, range: &Range<usize>) -> Place {
    let Some(symbol) = symbol else { return Place::Apart };
    if range.start >= symbol.start && range.end <= symbol.end {
        Place::Within
    } else if range.start < symbol.end && range.end > symbol.start {
        Place::Across
    } else {
        Place::Apart
    }
}

/// Where an edit of the old text is in the current one, for a reader.
fn named(path: &str, edit: &TextEdit, others: &[TextEdit], now: &str, outline: Option<&Outline>) -> String {
    let before = others.iter().filter(|other| other.range.end <= edit.range.start);
    let moved: isize = before.map(|other| other.text.len() as isize - other.range.len() as isize).sum();
    let mut at = edit.range.start.saturating_add_signed(moved).min(now.len());
    while !now.is_char_boundary(at) {
        at -= 1;
    }
    let line = LineIndex::new(now).line_of(at) + 1;
    match outline.and_then(|outline| outline.at(at).map(|symbol| outline.path_of(symbol))) {
        Some(names) => format!("{path}::{names} (line {line})"),
        None => format!("{path} (line {line})"),
    }
}

/// Moves an edit of a text to where it belongs after other edits of the same text; `None` where they touch.
fn shift(edit: &TextEdit, others: &[TextEdit]) -> Option<TextEdit> {
    let mut start = edit.range.start;
    for other in others {
        if other.range.end < edit.range.start || (other.range.end == edit.range.start && !other.range.is_empty()) {
            start = start + other.text.len() - other.range.len();
        } else if other.range.start <= edit.range.end {
            return None;
        }
    }
    Some(TextEdit { range: start..start + edit.range.len(), text: edit.text.clone() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::editor::Marks;

    fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
        let (before, after) = (before.map(str::to_owned), after.map(str::to_owned));
        FileChange { path: "a.py".into(), before, after, marks_before: Marks::Null, marks_after: Marks::Null }
    }

    fn undo(before: &str, after: &str, now: &str) -> Reversed {
        reverse(&[&change(Some(before), Some(after))], Some(now), Part::All)
    }

    #[test]
    fn what_the_user_changed_elsewhere_stays() {
        let before = "one\ntwo\nthree\nfour\n";
        let after = "one\nTWO!\nthree\nfour\n";
        assert_eq!(undo(before, after, after).text.as_deref(), Some(before));
        let kept = undo(before, after, "zero\none\nTWO!\nthree\nFOUR\n");
        assert_eq!(kept, Reversed { text: Some("zero\none\ntwo\nthree\nFOUR\n".into()), left: Vec::new() });
    }

    #[test]
    fn what_the_user_changed_in_the_same_place_is_left_and_named() {
        let before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
        let after = "def f():\n    return 11\n\n\ndef g():\n    return 22\n";
        let now = "x = 0\n\n\ndef f():\n    return 11\n\n\ndef g():\n    return 22 + 5\n";
        let undone = undo(before, after, now);
        assert_eq!(undone.left, ["a.py::g (line 9)"]);
        assert_eq!(undone.text.unwrap(), now.replace("11", "1"), "the rest can be taken back");
        let by_hand = undo(before, after, &after.replace("22", "2"));
        assert_eq!((by_hand.text.as_deref(), by_hand.left.len()), (Some(before), 0), "done already by the user");
    }

    #[test]
    fn what_the_user_typed_between_two_changes_stays() {
        let first = change(Some("a\nb\nc\nd\ne\n"), Some("A\nb\nc\nd\ne\n"));
        let second = change(Some("A\nb\nmine\nd\ne\n"), Some("A\nb\nmine\nd\nE\n"));
        let undone = reverse(&[&first, &second], Some("A\nb\nmine\nd\nE\n"), Part::All);
        assert_eq!(undone, Reversed { text: Some("a\nb\nmine\nd\ne\n".into()), left: Vec::new() });
    }

    #[test]
    fn one_symbol_is_taken_back_alone() {
        let before = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
        let after = "import os\n\n\ndef f():\n    return 11\n\n\ndef g():\n    return 22\n";
        let undone = reverse(&[&change(Some(before), Some(after))], Some(after), Part::Symbol("g"));
        assert_eq!(undone, Reversed { text: Some(after.replace("22", "2")), left: Vec::new() });
        let nowhere = reverse(&[&change(Some(before), Some(after))], Some(after), Part::Symbol("h"));
        assert_eq!(nowhere.text.as_deref(), Some(after));
    }

    #[test]
    fn files_that_were_made_and_removed() {
        let made = change(None, Some("x\n"));
        assert_eq!(reverse(&[&made], Some("x\n"), Part::All).text, None);
        assert_eq!(reverse(&[&made], None, Part::All), Reversed { text: None, left: Vec::new() }, "gone already");
        let edited = reverse(&[&made], Some("x\nmine\n"), Part::All);
        assert_eq!((edited.text.as_deref(), edited.left.len()), (Some("x\nmine\n"), 1));
        let removed = change(Some("x\n"), None);
        assert_eq!(reverse(&[&removed], None, Part::All).text.as_deref(), Some("x\n"));
        assert_eq!(reverse(&[&removed], Some("new\n"), Part::All).left.len(), 1);
        assert_eq!(reverse(&[&change(Some("a\n"), Some("b\n"))], None, Part::All).left, ["a.py (it is gone)"]);
    }

    proptest! {
        #[test]
        fn a_whole_task_is_taken_back_to_the_letter(texts in proptest::collection::vec("([ab ü]{0,3}\n){0,6}[ab]{0,2}", 2..6)) {
            let changes: Vec<FileChange> =
                texts.windows(2).map(|two| change(Some(&two[0]), Some(&two[1]))).collect();
            let all: Vec<&FileChange> = changes.iter().collect();
            let undone = reverse(&all, texts.last().map(String::as_str), Part::All);
            prop_assert_eq!(undone.left.len(), 0);
            prop_assert_eq!(undone.text.as_ref(), texts.first());
        }

        #[test]
        fn no_text_is_too_strange(before in "[a\nü\r ]{0,12}", after in "[a\nü\r ]{0,12}", now in "[a\nü\r ]{0,12}") {
            undo(&before, &after, &now);
        }
    }
}
