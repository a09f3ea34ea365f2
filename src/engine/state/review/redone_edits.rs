//! The user's undo and redo of the agent's edits: what was accepted before an undo comes back from it as accepted.

use std::sync::Arc;

use crate::state::journal::FileChange;
use crate::state::review::file_review::{FileReview, carried};
use crate::state::review::workspace_review::WorkspaceReview;
use sextant_text::edits::apply_text::apply;

/// The accepted text of a file before and after an undo; `None` where there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UndoneTexts {
    pub(crate) path: String,
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

    /// Takes in a redo: the text that was accepted before the undo is accepted again, the rest waits. False where
    /// nothing is known of the undo, or decisions since then do not fit it.
    pub(crate) fn redone(&mut self, change: &FileChange) -> bool {
        let Some(place) = self.redoable.iter().rposition(|undone| undone.path == change.path) else { return false };
        let undone = self.redoable.remove(place);
        self.typed(&change.path, change.before.as_deref().unwrap_or_default());
        let before = change.before.as_deref().unwrap_or_default();
        if self.files.get(&change.path).is_some_and(|file| *file.agent != *before) {
            // Typing in the place of a hunk is kept apart.
            return false;
        }
        let now = self.accepted_text(change, change.before.as_deref());
        let (Some(with), Some(after)) = (undone.with, &change.after) else { return false };
        let (without, now) = (undone.without.unwrap_or_default(), now.unwrap_or_default());
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
