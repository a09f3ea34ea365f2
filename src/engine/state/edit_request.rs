//! The input of an edit, and its result.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::editor::{Applied, Document, FileEdit};
use crate::state::comparison::Verdict;
use crate::state::snapshots::Snapshots;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;

/// An edit that a tool wants, with the document that it was computed on.
#[derive(Clone, Debug)]
pub(crate) enum EditRequest {
    Change {
        document: Document,
        hunks: Vec<TextEdit>,
        /// True if each hunk belongs to the symbol that contains it, and may follow that symbol to a new place; false
        /// where it comes from the text as a whole.
        of_symbols: bool,
        after: AfterText,
    },
    Create {
        path: String,
        text: Arc<str>,
    },
}

/// The text after an edit, computed when it is first wanted; `None` inside where the hunks do not fit.
pub(crate) type AfterText = OnceLock<Option<Arc<str>>>;

impl EditRequest {
    pub(crate) fn change(document: Document, hunks: Vec<TextEdit>, of_symbols: bool) -> Self {
        Self::Change { document, hunks, of_symbols, after: OnceLock::new() }
    }

    /// The file as it is before; `None` for one that the edit makes.
    pub(crate) fn document(&self) -> Option<&Document> {
        match self {
            Self::Change { document, .. } => Some(document),
            Self::Create { .. } => None,
        }
    }

    pub(crate) fn hunks(&self) -> &[TextEdit] {
        match self {
            Self::Change { hunks, .. } => hunks,
            Self::Create { .. } => &[],
        }
    }

    /// The text before it, empty for a file that it makes.
    pub(crate) fn before(&self) -> &str {
        self.document().map_or("", |document| &document.text)
    }

    /// The text that it will give its file, as far as the edit itself determines it.
    pub(crate) fn after(&self) -> Option<&Arc<str>> {
        match self {
            Self::Change { document, hunks, after, .. } => {
                after.get_or_init(|| apply(&document.text, hunks).ok().map(Into::into)).as_ref()
            }
            Self::Create { text, .. } => Some(text),
        }
    }

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
            Self::Create { path, text } => FileEdit::Create { path, text: text.to_string() },
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
