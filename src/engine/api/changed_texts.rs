//! Finds the files that a change between two states of a folder may break, by the rule of an edit.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use crate::diagnostics::edit_reach::{self, TextChange};
use crate::state::unlooked::Unread;
use sextant_store::workspace::importers::Importers;
use sextant_store::workspace::root::Root;

/// A file with its text in two states.
#[derive(Clone, Debug)]
pub struct ChangedText {
    pub path: String,
    /// `None` for a file that is new.
    pub before: Option<String>,
    /// Empty for a file that is gone.
    pub after: String,
}

/// The files that use a changed name, with those that an edit would not look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReachOfTexts {
    pub files: BTreeSet<String>,
    /// True if there may be more, because the workspace is too large for a full search.
    pub more: bool,
}

/// The reach of these changes in a workspace as it is on disk. Blocks.
pub fn reach_of_texts(root: &Root, changes: Vec<ChangedText>) -> ReachOfTexts {
    let changes: Vec<TextChange> = changes
        .into_iter()
        .map(|ChangedText { path, before, after }| TextChange {
            path,
            before: before.map(Arc::from),
            after: after.into(),
        })
        .collect();
    let importers = Arc::new(Mutex::new(Importers::default()));
    let reach = edit_reach::of(root, &importers, &HashMap::new(), &changes);
    let is_whole = |why: &Unread| matches!(why, Unread::Ignored | Unread::Link | Unread::BadName);
    let unread = reach.unread.into_iter().filter(|(why, _)| is_whole(why)).flat_map(|(_, files)| files);
    ReachOfTexts { files: reach.files.into_iter().chain(unread).collect(), more: reach.more }
}
