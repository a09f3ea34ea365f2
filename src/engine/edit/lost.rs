//! The steps of a task that are not in the files any more: their edits were in a buffer that is gone, or were undone by
//! hand.

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::rollback::way_back;
use crate::state::journal::Journal;
use crate::state::session::Session;
use crate::state::undo_target::{Pick, standing};
use sextant_base::failure::Failure;

/// The files of each step of which no hunk stands, by the step's number. A file where some hunks stand is not lost: the
/// user has changed it since.
///
/// # Errors
/// A file cannot be read.
pub(crate) async fn lost(session: &Session, journal: &Journal) -> Result<BTreeMap<usize, BTreeSet<String>>, Failure> {
    let picks: Vec<Pick<'_>> = standing(journal).collect();
    let mut stands: BTreeMap<(usize, String), bool> = BTreeMap::new();
    for taken in way_back(session, journal, &picks).await?.takes {
        let Some(pick) = picks.iter().find(|pick| pick.edit.id == taken.edit && pick.file.path == taken.path) else {
            continue;
        };
        let over = taken.over.len() == pick.hunks.len();
        *stands.entry((pick.edit.step, taken.path)).or_default() |= !over;
    }
    let mut lost: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for ((step, path), _) in stands.into_iter().filter(|(_, stands)| !stands) {
        lost.entry(step).or_default().insert(path);
    }
    Ok(lost)
}
