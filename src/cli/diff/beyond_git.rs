//! Finds the files that git does not keep and that a change may break: in a submodule, in a repository inside of this
//! one, or ignored.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::diff::git::ChangedFile;
use sextant_base::plural::counted;
use sextant_engine::api::{ChangedText, reach_of_texts};
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::MOST_FILES;

/// The root of the project in each of the two states.
#[derive(Clone, Debug)]
pub(super) struct SideRoots {
    pub before: PathBuf,
    pub after: PathBuf,
}

/// The files beyond those that git keeps.
#[derive(Debug, Default)]
pub(super) struct BeyondGit {
    /// They are in both states, and can be checked there.
    pub files: BTreeSet<String>,
    /// They cannot be checked in both states.
    unchecked: Vec<String>,
    more: bool,
}

impl BeyondGit {
    /// The wanted files in reach of the changes, by the rule of an edit.
    pub(super) async fn of(
        root: &Root,
        roots: &SideRoots,
        changes: &[ChangedFile],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let changes = changes.iter().flat_map(|change| texts(roots, change)).collect();
        let own = root.clone();
        let reach = tokio::task::spawn_blocking(move || reach_of_texts(&own, changes)).await.unwrap_or_default();
        let wanted = reach.files.into_iter().filter(|file| is_wanted(file));
        // A link may lead to a file that one of the states does not have.
        let is_file = |path: PathBuf| path.symlink_metadata().is_ok_and(|what| what.is_file());
        let is_there = |file: &String| is_file(roots.before.join(file)) && is_file(roots.after.join(file));
        let (files, unchecked): (Vec<String>, Vec<String>) = wanted.partition(is_there);
        Self { files: files.into_iter().collect(), unchecked, more: reach.more }
    }

    /// The files that are not checked, in words.
    pub(super) fn gaps(&self) -> Vec<String> {
        let unchecked = self.unchecked.first().map(|first| {
            let count = counted(self.unchecked.len(), "file");
            format!("{count} that may use a changed name and cannot be checked in both states ({first} among them)")
        });
        let more = self.more.then(|| format!("files beyond the first {MOST_FILES} of the workspace"));
        unchecked.into_iter().chain(more).collect()
    }
}

/// The texts of a changed file. A renamed one is gone from its old path, and new at the other.
fn texts(roots: &SideRoots, change: &ChangedFile) -> Vec<ChangedText> {
    let read = |root: &Path, path: &Option<String>| {
        path.as_ref().and_then(|path| Some((path.clone(), std::fs::read_to_string(root.join(path)).ok()?)))
    };
    match (read(&roots.before, &change.old), read(&roots.after, &change.new)) {
        (Some((old, before)), Some((new, after))) if old == new => {
            vec![ChangedText { path: new, before: Some(before), after }]
        }
        (old, new) => {
            let gone = old.map(|(path, before)| ChangedText { path, before: Some(before), after: String::new() });
            let come = new.map(|(path, after)| ChangedText { path, before: None, after });
            gone.into_iter().chain(come).collect()
        }
    }
}
