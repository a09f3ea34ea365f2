//! The input of an edit, and its result.

use std::collections::BTreeSet;

use crate::editor::{Applied, Document, FileEdit};
use crate::state::comparison::Verdict;
use crate::state::snapshots::Snapshots;
use sextant_text::edits::TextEdit;

/// An edit that a tool wants, with the document that it was computed on.
#[derive(Clone, Debug)]
pub(crate) enum EditRequest {
    Change {
        document: Document,
        hunks: Vec<TextEdit>,
        /// True if each hunk belongs to the symbol that contains it, and may follow that symbol to a new place; false
        /// where it comes from the text as a whole.
        of_symbols: bool,
    },
    Create {
        path: String,
        text: String,
    },
}

impl EditRequest {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Change { document, .. } => &document.path,
            Self::Create { path, .. } => path,
        }
    }

    /// Bytes of the resulting text, or a few more.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Change { document, hunks, .. } => {
                let gone: usize = hunks.iter().map(|hunk| hunk.range.len()).sum();
                let come: usize = hunks.iter().map(|hunk| hunk.text.len()).sum();
                (document.text.len() + come).saturating_sub(gone)
            }
            Self::Create { text, .. } => text.len(),
        };
        bytes as u64
    }

    pub(crate) fn into_edit(self) -> FileEdit {
        match self {
            Self::Change { document, hunks, .. } => {
                FileEdit::Change { path: document.path, version: document.version, hunks }
            }
            Self::Create { path, text } => FileEdit::Create { path, text },
        }
    }
}

/// The time at which an edit is answered with the diagnostics that it introduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum When {
    #[default]
    Now,
    /// With the next result: a burst of edits is settled once, against the baseline before its first one.
    Defer,
}

/// The effects of an edit.
#[derive(Clone, Debug)]
pub(crate) struct EditOutcome {
    pub checkpoint: String,
    pub applied: Vec<Applied>,
    /// Symbols that hold the changed text, full paths.
    pub symbols: Vec<String>,
    /// Files whose imports it changed along with a symbol.
    pub imports: Vec<String>,
    /// Notes for the answer about how it was made.
    pub notes: Vec<String>,
    pub verdict: Verdict,
    /// The files that the task has made.
    pub created: BTreeSet<String>,
    /// The ledger's knowledge before it, to go back to.
    pub before: Snapshots,
}

/// The text that a change will give its file, as far as the edit itself determines it.
pub(crate) fn intended(want: &EditRequest) -> Option<String> {
    match want {
        EditRequest::Change { document, hunks, .. } => {
            sextant_text::edits::apply_text::apply(&document.text, hunks).ok()
        }
        EditRequest::Create { text, .. } => Some(text.clone()),
    }
}
