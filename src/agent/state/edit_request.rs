//! What is asked of an edit, and what came of it.

use serde::Deserialize;

use crate::agent::state::comparison::Verdict;
use crate::agent::state::snapshots::Snaps;
use crate::editor::{Applied, Document, FileEdit};
use crate::edits::TextEdit;

/// An edit that a tool wants, with the document it was worked out on.
#[derive(Clone, Debug)]
pub enum Wanted {
    Change { document: Document, hunks: Vec<TextEdit> },
    Create { path: String, text: String },
}

impl Wanted {
    pub fn path(&self) -> &str {
        match self {
            Self::Change { document, .. } => &document.path,
            Self::Create { path, .. } => path,
        }
    }

    pub(crate) fn into_edit(self) -> FileEdit {
        match self {
            Self::Change { document, hunks } => {
                FileEdit::Change { path: document.path, version: document.version, hunks }
            }
            Self::Create { path, text } => FileEdit::Create { path, text },
        }
    }
}

/// When an edit is answered with what it introduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    #[default]
    Now,
    /// With the next result: a burst of edits is settled once, against the baseline before its first one.
    Defer,
}

/// What an edit did.
#[derive(Clone, Debug)]
pub struct Changed {
    pub checkpoint: String,
    pub applied: Vec<Applied>,
    /// Symbols that hold the changed text, full paths.
    pub symbols: Vec<String>,
    pub verdict: Verdict,
    /// What the ledger knew before, to go back to.
    pub before: Snaps,
}

/// What a change will have made of its files, as far as the edit itself says.
pub(crate) fn intended(want: &Wanted) -> Option<String> {
    match want {
        Wanted::Change { document, hunks } => crate::edits::apply::apply(&document.text, hunks).ok(),
        Wanted::Create { text, .. } => Some(text.clone()),
    }
}
