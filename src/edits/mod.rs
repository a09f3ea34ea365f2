//! Edits as data: text edits, minimal hunks, finding `old_string`, symbol edits, the scope check. Pure functions.

use std::ops::Range;

/// Replaces the bytes of `range` by `text`. In a list: sorted, not overlapping, all in bytes of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range<usize>,
    pub text: String,
}
