//! The differences of two texts in whole lines, for a reader.

use std::ops::Range;

use imara_diff::sources::lines;
use imara_diff::{Algorithm, Diff, InternedInput, Interner};

use crate::edits::{TextEdit, dense};

/// The changed lines of two texts.
pub(super) struct LineDiff {
    /// The lines that differ, on both sides.
    pub(super) changed: Vec<(Range<usize>, Range<usize>)>,
    /// The start of each line of the old text, and its end.
    pub(super) old: Vec<u32>,
    /// The same of the new text.
    pub(super) new: Vec<u32>,
}

impl LineDiff {
    pub(super) fn of(before: &str, after: &str) -> Self {
        // Grown as needed: an input made for both texts at once reserves a place for each of their lines, and most are
        // in both.
        let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(0) };
        input.update_before(lines(before));
        input.update_after(lines(after));
        let old = starts(input.before.iter().map(|token| input.interner[*token]));
        let new = starts(input.after.iter().map(|token| input.interner[*token]));
        let changed = dense::changed(&input.before, &input.after).unwrap_or_else(|| changed(&input));
        Self { changed, old, new }
    }
}

/// The bytes of these lines.
pub(super) fn bytes(starts: &[u32], lines: &Range<usize>) -> Range<usize> {
    starts[lines.start] as usize..starts[lines.end] as usize
}

/// The edits that turn `before` into `after`, each of whole lines on both sides.
pub fn line_edits(before: &str, after: &str) -> Vec<TextEdit> {
    if before == after {
        return Vec::new();
    }
    let diff = LineDiff::of(before, after);
    let edit = |(b, a): &(Range<usize>, Range<usize>)| TextEdit::new(bytes(&diff.old, b), &after[bytes(&diff.new, a)]);
    diff.changed.iter().map(edit).collect()
}

fn changed(input: &InternedInput<&str>) -> Vec<(Range<usize>, Range<usize>)> {
    let mut diff = Diff::compute(Algorithm::Histogram, input);
    diff.postprocess_lines(input);
    let range = |lines: Range<u32>| lines.start as usize..lines.end as usize;
    diff.hunks().map(|hunk| (range(hunk.before), range(hunk.after))).collect()
}

fn starts<'a>(lines: impl ExactSizeIterator<Item = &'a str>) -> Vec<u32> {
    let mut out = Vec::with_capacity(lines.len() + 1);
    let mut end = 0;
    out.push(0);
    for line in lines {
        end += line.len() as u32;
        out.push(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::apply_text::apply;

    #[test]
    fn an_edit_holds_whole_lines() {
        let (before, after) = ("a = 1\nb = two\nc = 3\n", "a = 1\nb = 2\nx\nc = 3\n");
        let edits = line_edits(before, after);
        assert_eq!(edits, vec![TextEdit::new(6..14, "b = 2\nx\n")]);
        assert_eq!(apply(before, &edits).unwrap(), after);
        assert_eq!(line_edits("a", "a\nb"), vec![TextEdit::new(0..1, "a\nb")]);
        assert_eq!(line_edits("a\n", "a\n"), vec![]);
    }
}
