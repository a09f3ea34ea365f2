//! Edits as data: text edits, minimal hunks, finding `old_string`, symbol edits, the scope check. Pure functions.

pub mod added_imports;
pub mod apply_text;
mod block_definitions;
pub mod block_target;
pub mod code_file;
mod dense;
pub mod edit_zones;
pub mod edited_diff;
pub mod fenced_blocks;
pub mod find_old_string;
pub mod hunks;
mod indent;
pub mod line_edits;
pub mod line_ends;
pub mod rebase;
pub mod symbol;
pub mod unified;

use std::ops::Range;

/// Replaces the bytes of `range` by `text`. In a list: sorted, not overlapping, all in bytes of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range<usize>,
    pub text: String,
}

impl TextEdit {
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}
