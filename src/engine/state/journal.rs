//! The changes of a task, checkpoint by checkpoint, so that all of them can be undone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::editor::Marks;
use crate::plan::Plan;
use sextant_text::symbols::symbol_path::SymbolPath;

/// One file over one change. A text is `None` where the file did not exist on that side. The text is shared: a task's
/// changes stand in several lists, and each begins with the text that the one before has left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileChange {
    pub path: String,
    pub before: Option<Arc<str>>,
    pub after: Option<Arc<str>>,
    pub marks_before: Marks,
    pub marks_after: Marks,
}

/// The action that a checkpoint precedes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckpointKind {
    #[default]
    Edit,
    /// The plan is made again; no file changes.
    Replan,
    /// A part of the task is undone on the user's word.
    Rollback,
}

/// The hunks that a rollback has undone in one file of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RolledBack {
    /// The name of the edit.
    pub edit: String,
    pub path: String,
    /// Its hunks as `src/engine/state/undo_hunks.rs` counts them: a redo applies them again.
    pub hunks: Vec<usize>,
    /// Hunks that somebody else had undone, or that stayed on the user's word (`--partial`): they are settled, and a
    /// redo applies none of them.
    pub over: Vec<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Checkpoint {
    /// `c12`.
    pub id: String,
    pub kind: CheckpointKind,
    /// The step of the plan, or of the task where it has no plan; counted from 1.
    pub step: usize,
    pub files: Vec<FileChange>,
    /// Full paths of the symbols that were changed; for a rollback, its target in the user's words.
    pub symbols: Vec<String>,
    /// For a rollback: the plan before it, whose steps it opened again.
    pub plan: Option<Plan>,
    /// For a rollback: the hunks that it has undone.
    pub takes: Vec<RolledBack>,
    /// Folders that it makes; for a rollback, the folders that go with its files where they are empty then.
    pub folders: Vec<String>,
    /// The name of the call that it carries out; no other call has the same name.
    pub once: Option<String>,
    /// Its number in the memory file; `None` where it is stored in this process alone.
    pub record: Option<i64>,
}

impl Checkpoint {
    /// The symbols that were changed in one of its files; a symbol without names is the file itself. The name of a file
    /// decides, and not the form of the text: `Makefile` is no symbol.
    pub(crate) fn symbols_in(&self, file: &str) -> Vec<SymbolPath> {
        let names = |symbol: &String| match symbol.strip_prefix(file)? {
            "" => Some(String::new()),
            rest => rest.strip_prefix("::").map(str::to_owned),
        };
        self.symbols.iter().filter_map(names).map(|names| SymbolPath::new(file, names)).collect()
    }
}

/// The changes of one task, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Journal {
    /// The name of the task.
    pub task: String,
    pub request: String,
    pub checkpoints: Vec<Checkpoint>,
}

impl Journal {
    pub(crate) fn new(task: impl Into<String>, request: impl Into<String>) -> Self {
        Self { task: task.into(), request: request.into(), checkpoints: Vec::new() }
    }

    /// Every file that it has changed, undone or not.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        let changes = self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files);
        changes.map(|change| change.path.clone()).collect()
    }

    /// True if both hold the same changes; texts are not compared.
    pub(crate) fn has_rows_of(&self, other: &Self) -> bool {
        let rows =
            |journal: &Self| journal.checkpoints.iter().map(|row| (row.id.clone(), row.kind)).collect::<Vec<_>>();
        rows(self) == rows(other)
    }

    /// True if no file was changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.checkpoints.iter().all(|checkpoint| checkpoint.files.is_empty())
    }

    /// True if it holds a change of this file.
    pub(crate) fn has_changed(&self, path: &str) -> bool {
        self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files).any(|file| file.path == path)
    }

    /// A text of a file, shared with the change that has left the file so.
    pub(crate) fn text_after(&self, path: &str, text: &Arc<str>) -> Arc<str> {
        let mut changes = self.checkpoints.iter().rev().flat_map(|checkpoint| &checkpoint.files);
        let last = changes.find(|change| change.path == path).and_then(|change| change.after.as_ref());
        Arc::clone(last.filter(|after| ***after == **text).unwrap_or(text))
    }

    /// The hunks of its edits that are undone at present, by edit and path.
    pub(crate) fn taken(&self) -> BTreeMap<(&str, &str), BTreeSet<usize>> {
        let mut all: BTreeMap<(&str, &str), BTreeSet<usize>> = BTreeMap::new();
        for taken in self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.takes) {
            let hunks = all.entry((&taken.edit, &taken.path)).or_default();
            hunks.extend(taken.hunks.iter().chain(&taken.over));
        }
        all
    }

    /// The last rollback, where no action followed it.
    pub(crate) fn rolled_back(&self) -> Option<&Checkpoint> {
        self.checkpoints.last().filter(|checkpoint| checkpoint.kind == CheckpointKind::Rollback)
    }

    /// One change a file: from before the task to after it. Files that ended as they began are left out.
    pub(crate) fn net(&self) -> Vec<FileChange> {
        let mut net: Vec<FileChange> = Vec::new();
        for change in self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files) {
            match net.iter_mut().find(|known| known.path == change.path) {
                Some(known) => {
                    known.after.clone_from(&change.after);
                    known.marks_after.clone_from(&change.marks_after);
                }
                None => net.push(change.clone()),
            }
        }
        net.retain(|change| change.before != change.after);
        net
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: &str, after: &str) -> FileChange {
        let text = |text: &str| (!text.is_empty()).then(|| text.into());
        FileChange {
            path: path.into(),
            before: text(before),
            after: text(after),
            marks_before: Marks::Null,
            marks_after: Marks::Null,
        }
    }

    #[test]
    fn the_net_change_spans_the_task_and_forgets_what_was_undone() {
        let step = |id: &str, files| Checkpoint { id: id.into(), files, ..Checkpoint::default() };
        let journal = Journal {
            task: "t".into(),
            request: "x".into(),
            checkpoints: vec![
                step("c1", vec![change("a", "1", "2"), change("b", "x", "y")]),
                step("c2", vec![change("a", "2", "3"), change("new", "", "n")]),
                step("c3", vec![change("b", "y", "x"), change("new", "n", "")]),
            ],
        };
        assert_eq!(journal.net(), vec![change("a", "1", "3")]);
    }

    #[test]
    fn a_file_without_a_dot_is_changed_as_a_file_and_no_name_that_begins_alike_is_its_own() {
        let files = ["Makefile", "a.py", "a.pyi"].map(|path| change(path, "x", "y")).to_vec();
        let symbols = ["Makefile", "a.py::f", "a.py", "a.pyi::g"].map(str::to_owned).to_vec();
        let row = Checkpoint { files, symbols, ..Checkpoint::default() };
        assert_eq!(row.symbols_in("Makefile"), [SymbolPath::new("Makefile", "")]);
        assert_eq!(row.symbols_in("a.py"), [SymbolPath::new("a.py", "f"), SymbolPath::new("a.py", "")]);
        assert_eq!(row.symbols_in("a.pyi"), [SymbolPath::new("a.pyi", "g")]);
    }
}
