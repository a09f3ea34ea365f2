//! Holds the review of a session's workspace: in memory, with the record that it is stored in.

use std::sync::Mutex;

use tokio::sync::OnceCell;

use crate::state::journal::FileChange;
use crate::state::review::workspace_review::{ChangedBy, ReviewNote, WorkspaceReview};
use sextant_base::lock::lock;
use sextant_store::workspace::record_folder::Record;

/// The review of a workspace.
#[derive(Debug, Default)]
pub(crate) struct ReviewStore {
    now: Mutex<WorkspaceReview>,
    /// The record that it is stored in, once it was read; `None` where nothing is kept.
    pub(crate) record: OnceCell<Option<Record>>,
    /// Held by the decision that is carried out.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl ReviewStore {
    pub(crate) fn now(&self) -> WorkspaceReview {
        lock(&self.now).clone()
    }

    /// Changes it in one piece.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut WorkspaceReview) -> T) -> T {
        change(&mut lock(&self.now))
    }

    /// Takes in a change of files.
    pub(crate) fn edited(&self, files: &[FileChange], by: ChangedBy) {
        self.change(|review| files.iter().for_each(|file| review.edited(file, by)));
    }

    /// The remarks that the agent has not heard; it hears them once.
    pub(crate) fn take_notes(&self) -> Vec<ReviewNote> {
        self.take_notes_on(|_| true)
    }

    /// The same for these files alone.
    pub(crate) fn take_notes_on(&self, is_meant: impl Fn(&str) -> bool) -> Vec<ReviewNote> {
        self.change(|review| {
            let (meant, left) = std::mem::take(&mut review.notes).into_iter().partition(|note| is_meant(note.file()));
            review.notes = left;
            meant
        })
    }
}
