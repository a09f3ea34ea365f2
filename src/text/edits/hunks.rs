//! The smallest edits between two texts, so that marks and cursors outside of them stay where they are.

use std::ops::Range;

use crate::edits::TextEdit;
use crate::edits::line_edits::{LineDiff, bytes};

/// The edits that turn `before` into `after`: changed lines, each drawn in to the characters that differ.
///
/// Equal texts give no edit. Applying the result to `before` always gives `after`.
pub fn hunks(before: &str, after: &str) -> Vec<TextEdit> {
    let LineDiff { changed, old, new } = LineDiff::of(before, after);
    let mut out = Vec::new();
    for (b, a) in changed {
        // As many lines as before: each was most likely changed in place.
        let pairs =
            if b.len() == a.len() { b.zip(a).map(|(b, a)| (b..b + 1, a..a + 1)).collect() } else { vec![(b, a)] };
        for (b, a) in pairs {
            let edit = trimmed(before, bytes(&old, &b), &after[bytes(&new, &a)]);
            if !edit.range.is_empty() || !edit.text.is_empty() {
                out.push(edit);
            }
        }
    }
    out
}

/// The same edit without the unchanged text at both ends.
///
/// A line end of two characters (`\r\n`) is never cut in half. The range must lie in `text`.
pub fn trim(text: &str, edit: &TextEdit) -> TextEdit {
    trimmed(text, edit.range.clone(), &edit.text)
}

fn trimmed(text: &str, range: Range<usize>, new: &str) -> TextEdit {
    let old = &text[range.clone()];
    let same = |(a, b): &(char, char)| a == b;
    let mut head: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let splits = |s: &str, at: usize| s[..at].ends_with('\r') && s[at..].starts_with('\n');
    if splits(old, head) || splits(new, head) {
        head -= 1;
    }
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tails = old_rest.chars().rev().zip(new_rest.chars().rev());
    let mut tail: usize = tails.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    if splits(old_rest, old_rest.len() - tail) || splits(new_rest, new_rest.len() - tail) {
        tail -= 1;
    }
    let range = range.start + head..range.end - tail;
    TextEdit::new(range, &new_rest[..new_rest.len() - tail])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edits::apply_text::apply;

    #[test]
    fn a_changed_word_is_a_hunk_of_that_word() {
        let hunks = hunks("a = 1\nb = two\nc = 3\n", "a = 1\nb = 2\nc = 3\n");
        assert_eq!(hunks, vec![TextEdit::new(10..13, "2")]);
    }

    #[test]
    fn lines_changed_side_by_side_are_separate_hunks() {
        let found = hunks("x = old(1)\ny = old(2)\n", "x = new(1)\ny = new(2)\n");
        assert_eq!(found, vec![TextEdit::new(4..7, "new"), TextEdit::new(15..18, "new")]);
    }

    #[test]
    fn a_line_end_is_not_cut_in_half() {
        assert_eq!(hunks("a\r\n", "b\r\n"), vec![TextEdit::new(0..1, "b")]);
        assert_eq!(hunks("a\r\n", "a\n"), vec![TextEdit::new(1..3, "\n")]);
        assert_eq!(hunks("a\r", "a\r\n"), vec![TextEdit::new(1..2, "\r\n")]);
        assert_eq!(hunks("a", "a"), vec![]);
    }

    #[test]
    fn characters_that_share_bytes_are_not_cut() {
        let (a, b) = ("😀", "😁");
        assert_eq!(apply(a, &hunks(a, b)).unwrap(), b);
    }

    fn lines() -> impl Strategy<Value = String> {
        let line = prop_oneof!["[ab ]{0,3}", Just("ü😀".into()), Just("😁".into()), Just("\r".into())];
        let end = prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("")];
        proptest::collection::vec((line, end).prop_map(|(line, end)| line + end), 0..12).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn hunks_lead_from_one_text_to_the_other(a in lines(), b in lines()) {
            let hunks = hunks(&a, &b);
            prop_assert_eq!(apply(&a, &hunks).unwrap(), b);
            for hunk in &hunks {
                prop_assert_eq!(&trim(&a, hunk), hunk, "nothing left to trim");
            }
        }
    }
}
