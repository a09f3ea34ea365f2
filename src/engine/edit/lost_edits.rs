//! Finds the edits of a task that its files no longer hold: lost with a closed buffer, or undone by hand.

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::rollback::way_back;
use crate::state::journal::{Journal, RolledBack};
use crate::state::undo_target::{Pick, standing};
use crate::state::workspace::Workspace;
use sextant_base::failure::Failure;

/// The edits of a task as its files show them.
#[derive(Default)]
pub(crate) struct EditsInFiles {
    /// The files of each step without an applied hunk, by the step's number. A file with some applied hunks is not
    /// lost: the user has changed it since.
    pub(crate) lost: BTreeMap<usize, BTreeSet<String>>,
    /// The files that read neither as before an edit nor as after it.
    pub(crate) unclear: BTreeSet<String>,
}

/// Compares the edits of a task with the files.
///
/// # Errors
/// A file cannot be read.
pub(crate) async fn in_files(workspace: &Workspace, journal: &Journal) -> Result<EditsInFiles, Failure> {
    let picks: Vec<Pick<'_>> = standing(journal).collect();
    let mut stands: BTreeMap<(usize, String), bool> = BTreeMap::new();
    let mut found = EditsInFiles::default();
    for RolledBack { edit, path, hunks, over } in way_back(workspace, journal, &picks, false).await?.takes {
        let Some(pick) = picks.iter().find(|pick| pick.edit.id == edit && pick.file.path == path) else {
            continue;
        };
        let is_over = over.len() == pick.hunks.len();
        if hunks.is_empty() && !is_over {
            found.unclear.insert(path.clone());
        }
        *stands.entry((pick.edit.step, path)).or_default() |= !is_over;
    }
    for ((step, path), _) in stands.into_iter().filter(|(_, stands)| !stands) {
        found.lost.entry(step).or_default().insert(path);
    }
    Ok(found)
}
