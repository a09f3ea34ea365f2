//! The list of the diagnostics that a task has fixed: each at the place in the text of now where it stood.

use std::collections::{BTreeMap, BTreeSet};

use crate::editor::event::QuickfixEntry;
use crate::state::comparison::text_of;
use crate::state::render;
use crate::state::snapshots::Snapshots;
use sextant_base::positions::LineIndex;
use sextant_diagnostics::located::Namer;
use sextant_diagnostics::model::{Diagnostic, Severity};
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::offset_after;
use sextant_text::edits::hunks::hunks;

/// The entries of these diagnostics, on a thread of its own: the texts of a large task take a while.
pub(crate) async fn listed(
    fixed: &[Diagnostic],
    floor: Severity,
    before: &Snapshots,
    after: &Snapshots,
) -> Vec<QuickfixEntry> {
    let fixed: Vec<Diagnostic> = fixed.iter().filter(|gone| gone.severity <= floor).cloned().collect();
    if fixed.is_empty() {
        return Vec::new();
    }
    let (before, after) = (before.clone(), after.clone());
    tokio::task::spawn_blocking(move || entries(&fixed, &before, &after)).await.unwrap_or_default()
}

fn entries(fixed: &[Diagnostic], before: &Snapshots, after: &Snapshots) -> Vec<QuickfixEntry> {
    let mut namer = Namer::default();
    let mut ways: BTreeMap<String, Option<MovedLines>> = BTreeMap::new();
    let then = |file: &str| text_of(before, file).and_then(|snap| snap.text.as_deref());
    let now = |file: &str| text_of(after, file).and_then(|snap| snap.text.as_deref());
    let mut list: Vec<QuickfixEntry> = Vec::with_capacity(fixed.len());
    for gone in fixed {
        let mut entry = render::entry(&namer.name(gone, then));
        let way =
            ways.entry(entry.path.clone()).or_insert_with_key(|file| MovedLines::between(then(file)?, now(file)?));
        if let Some(way) = way {
            entry.line = way.line(entry.line);
        }
        list.push(entry);
    }
    list.sort_by(|a, b| (&a.path, a.line, a.column).cmp(&(&b.path, b.line, b.column)));
    list
}

/// The way of lines from one text to another.
struct MovedLines {
    then: LineIndex,
    now: LineIndex,
    edits: Vec<TextEdit>,
    /// Lines of the first text that hold nothing.
    blank: BTreeSet<usize>,
}

impl MovedLines {
    fn between(then: &str, now: &str) -> Option<Self> {
        if then == now {
            return None;
        }
        let blank = then.split('\n').enumerate().filter(|(_, line)| line.is_empty()).map(|(at, _)| at).collect();
        Some(Self { then: LineIndex::new(then), now: LineIndex::new(now), edits: hunks(then, now), blank })
    }

    /// The line of the second text for one of the first; both from 1.
    fn line(&self, line: u32) -> u32 {
        let at = usize::try_from(line).unwrap_or(1).saturating_sub(1);
        let at = at.min(self.then.line_count().saturating_sub(1));
        // An insertion right before the first character of the line moves it.
        let first = self.then.line_start(at) + usize::from(!self.blank.contains(&at));
        let found = self.now.line_of(offset_after(first, &self.edits));
        u32::try_from(found).unwrap_or(u32::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_with_the_text_and_one_that_is_gone_to_its_place() {
        let way = MovedLines::between("a\nb\nc\nd\n", "new\na\nd\n").unwrap();
        assert_eq!([1, 2, 4].map(|line| way.line(line)), [2, 3, 3]);
        assert!(MovedLines::between("a\n", "a\n").is_none());
    }
}
