//! What a task has changed, checkpoint by checkpoint, so that all of it can be taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::editor::Marks;
use crate::plan::Plan;

/// One file over one change. A text is `None` where the file did not exist on that side; it is shared, since a task's
/// changes stand in several lists and each begins with the text that the one before has left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileChange {
    pub path: String,
    pub before: Option<Arc<str>>,
    pub after: Option<Arc<str>>,
    pub marks_before: Marks,
    pub marks_after: Marks,
}

/// What a checkpoint stands before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckpointKind {
    #[default]
    Edit,
    /// The plan is made anew; no file changes.
    Replan,
    /// Something of the task is taken back on the user's word.
    Rollback,
}

/// What a rollback has taken back of one file of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Taken {
    /// The edit's name.
    pub edit: String,
    pub path: String,
    /// Its hunks as `src/engine/state/reverse.rs` counts them: bringing back gives them again.
    pub hunks: Vec<usize>,
    /// Hunks that somebody else had taken back, or that were left on the user's word (`--partial`): they are over,
    /// and bringing back gives none of them.
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
    /// Full paths of the symbols that were changed; of a rollback, what was taken back in the user's words.
    pub symbols: Vec<String>,
    /// Of a rollback: the plan before it, whose steps it opened again.
    pub plan: Option<Plan>,
    /// Of a rollback: what it has taken back.
    pub takes: Vec<Taken>,
    /// Folders that it makes; of a rollback, those that go with what it takes back, where they are empty then.
    pub folders: Vec<String>,
    /// The name of the call that it carries out, which no other call has.
    pub once: Option<String>,
    /// Its number in the memory file; `None` where it is kept in this process alone.
    pub record: Option<i64>,
}

/// The changes of one task, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Journal {
    /// The task's name.
    pub task: String,
    pub request: String,
    pub checkpoints: Vec<Checkpoint>,
}

impl Journal {
    pub(crate) fn new(task: impl Into<String>, request: impl Into<String>) -> Self {
        Self { task: task.into(), request: request.into(), checkpoints: Vec::new() }
    }

    /// Every file that it has changed, taken back or not.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        let changes = self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files);
        changes.map(|change| change.path.clone()).collect()
    }

    /// Whether both know of the same changes; their texts are not looked at.
    pub(crate) fn has_rows_of(&self, other: &Self) -> bool {
        let rows =
            |journal: &Self| journal.checkpoints.iter().map(|row| (row.id.clone(), row.kind)).collect::<Vec<_>>();
        rows(self) == rows(other)
    }

    /// Whether no file was changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.checkpoints.iter().all(|checkpoint| checkpoint.files.is_empty())
    }

    /// Whether it holds a change of this file.
    pub(crate) fn has_changed(&self, path: &str) -> bool {
        self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files).any(|file| file.path == path)
    }

    /// A text of a file, shared with the change that has left the file so.
    pub(crate) fn text_after(&self, path: &str, text: &str) -> Arc<str> {
        let mut changes = self.checkpoints.iter().rev().flat_map(|checkpoint| &checkpoint.files);
        let last = changes.find(|change| change.path == path).and_then(|change| change.after.as_ref());
        last.filter(|after| ***after == *text).map_or_else(|| text.into(), Arc::clone)
    }

    /// Which hunks of its edits are taken back at present, by edit and path.
    pub(crate) fn taken(&self) -> BTreeMap<(&str, &str), BTreeSet<usize>> {
        let mut all: BTreeMap<(&str, &str), BTreeSet<usize>> = BTreeMap::new();
        for taken in self.checkpoints.iter().flat_map(|checkpoint| &checkpoint.takes) {
            let hunks = all.entry((&taken.edit, &taken.path)).or_default();
            hunks.extend(taken.hunks.iter().chain(&taken.over));
        }
        all
    }

    /// The rollback that came last, where nothing was done after it.
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
}
