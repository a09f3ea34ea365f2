//! The places of a task of an earlier process that stand as the task left them. What others typed since is no part of
//! its lists.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::editor::event::QuickfixEntry;
use crate::state::comparison::text_of;
use crate::state::journal::{CheckpointKind, Journal};
use crate::state::snapshots::Snapshots;
use sextant_base::positions::LineIndex;
use sextant_text::edits::line_edits::line_edits;

/// The lines of each file that others changed since the task.
pub(crate) struct StandingPlaces<'a> {
    journal: &'a Journal,
    start: &'a Snapshots,
    now: &'a Snapshots,
    changed: BTreeMap<String, Vec<Range<usize>>>,
}

impl<'a> StandingPlaces<'a> {
    pub(crate) fn new(journal: &'a Journal, start: &'a Snapshots, now: &'a Snapshots) -> Self {
        Self { journal, start, now, changed: BTreeMap::new() }
    }

    /// True if the line of an entry is one that the task left so.
    pub(crate) fn has(&mut self, entry: &QuickfixEntry) -> bool {
        let line = usize::try_from(entry.line).unwrap_or(usize::MAX).saturating_sub(1);
        if !self.changed.contains_key(&entry.path) {
            let changed = self.changed_lines(&entry.path);
            self.changed.insert(entry.path.clone(), changed);
        }
        !self.changed[&entry.path].iter().any(|lines| lines.contains(&line))
    }

    fn changed_lines(&self, path: &str) -> Vec<Range<usize>> {
        let edits = self.journal.checkpoints.iter().rev().filter(|row| row.kind == CheckpointKind::Edit);
        let left = edits.flat_map(|row| &row.files).find(|file| file.path == path).map(|file| file.after.as_deref());
        let text = |all: &'a Snapshots| text_of(all, path).and_then(|snap| snap.text.as_deref());
        let left = left.unwrap_or_else(|| text(self.start));
        let (Some(left), Some(now)) = (left, text(self.now)) else { return Vec::new() };
        let index = LineIndex::new(now);
        let mut grown: isize = 0;
        let mut changed = Vec::new();
        for edit in line_edits(left, now) {
            let start = edit.range.start.saturating_add_signed(grown);
            grown += edit.text.len() as isize - edit.range.len() as isize;
            changed.push(index.line_of(start)..index.line_of(start) + edit.text.lines().count());
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::editor::Marks;
    use crate::state::journal::{Checkpoint, FileChange};
    use crate::state::snapshots::Snapshot;

    fn known(texts: &[(&str, &str)]) -> Snapshots {
        let snap = |text: &str| Arc::new(Snapshot { text: Some(text.into()), diagnostics: Vec::new() });
        texts.iter().map(|(path, text)| (((*path).to_owned(), "lsp:x".to_owned()), snap(text))).collect()
    }

    #[test]
    fn a_line_that_was_typed_since_is_no_place_of_the_task() {
        let text = |text: &str| Some(Arc::from(text));
        let file = FileChange {
            path: "a.py".into(),
            before: text("one\n"),
            after: text("one\ntwo\n"),
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        };
        let journal = Journal {
            checkpoints: vec![Checkpoint { files: vec![file], ..Checkpoint::default() }],
            ..Journal::default()
        };
        let (start, now) =
            (known(&[("a.py", "one\n"), ("b.py", "b\n")]), known(&[("a.py", "typed\none\ntwo\n"), ("b.py", "b\nc\n")]));
        let mut places = StandingPlaces::new(&journal, &start, &now);
        let mut stands = |path: &str, line| {
            let entry = QuickfixEntry {
                path: path.into(),
                line,
                column: 1,
                kind: "E".into(),
                text: String::new(),
                sources: Vec::new(),
            };
            places.has(&entry)
        };
        assert_eq!([1, 2, 3].map(|line| stands("a.py", line)), [false, true, true]);
        assert_eq!([1, 2].map(|line| stands("b.py", line)), [true, false]);
    }
}
