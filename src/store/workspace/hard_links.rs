//! Finds the other names that a file has in the workspace.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ignore::WalkBuilder;

/// Folders with so many files that their own folders are not searched for another name of a file, but for these.
const RECORDS: &[&str] = &[".git", ".hg", ".jj", ".svn"];
const SEARCHED: &[&str] = &["hooks", "modules", "worktrees"];

/// Entries of a workspace that are looked at for the other name of a file.
const MOST: usize = 20_000;

/// The first of a file's several names in the workspace, relative to its root, for which the test finds something.
/// Names outside of the workspace, and behind the first 20,000 entries, are not seen.
pub(crate) fn find_name<T>(root: &Path, file: &Metadata, test: impl Fn(&str) -> Option<T>) -> Option<T> {
    if !file.is_file() || file.nlink() < 2 {
        return None;
    }
    let mut walk = WalkBuilder::new(root);
    let is_record = |folder: &Path| RECORDS.iter().any(|record| folder.ends_with(record));
    walk.standard_filters(false).follow_links(false).filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_searched = SEARCHED.iter().any(|name| entry.file_name() == *name);
        !is_folder || is_searched || !entry.path().parent().is_some_and(is_record)
    });
    walk.build().flatten().take(MOST).find_map(|entry| {
        let path = entry.path().strip_prefix(root).ok()?.to_str().filter(|path| !path.is_empty())?;
        let found = test(path)?;
        let is_same = entry.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()));
        is_same.then_some(found)
    })
}
