//! Which diagnostics a change introduced, fixed, hid or uncovered: the interface and its words.

use crate::diagnostics::model::Diagnostic;

/// One file before and after; a text is `None` where the file does not exist on that side.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    pub path: &'a str,
    pub before: Option<&'a str>,
    pub after: Option<&'a str>,
}

/// Everything that changed between two snapshots. Files that did not change may be left out or given twice the same.
#[derive(Clone, Debug, Default)]
pub struct Change<'a> {
    pub files: Vec<FileChange<'a>>,
    /// File renames that are known for certain (the agent's own), old path to new path.
    pub renames: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// The same place and message.
    Same,
    /// Carried along with its code.
    Moved,
    /// The same complaint about the same code with another message, sibling code or severity.
    Updated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    pub before: usize,
    pub after: usize,
    pub how: How,
}

/// The answer: every index of `before` and of `after` stands in exactly one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Indices into `after`: introduced by the change.
    pub new: Vec<usize>,
    /// Indices into `after`: seen only because an earlier parse or import error went away.
    pub revealed: Vec<usize>,
    pub persisting: Vec<Pair>,
    /// Indices into `before`: gone.
    pub fixed: Vec<usize>,
    /// Indices into `before`: gone only because their file no longer parses.
    pub masked: Vec<usize>,
}

/// Matches two snapshots of diagnostics over a change of text.
pub fn delta(_change: &Change<'_>, _before: &[Diagnostic], _after: &[Diagnostic]) -> Delta {
    Delta::default()
}
