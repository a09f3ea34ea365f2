//! What a task has changed, checkpoint by checkpoint, so that all of it can be taken back.

use crate::editor::Marks;

/// One file over one change. A text is `None` where the file did not exist on that side.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChange {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub marks_before: Marks,
    pub marks_after: Marks,
}

impl FileChange {
    /// The change that takes this one back.
    pub fn inverse(self) -> Self {
        Self {
            path: self.path,
            before: self.after,
            after: self.before,
            marks_before: self.marks_after,
            marks_after: self.marks_before,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// `c12`.
    pub id: String,
    pub files: Vec<FileChange>,
}

/// The changes of one task, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    pub request: String,
    pub checkpoints: Vec<Checkpoint>,
}

impl Journal {
    pub fn new(request: impl Into<String>) -> Self {
        Self { request: request.into(), checkpoints: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.checkpoints.is_empty()
    }

    /// One change a file: from before the task to after it. Files that ended as they began are left out.
    pub fn net(&self) -> Vec<FileChange> {
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
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
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
        let step = |id: &str, files| Checkpoint { id: id.into(), files };
        let journal = Journal {
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
