//! The text of each file as the model has seen it last, put together from the parts that it was shown.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use sextant_base::positions::LineIndex;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::hunks::hunks;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenTexts(BTreeMap<String, Arc<str>>);

impl SeenTexts {
    /// The text of a file that the model has seen, where it differs from this text.
    pub(crate) fn other_than(&self, path: &str, text: &str) -> Option<Arc<str>> {
        self.0.get(path).filter(|seen| ***seen != *text).map(Arc::clone)
    }

    /// Records that all of a text was shown, or every difference to the text seen before.
    pub(crate) fn whole(&mut self, path: &str, text: impl Into<Arc<str>>) {
        self.0.insert(path.to_owned(), text.into());
    }

    /// Records that these lines of a text were shown, counted from 0. Changes elsewhere since an earlier look stay
    /// unseen.
    pub(crate) fn lines(&mut self, path: &str, text: &Arc<str>, lines: Range<usize>) {
        let seen = match self.0.get(path) {
            None => Arc::clone(text),
            Some(seen) if **seen == **text => return,
            Some(seen) => with_part(seen, text, lines).into(),
        };
        self.0.insert(path.to_owned(), seen);
    }

    /// Records that the model's own edit has made one text of another. Unseen parts of the text before stay unseen.
    pub(crate) fn edited(&mut self, path: &str, before: &str, after: &Arc<str>) {
        if self.other_than(path, before).is_none() {
            self.whole(path, Arc::clone(after));
        }
    }

    pub(crate) fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Adds the views recorded since this copy of `base`.
    pub(crate) fn take(&mut self, of: Self, base: &Self) {
        self.0.extend(of.0.into_iter().filter(|(path, text)| base.0.get(path) != Some(text)));
    }
}

/// A seen text, with its differences to the current text in these lines.
fn with_part(seen: &str, now: &str, lines: Range<usize>) -> String {
    let index = LineIndex::new(now);
    let start_of = |line: usize| if line < index.line_count() { index.line_start(line) } else { now.len() };
    let shown = start_of(lines.start)..start_of(lines.end);
    let mut grown: isize = 0;
    let mut edits = Vec::new();
    for hunk in hunks(seen, now) {
        let start = hunk.range.start.saturating_add_signed(grown);
        let end = start + hunk.text.len();
        grown += hunk.text.len().cast_signed() - hunk.range.len().cast_signed();
        let (from, to) = (start.max(shown.start), end.min(shown.end));
        // A removal counts as seen where the lines around it are shown.
        if from < to || (start == end && from == to) {
            edits.push(TextEdit::new(hunk.range, now.get(from..to).unwrap_or_default()));
        }
    }
    apply(seen, &edits).unwrap_or_else(|_| seen.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_changed_outside_of_the_shown_lines_stays_unseen() {
        let (old, now) = ("a\nb\nc\nd\n", "A\nb\nC\nd\n");
        let mut seen = SeenTexts::default();
        seen.lines("f", &old.into(), 0..1);
        assert_eq!(seen.other_than("f", old), None, "of what was never seen nothing can have changed");
        seen.lines("f", &now.into(), 0..2);
        assert_eq!(seen.other_than("f", now).as_deref(), Some("A\nb\nc\nd\n"));
        seen.lines("f", &now.into(), 2..4);
        assert_eq!(seen.other_than("f", now), None);
        seen.edited("f", now, &"new\n".into());
        assert_eq!(seen.other_than("f", "new\n"), None);
        seen.edited("f", "other\n", &"newer\n".into());
        assert_eq!(
            seen.other_than("f", "newer\n").as_deref(),
            Some("new\n"),
            "its edit was of a text that it had not seen"
        );
    }

    #[test]
    fn of_a_long_insertion_and_of_what_is_gone_a_page_shows_its_part() {
        assert_eq!(with_part("a\nz\n", "a\n1\n2\n3\n4\nz\n", 0..3), "a\n1\n2\nz\n");
        assert_eq!(with_part("a\n1\n2\nz\n", "a\n1\n2\n3\n4\nz\n", 3..6), "a\n1\n2\n3\n4\nz\n");
        assert_eq!(with_part("a\nb\nc\nd\n", "a\nb\nd\n", 1..3), "a\nb\nd\n");
        assert_eq!(with_part("a\nb\nc\nd\n", "a\nb\nd\n", 0..1), "a\nb\nc\nd\n");
    }

    proptest! {
        #[test]
        fn page_by_page_all_is_seen(old in "([a-c]{0,2}\n){0,12}", mut words in "[a-c]{0,12}", page in 1usize..5) {
            // Among lines that are all alike the new one cannot be identified.
            words.push('z');
            let now: String = words.char_indices().map(|(at, word)| format!("{word}{at}\n")).collect();
            let mut seen = SeenTexts::default();
            seen.whole("f", old.as_str());
            for first in (0..now.lines().count()).step_by(page) {
                seen.lines("f", &now.as_str().into(), first..first + page);
            }
            prop_assert_eq!(seen.other_than("f", &now), None);
        }
    }
}
