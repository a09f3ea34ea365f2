//! Lists the single changes of the last task, as lines of the present files. Each can be taken back alone.

use std::sync::Arc;

use crate::durable::stack::{self, UndoPlace};
use crate::state::edit_service::EditService;
use crate::state::undo_hunks;
use crate::state::undo_target::{ChangedLines, Pick, standing};
use sextant_base::failure::Failure;
use sextant_base::positions::LineIndex;
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
    let stack = stack::stack(edits).await;
    for known in stack.tasks.iter().filter(|known| known.place != UndoPlace::Removed) {
        let journal = stack::journal(&edits.store, known).await?;
        let picks: Vec<Pick<'_>> = standing(&journal).collect();
        if picks.is_empty() {
            continue;
        }
        let mut found = Vec::new();
        for pick in picks {
            if let Ok(now) = edits.workspace.editor.read(&pick.file.path).await {
                found.extend(of_pick(&journal.task, &pick, &now.text));
            }
        }
        return Ok(found);
    }
    Ok(Vec::new())
}

/// The changes of one pick. Files that were made or removed are left out: only the whole of them can be taken back.
fn of_pick(task: &str, pick: &Pick<'_>, now: &Arc<str>) -> Vec<StandingChange> {
    let Some(file) = pick.edit.files.iter().position(|file| file == pick.file) else { return Vec::new() };
    let index = LineIndex::new(now);
    let path = &pick.file.path;
    let outline = language::of_path(path).map(|language| Outline::parse(language, now));
    let symbol = |offset: usize| {
        let outline = outline.as_ref()?;
        Some(SymbolPath::new(path.clone(), outline.path_of(outline.at(offset)?)).to_string())
    };
    let mut found: Vec<StandingChange> = Vec::new();
    let mut hunk_before = None;
    for (number, place) in undo_hunks::places(pick.file, &pick.hunks, now) {
        let first = index.line_of(place.start);
        // A change that ends with a line end does not include the line behind it.
        let end = if place.len() > 1 && now[place.clone()].ends_with('\n') { place.end - 1 } else { place.end };
        let last = index.line_of(end).max(first);
        // Adjacent lines are one change to the reader.
        if let Some(one) = found.last_mut().filter(|one| hunk_before.is_some() && one.last + 1 >= first)
            && one.name.last + 1 == number
        {
            (one.name.last, one.last) = (number, last.max(one.last));
        } else {
            let (task, edit) = (task.to_owned(), pick.edit.id.clone());
            let name = ChangedLines { task, edit, file, first: number, last: number };
            let symbol = symbol(place.start).unwrap_or_default();
            found.push(StandingChange { name, path: path.clone(), symbol, text: Arc::clone(now), first, last });
        }
        hunk_before = Some(number);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::state::journal::{Checkpoint, FileChange};
    use crate::state::undo_hunks::count;

    fn changed(before: &str, after: &str, now: &str) -> Vec<(usize, usize, usize, usize)> {
        changed_but(&[], before, after, now)
    }

    fn changed_but(taken: &[usize], before: &str, after: &str, now: &str) -> Vec<(usize, usize, usize, usize)> {
        let text = |text: &str| Some(text.into());
        let file = FileChange {
            path: "a.py".into(),
            before: text(before),
            after: text(after),
            marks_before: serde_json::Value::Null,
            marks_after: serde_json::Value::Null,
        };
        let edit = Checkpoint { id: "c1".into(), files: vec![file], ..Checkpoint::default() };
        let hunks: BTreeSet<usize> = (0..count(&edit.files[0])).filter(|index| !taken.contains(index)).collect();
        let pick = Pick { edit: &edit, file: &edit.files[0], hunks };
        let found = of_pick("t", &pick, &now.into());
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
}
