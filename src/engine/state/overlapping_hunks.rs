//! Joins the hunks of a task that changed the same lines in several edits: a reader sees them as one change.

use std::ops::Range;

use crate::state::undo_hunks::extents;
use crate::state::undo_target::Pick;

/// One hunk of a pick: the index of the pick, and the hunk as `src/engine/state/undo_hunks.rs` counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PickedHunk {
    pub(crate) pick: usize,
    pub(crate) hunk: usize,
}

/// The hunks of one file in groups, in the order of the text. The hunks of a group overlap or touch: one cannot be
/// undone without the later ones. `picks` are the oldest first. A file that was made or removed has no groups.
pub(crate) fn joined(picks: &[Pick<'_>], path: &str) -> Vec<Vec<PickedHunk>> {
    let own = || picks.iter().enumerate().filter(|(_, pick)| pick.file.path == path);
    let Some(last) = own().next_back().and_then(|(_, pick)| pick.file.after.as_deref()) else { return Vec::new() };
    let mut placed: Vec<(Range<usize>, PickedHunk)> = Vec::new();
    for (index, pick) in own() {
        let hunk = |(hunk, range)| (range, PickedHunk { pick: index, hunk });
        placed.extend(extents(pick.file, &pick.hunks, last).into_iter().map(hunk));
    }
    placed.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut groups, mut end) = (Vec::<Vec<PickedHunk>>::new(), 0);
    for (range, hunk) in placed {
        match groups.last_mut().filter(|_| range.start <= end) {
            Some(group) => group.push(hunk),
            None => groups.push(vec![hunk]),
        }
        end = end.max(range.end);
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::state::journal::{Checkpoint, FileChange};
    use crate::state::undo_hunks::count;

    fn groups(texts: &[&str]) -> Vec<Vec<(usize, usize)>> {
        let edit = |pair: &[&str]| {
            let file = FileChange {
                path: "a.py".into(),
                before: Some(pair[0].into()),
                after: Some(pair[1].into()),
                marks_before: serde_json::Value::Null,
                marks_after: serde_json::Value::Null,
            };
            Checkpoint { files: vec![file], ..Checkpoint::default() }
        };
        let edits: Vec<Checkpoint> = texts.windows(2).map(edit).collect();
        let hunks = |file: &FileChange| (0..count(file)).collect::<BTreeSet<usize>>();
        let picks = edits.iter().map(|edit| Pick { edit, file: &edit.files[0], hunks: hunks(&edit.files[0]) });
        let picks: Vec<Pick<'_>> = picks.collect();
        let plain = |group: Vec<PickedHunk>| group.iter().map(|hunk| (hunk.pick, hunk.hunk)).collect();
        joined(&picks, "a.py").into_iter().map(plain).collect()
    }

    #[test]
    fn hunks_of_the_same_lines_are_one_group() {
        let base = "a\nb\nc\nd\ne\nf\n";
        assert_eq!(groups(&[base, "a\nB\nc\nd\ne\nF\n"]), [vec![(0, 0)], vec![(0, 1)]]);
        let twice = [base, "a\nB1\nc\nd\ne\nF\n", "a\nB2\nc\nd\ne\nF\n"];
        assert_eq!(groups(&twice), [vec![(0, 0), (1, 0)], vec![(0, 1)]]);
        let deleted = [base, "a\nb\nnew\nc\nd\ne\nf\n", base];
        assert_eq!(groups(&deleted), [vec![(0, 0), (1, 0)]], "inserted and taken out again");
        let two_in_one = [base, "a\none\ntwo\nthree\nfour\nf\n", "a\none\n2\nthree\n4\nf\n"];
        assert_eq!(groups(&two_in_one).concat().len(), 6);
        let one_for_two = [base, "a\nB\nd\ne\nf\n", "a\nB2\nd\ne\nf\n"];
        assert_eq!(groups(&one_for_two), [vec![(0, 0), (1, 0)]]);
        let moved = [base, "a\nb\nc\nd\ne\nF\n", "new\na\nb\nc\nd\ne\nF\n", "new\na\nb\nc\nd\ne\nF2\n"];
        assert_eq!(groups(&moved), [vec![(1, 0)], vec![(0, 0), (2, 0)]]);
    }
}
