//! Lists the single changes of the last task, as lines of the present files. Each can be taken back alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::durable::stack::{self, UndoPlace};
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::overlapping_hunks::{PickedHunk, joined};
use crate::state::undo_hunks::{self, HunkTurn};
use crate::state::undo_target::{ChangedLines, Pick, Target, choose, standing};
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
use sextant_text::edits::hunks::hunks;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Changed lines of a file that have not been edited since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingChange {
    pub name: ChangedLines,
    pub path: String,
    /// The innermost symbol that holds it, with its file (`cart.py::Cart::total`); empty outside of every symbol.
    pub symbol: String,
    /// The file as it is, and the first and the last of the lines in it, from 0.
    pub text: Arc<str>,
    pub first: usize,
    pub last: usize,
}

/// The changes of the newest task of which any still stand.
///
/// # Errors
/// The kept record of the task cannot be read.
pub(crate) async fn standing_changes(edits: &EditService) -> Result<Vec<StandingChange>, Failure> {
    let Some(journal) = newest(edits).await? else { return Ok(Vec::new()) };
    let picks: Vec<Pick<'_>> = standing(&journal).collect();
    let mut found = Vec::new();
    let paths: BTreeSet<&str> = picks.iter().map(|pick| pick.file.path.as_str()).collect();
    for path in paths {
        if let Ok(now) = edits.workspace.editor.read(path).await {
            found.extend(of_file(&journal.task, &picks, path, &now.text));
        }
    }
    Ok(found)
}

/// The symbols of the same task whose changes an undo can take back.
///
/// # Errors
/// The kept record of the task cannot be read.
pub(crate) async fn standing_symbols(edits: &EditService) -> Result<Vec<String>, Failure> {
    let Some(journal) = newest(edits).await? else { return Ok(Vec::new()) };
    let touched: BTreeSet<&String> = standing(&journal).flat_map(|pick| &pick.edit.symbols).collect();
    let stands = |symbol: &&String| choose(&journal, &Target::Symbol((*symbol).clone())).is_ok();
    Ok(touched.into_iter().filter(stands).cloned().collect())
}

/// The newest task of which any change still stands.
async fn newest(edits: &EditService) -> Result<Option<Journal>, Failure> {
    let stack = stack::stack(edits).await;
    for known in stack.tasks.iter().filter(|known| known.place != UndoPlace::Removed) {
        let journal = stack::journal(&edits.store, known).await?;
        if standing(&journal).next().is_some() {
            return Ok(Some(journal));
        }
    }
    Ok(None)
}

/// A file as it is, with what places in it are named by.
struct PresentFile<'a> {
    path: &'a str,
    text: &'a Arc<str>,
    index: LineIndex,
    outline: Option<Outline>,
}

impl<'a> PresentFile<'a> {
    fn new(path: &'a str, text: &'a Arc<str>) -> Self {
        let outline = language::of_path(path).map(|language| Outline::parse(language, text));
        Self { path, text, index: LineIndex::new(text), outline }
    }

    /// The first and the last line of a place. One that ends with a line end does not include the line behind it.
    fn lines(&self, place: &Range<usize>) -> (usize, usize) {
        let whole = place.len() > 1 && self.text[place.clone()].ends_with('\n');
        let first = self.index.line_of(place.start);
        (first, self.index.line_of(if whole { place.end - 1 } else { place.end }).max(first))
    }

    fn change(&self, name: ChangedLines, place: &Range<usize>) -> StandingChange {
        let symbol = self.outline.as_ref().and_then(|outline| {
            Some(SymbolPath::new(self.path, outline.path_of(outline.at(place.start)?)).to_string())
        });
        let (first, last) = self.lines(place);
        let (path, text) = (self.path.to_owned(), Arc::clone(self.text));
        StandingChange { name, path, symbol: symbol.unwrap_or_default(), text, first, last }
    }
}

/// The name of hunks of one pick; `None` for a pick of another edit's file.
fn named(task: &str, pick: &Pick<'_>, hunk: usize) -> Option<ChangedLines> {
    let file = pick.edit.files.iter().position(|file| file == pick.file)?;
    Some(ChangedLines { task: task.to_owned(), edit: pick.edit.id.clone(), file, first: hunk, last: hunk })
}

/// The changes of one file. Files that were made or removed are left out: only the whole of them can be taken back.
fn of_file(task: &str, picks: &[Pick<'_>], path: &str, now: &Arc<str>) -> Vec<StandingChange> {
    let now = PresentFile::new(path, now);
    let (several, single): (Vec<_>, Vec<_>) = joined(picks, path).into_iter().partition(|group| group.len() > 1);
    let mut alone: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for one in single.into_iter().flatten() {
        alone.entry(one.pick).or_default().insert(one.hunk);
    }
    let mut found: Vec<StandingChange> =
        alone.iter().flat_map(|(at, hunks)| of_pick(task, &picks[*at], hunks, &now)).collect();
    found.extend(several.iter().filter_map(|group| of_group(task, picks, group, &now)));
    found.sort_by_key(|one| (one.first, one.last));
    found
}

/// The change of hunks that several edits made in the same lines: the lines that differ once all of them are undone.
fn of_group(task: &str, picks: &[Pick<'_>], group: &[PickedHunk], now: &PresentFile<'_>) -> Option<StandingChange> {
    let newest = group.last()?;
    let edits: BTreeSet<usize> = group.iter().map(|one| one.pick).collect();
    let turn = |at: &usize| {
        let (change, standing) = (picks[*at].file, &picks[*at].hunks);
        let wanted = group.iter().filter(|one| one.pick == *at).map(|one| one.hunk).collect();
        let taken = (0..undo_hunks::count(change)).filter(|index| !standing.contains(index)).collect();
        HunkTurn { change, taken, wanted }
    };
    let turns: Vec<HunkTurn<'_>> = edits.iter().rev().map(turn).collect();
    let undone = undo_hunks::turn(&turns, Some(now.text));
    let differ = hunks(now.text, undone.text.as_deref().filter(|_| undone.left.is_empty())?);
    let place = differ.first()?.range.start..differ.last()?.range.end;
    Some(now.change(named(task, &picks[newest.pick], newest.hunk)?, &place))
}

/// The changes of hunks of one pick.
fn of_pick(task: &str, pick: &Pick<'_>, wanted: &BTreeSet<usize>, now: &PresentFile<'_>) -> Vec<StandingChange> {
    let mut found: Vec<StandingChange> = Vec::new();
    for (number, place) in undo_hunks::places(pick.file, &pick.hunks, now.text) {
        let Some(name) = named(task, pick, number).filter(|_| wanted.contains(&number)) else { continue };
        let (first, last) = now.lines(&place);
        // Adjacent lines are one change to the reader.
        match found.last_mut().filter(|one| one.last + 1 >= first && one.name.last + 1 == number) {
            Some(one) => (one.name.last, one.last) = (number, last.max(one.last)),
            None => found.push(now.change(name, &place)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::journal::{Checkpoint, FileChange};
    use crate::state::undo_hunks::count;

    fn edit(id: &str, before: &str, after: &str) -> Checkpoint {
        let file = FileChange {
            path: "a.py".into(),
            before: Some(before.into()),
            after: Some(after.into()),
            marks_before: serde_json::Value::Null,
            marks_after: serde_json::Value::Null,
        };
        Checkpoint { id: id.into(), files: vec![file], ..Checkpoint::default() }
    }

    fn changed(before: &str, after: &str, now: &str) -> Vec<(usize, usize, usize, usize)> {
        changed_but(&[], before, after, now)
    }

    fn changed_but(taken: &[usize], before: &str, after: &str, now: &str) -> Vec<(usize, usize, usize, usize)> {
        let edit = edit("c1", before, after);
        let hunks: BTreeSet<usize> = (0..count(&edit.files[0])).filter(|index| !taken.contains(index)).collect();
        let pick = Pick { edit: &edit, file: &edit.files[0], hunks };
        let found = of_file("t", &[pick], "a.py", &now.into());
        found.iter().map(|one| (one.name.first, one.name.last, one.first, one.last)).collect()
    }

    #[test]
    fn lines_beside_each_other_are_one_change_and_others_are_others() {
        let (before, after) = ("a\nb\nc\nd\ne\nf\n", "a\nB\nC\nd\ne\nF\n");
        assert_eq!(changed(before, after, after), [(0, 1, 1, 2), (2, 2, 5, 5)]);
        assert_eq!(changed(before, after, &format!("new\n{after}")), [(0, 1, 2, 3), (2, 2, 6, 6)]);
        assert_eq!(changed(before, after, "a\nB\nC\nd\ne\nmine\n"), [(0, 1, 1, 2)], "changed since");
        assert_eq!(changed(before, after, before), [], "taken back by hand");
    }

    #[test]
    fn what_was_put_in_or_taken_out_has_its_lines_too() {
        assert_eq!(changed("a\nd\n", "a\nb\nc\nd\n", "a\nb\nc\nd\n"), [(0, 0, 1, 2)]);
        assert_eq!(changed("a\nb\nc\nd\n", "a\nd\n", "a\nd\n"), [(0, 0, 1, 1)]);
    }

    #[test]
    fn what_stands_beside_what_was_taken_back_is_found() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nB\nC\nd\n");
        assert_eq!(changed_but(&[0], before, after, "a\nb\nC\nd\n"), [(1, 1, 2, 2)]);
        // A step has put in the first line and changed another behind it; the first was taken back.
        let (before, after) = ("a\nd\n", "new\na\nD\n");
        assert_eq!(changed_but(&[0], before, after, "a\nD\n"), [(1, 1, 1, 1)]);
    }

    #[test]
    fn lines_that_two_edits_changed_are_one_change_as_the_task_found_them() {
        let (base, broken, repaired) = ("a\nb\nc\nd\n", "a\nB1\nC\nd\n", "a\nB2\nC\nd\n");
        let edits = [edit("c1", base, broken), edit("c2", broken, repaired)];
        let hunks = |file: &FileChange| (0..count(file)).collect();
        let picks = edits.iter().map(|edit| Pick { edit, file: &edit.files[0], hunks: hunks(&edit.files[0]) });
        let picks: Vec<Pick<'_>> = picks.collect();
        let found = of_file("t", &picks, "a.py", &repaired.into());
        let lines: Vec<_> = found.iter().map(|one| (one.name.edit.as_str(), one.first, one.last)).collect();
        assert_eq!(lines, [("c2", 1, 1), ("c1", 2, 2)], "the line that the second edit left is another change");
        assert_eq!(of_file("t", &picks, "a.py", &"a\nmine\nC\nd\n".into()).len(), 1, "changed since");
    }
}
