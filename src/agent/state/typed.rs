//! What stands in lines that somebody else has changed since a task's last edit of a file: it is not the task's.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::agent::state::comparison::Verdict;
use crate::agent::state::journal::Journal;
use crate::agent::state::snapshots::Snapshots;
use crate::base::text::LineIndex;
use crate::edits::hunks::hunks;

/// Takes what others have typed out of what is new. What only a formatter can have moved stays.
pub(crate) fn leave_out(verdict: &mut Verdict, journal: &Journal, known: &Snapshots) {
    if verdict.new.is_empty() {
        return;
    }
    let mut left: BTreeMap<&str, &str> = BTreeMap::new();
    for change in journal.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files) {
        left.insert(&change.path, change.after.as_deref().unwrap_or_default());
    }
    let mut typed: BTreeMap<&str, Vec<RangeInclusive<u32>>> = BTreeMap::new();
    for ((file, _), snap) in known {
        let (Some(left), Some(now)) = (left.get(file.as_str()), snap.text.as_deref()) else { continue };
        if !typed.contains_key(file.as_str()) && *left != now {
            typed.insert(file, changed_lines(left, now));
        }
    }
    verdict.new.retain(|found| {
        let lines = typed.get(found.symbol.file.as_str());
        lines.is_none_or(|lines| lines.iter().all(|lines| !lines.contains(&found.line)))
    });
}

/// The lines of a text, counted from 1, that differ from an earlier one in more than white space.
fn changed_lines(before: &str, now: &str) -> Vec<RangeInclusive<u32>> {
    let index = LineIndex::new(now);
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let other = hunks(now, before).into_iter().filter(|hunk| words(&now[hunk.range.clone()]) != words(&hunk.text));
    let line = |offset| u32::try_from(index.line_of(offset) + 1).unwrap_or(u32::MAX);
    other.filter(|hunk| !hunk.range.is_empty()).map(|hunk| line(hunk.range.start)..=line(hunk.range.end - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_that_say_something_else_and_no_others() {
        let before = "def f():\n    return a\n";
        assert_eq!(changed_lines(before, "def f():\n    return a\n\nfoo = bar\n"), [3..=4]);
        assert_eq!(changed_lines(before, "def f():\n    return b\n"), [2..=2]);
        assert_eq!(changed_lines(before, "def f():\n        return a\n"), []);
        assert_eq!(changed_lines(before, "def f():\n"), [], "where something is gone nothing was typed");
    }
}
