//! The undo and redo of the agent's edits, by a command or by a key of the editor: what was accepted before an undo comes
//! back from it as accepted, and what waited waits again.

use std::sync::Arc;

use crate::editor::Marks;
use crate::state::journal::FileChange;
use crate::state::review::file_review::{FileReview, carried, is_beside};
use crate::state::review::workspace_review::{ChangedBy, WorkspaceReview};
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::line_edits::line_edits;

/// Most edits that an undo of the editor is known by, and most undos that can be redone.
const EDITS: usize = 20;

/// A file before and after an edit of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditTexts {
    pub(crate) path: String,
    pub(crate) before: Arc<str>,
    pub(crate) after: Arc<str>,
}

/// An edit of the agent, and the review of its file before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MadeEdit {
    edit: EditTexts,
    waited: FileReview,
}

/// An undo: the edit that it took back, and the accepted text of the file before and after it; `None` where there is no
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UndoneTexts {
    pub(crate) edit: EditTexts,
    pub(crate) with: Option<Arc<str>>,
    pub(crate) without: Option<Arc<str>>,
}

impl WorkspaceReview {
    /// The text of a file without the hunks that wait: all of it where none does.
    pub(crate) fn accepted_text(&self, change: &FileChange, now: Option<&str>) -> Option<Arc<str>> {
        match self.files.get(&change.path) {
            Some(file) => (!file.made).then(|| Arc::clone(&file.baseline)),
            None => now.map(Arc::from),
        }
    }

    /// The review of a file as it is.
    pub(crate) fn waiting(&self, change: &FileChange) -> FileReview {
        let known = self.files.get(&change.path).cloned();
        known.unwrap_or_else(|| FileReview::new(&change.path, change.before.as_ref()))
    }

    /// Keeps an edit, by which an undo in the editor is known. No key leads back from a file that is made or deleted.
    pub(crate) fn keep_edit(&mut self, change: &FileChange, waited: FileReview) {
        let (Some(before), Some(after)) = (&change.before, &change.after) else { return };
        if before == after {
            return;
        }
        let (before, after) = (Arc::clone(before), Arc::clone(after));
        self.edits.push(MadeEdit { edit: EditTexts { path: change.path.clone(), before, after }, waited });
        let over = self.edits.len().saturating_sub(EDITS);
        self.edits.drain(..over);
    }

    /// Keeps an undo, with the accepted text before and after it.
    pub(crate) fn keep_undone(&mut self, undo: &FileChange, with: Option<Arc<str>>, without: Option<Arc<str>>) {
        let text = |text: &Option<Arc<str>>| text.clone().unwrap_or_default();
        let edit = EditTexts { path: undo.path.clone(), before: text(&undo.after), after: text(&undo.before) };
        self.drop_undone(&edit);
        self.redoable.push(UndoneTexts { edit, with, without });
        let over = self.redoable.len().saturating_sub(EDITS);
        self.redoable.drain(..over);
    }

    /// The file as it waited before an edit that is taken back; `None` where that is not known any more. Typing that came
    /// in between is kept.
    pub(crate) fn waited_before(&self, undo: &FileChange) -> Option<FileReview> {
        let (before, after) = (undo.before.as_deref()?, undo.after.as_ref()?);
        let of_file = || self.edits.iter().filter(|made| made.edit.path == undo.path);
        if let Some(exact) = of_file().rfind(|made| made.edit.before == *after) {
            return Some(exact.waited.clone());
        }
        let undone = |edit: &EditTexts| apply(before, &carried(&edit.after, &edit.before, before)?).ok();
        let MadeEdit { edit, waited } = of_file().rfind(|made| undone(&made.edit).as_deref() == Some(after))?;
        let typed = line_edits(&edit.before, after);
        if waited.made || waited.is_apart || touches(&typed, &line_edits(&edit.before, &waited.baseline)) {
            return None;
        }
        let baseline = apply(&waited.baseline, &carried(&edit.before, after, &waited.baseline)?).ok()?;
        Some(FileReview { baseline: baseline.into(), agent: Arc::clone(after), ..waited.clone() })
    }

    /// Takes in an acceptance, from the accepted text before it to the one after it: hunks that waited before an edit are
    /// accepted there too. Where they are one with those of the edit, they wait again after its undo.
    pub(crate) fn accept_earlier(&mut self, path: &str, [from, to]: &[Arc<str>; 2]) {
        for MadeEdit { waited, .. } in self.edits.iter_mut().filter(|made| made.edit.path == path) {
            let accepted = &waited.baseline;
            let now = carried(from, to, accepted).and_then(|edits| apply(accepted, &edits).ok());
            let before = line_edits(accepted, &waited.agent);
            let is_of = |now: &String| {
                let is_known = |left: &TextEdit| {
                    let same = |hunk: &TextEdit| accepted[hunk.range.clone()] == now[left.range.clone()];
                    before.iter().any(|hunk| hunk.text == left.text && same(hunk))
                };
                line_edits(now, &waited.agent).iter().all(is_known)
            };
            if let Some(now) = now.filter(is_of) {
                waited.baseline = now.into();
            }
        }
    }

    /// Takes in an undo or a redo of the agent's edits by a key of the editor. False where the text is of neither.
    pub(crate) fn retrace_edit(&mut self, path: &str, now: &str) -> bool {
        let file = self.files.get(path);
        if file.is_some_and(|file| *file.agent == *now || file.is_apart) {
            return false;
        }
        let shown = file.map(|file| Arc::clone(&file.agent));
        let of_undo = |made: &MadeEdit| made.edit.path == path && *made.edit.before == *now;
        let of_redo = |undone: &UndoneTexts| undone.edit.path == path && *undone.edit.after == *now;
        if let (Some(before), Some(place)) = (&shown, self.edits.iter().rposition(of_undo)) {
            let undo = between(path, before, &self.edits[place].edit.before);
            self.made(&undo, ChangedBy::Undo);
            return true;
        }
        let last = self.redoable.iter().rfind(|undone| undone.edit.path == path);
        if last.is_none_or(|last| *last.edit.before == *now) {
            return false;
        }
        let Some(place) = self.redoable.iter().rposition(of_redo) else { return false };
        let EditTexts { before, after, .. } = self.redoable[place].edit.clone();
        if shown.is_some_and(|shown| shown != before) {
            return false;
        }
        let is_behind = |at: usize, undone: &UndoneTexts| at > place && undone.edit.path == path;
        let mut at = 0..;
        self.redoable.retain(|undone| at.next().is_none_or(|at| !is_behind(at, undone)));
        self.made(&between(path, &before, &after), ChangedBy::Redo);
        true
    }

    /// Drops the edits that an undo takes back. A key with a count goes back over several ones.
    fn drop_undone(&mut self, undo: &EditTexts) {
        let is_of = |made: &MadeEdit| made.edit.path == undo.path && made.edit.before == undo.before;
        let Some(place) = self.edits.iter().rposition(is_of) else { return };
        let mut at = 0..;
        self.edits.retain(|made| at.next().is_none_or(|at| at < place || made.edit.path != undo.path));
    }

    /// Takes in a redo: the text that was accepted before the undo is accepted again, the rest waits. False where
    /// nothing is known of the undo, or decisions since then do not fit it.
    pub(crate) fn redone(&mut self, change: &FileChange) -> bool {
        let Some(place) = self.redoable.iter().rposition(|undone| undone.edit.path == change.path) else {
            return false;
        };
        let undone = self.redoable.remove(place);
        let before = change.before.as_deref().unwrap_or_default();
        if self.files.get(&change.path).is_some_and(|file| *file.agent != *before) {
            // Typing in the place of a hunk is kept apart.
            return false;
        }
        let now = self.accepted_text(change, change.before.as_deref());
        let (Some(with), Some(after)) = (undone.with, &change.after) else { return false };
        let (without, now) = (undone.without.unwrap_or_default(), now.unwrap_or_default());
        if touches(&line_edits(&without, &with), &line_edits(&without, &now)) {
            return false;
        }
        let edits = carried(&without, &with, &now);
        let Some(baseline) = edits.and_then(|edits| apply(&now, &edits).ok()) else { return false };
        let file = FileReview {
            baseline: baseline.into(),
            agent: Arc::clone(after),
            ..FileReview::new(&change.path, Some(&with))
        };
        self.drop_redo(&change.path);
        self.files.insert(change.path.clone(), file);
        self.files.retain(|_, file| !file.is_done());
        true
    }
}

/// True if an edit stands in the place of another one of the same text, or right beside it.
fn touches(edits: &[TextEdit], others: &[TextEdit]) -> bool {
    edits.iter().any(|edit| others.iter().any(|other| is_beside(&edit.range, &other.range)))
}

fn between(path: &str, before: &Arc<str>, after: &Arc<str>) -> FileChange {
    let (before, after) = (Some(Arc::clone(before)), Some(Arc::clone(after)));
    FileChange { path: path.to_owned(), before, after, marks_before: Marks::Null, marks_after: Marks::Null }
}
