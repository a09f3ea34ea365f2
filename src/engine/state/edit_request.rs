//! What is asked of an edit, and what came of it.

use std::collections::BTreeSet;

use crate::editor::{Applied, Document, FileEdit};
use crate::state::comparison::Verdict;
use crate::state::snapshots::Snapshots;
use sextant_text::edits::TextEdit;

/// An edit that a tool wants, with the document it was worked out on.
#[derive(Clone, Debug)]
pub(crate) enum EditRequest {
    Change {
        document: Document,
        hunks: Vec<TextEdit>,
        /// Whether each hunk is about the symbol that it lies in, and may go where that has gone; false where it comes
        /// from the text as a whole.
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

    /// Bytes of the text that it leads to, or a few more.
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

/// When an edit is answered with what it introduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum When {
    #[default]
    Now,
    /// With the next result: a burst of edits is settled once, against the baseline before its first one.
    Defer,
}

/// What an edit did.
#[derive(Clone, Debug)]
pub(crate) struct EditOutcome {
    pub checkpoint: String,
    pub applied: Vec<Applied>,
    /// Symbols that hold the changed text, full paths.
    pub symbols: Vec<String>,
    /// Files whose imports it changed along with a symbol.
    pub imports: Vec<String>,
    /// What is to be told of how it was made.
    pub notes: Vec<String>,
    pub verdict: Verdict,
    /// The files that the task has made.
    pub created: BTreeSet<String>,
    /// What the ledger knew before, to go back to.
    pub before: Snapshots,
}

/// What a change will have made of its files, as far as the edit itself says.
pub(crate) fn intended(want: &EditRequest) -> Option<String> {
    match want {
        EditRequest::Change { document, hunks, .. } => {
            sextant_text::edits::apply_text::apply(&document.text, hunks).ok()
        }
        EditRequest::Create { text, .. } => Some(text.clone()),
    }
}
