//! Selects the files that are checked on both sides: the changed ones, and the others, for a change breaks its callers.

use std::collections::BTreeSet;

use crate::cli::diff::git::ChangedFile;

/// The user's wish for files to check.
#[derive(Clone, Debug)]
pub(super) struct DiffSelection {
    /// Files and folders relative to the root; empty for everything.
    pub paths: Vec<String>,
    pub changed_only: bool,
    /// The most files of one side.
    pub most: usize,
}

impl DiffSelection {
    /// True if the user wants reports on the file.
    pub(super) fn names(&self, file: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|path| is_in(file, path))
    }
}

/// The files that are checked; each is one file at two times. Paths are relative to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// The changed ones first, then the others; both sorted.
    pub files: Vec<ChangedFile>,
    /// The number of changed files, as far as git knows.
    pub changed: usize,
    /// The number of files left out because there are too many.
    pub left_out: usize,
}

/// Chooses among the files of two sides.
///
/// Changed files are always taken, those outside of the wished paths too: code that moved from there to here brings
/// its diagnostics with it.
pub(super) fn select(
    changes: &[ChangedFile],
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
    covered: impl Fn(&str) -> bool,
    wish: &DiffSelection,
) -> Selection {
    let on = |side: &BTreeSet<String>, path: &Option<String>| {
        path.clone().filter(|path| side.contains(path) && covered(path))
    };
    let mut files: Vec<ChangedFile> = changes
        .iter()
        .map(|change| ChangedFile { old: on(before, &change.old), new: on(after, &change.new) })
        .filter(|change| change.old.is_some() || change.new.is_some())
        .collect();
    files.sort();
    files.dedup();
    let changed = files.len();
    if !wish.changed_only {
        let old: BTreeSet<&str> = files.iter().filter_map(|file| file.old.as_deref()).collect();
        let new: BTreeSet<&str> = files.iter().filter_map(|file| file.new.as_deref()).collect();
        let same = before.intersection(after).filter(|path| covered(path) && wish.names(path));
        let same: Vec<ChangedFile> = same
            .filter(|path| !old.contains(path.as_str()) && !new.contains(path.as_str()))
            .map(|path| ChangedFile { old: Some(path.clone()), new: Some(path.clone()) })
            .collect();
        files.extend(same);
    }
    let left_out = files.len().saturating_sub(wish.most);
    files.truncate(wish.most);
    Selection { changed: changed.min(files.len()), files, left_out }
}

/// The files under a folder of the repository, by their path relative to it. `prefix` is empty for the top.
pub(super) fn below(files: Vec<String>, prefix: &str) -> BTreeSet<String> {
    files.iter().filter_map(|file| strip(file, prefix)).collect()
}

/// The changes under a folder; a file that crosses its border is a new or a deleted file there.
pub(super) fn changes_below(changes: Vec<ChangedFile>, prefix: &str) -> Vec<ChangedFile> {
    let strip = |path: Option<String>| path.and_then(|path| strip(&path, prefix));
    let changes = changes.into_iter().map(|change| ChangedFile { old: strip(change.old), new: strip(change.new) });
    changes.filter(|change| change.old.is_some() || change.new.is_some()).collect()
}

/// The first of the wished paths without a file of either side, at it or below it.
pub(super) fn stray<'w>(wish: &'w DiffSelection, sides: [&BTreeSet<String>; 2]) -> Option<&'w String> {
    wish.paths.iter().find(|path| !sides.iter().any(|side| side.iter().any(|file| is_in(file, path))))
}

fn is_in(file: &str, path: &str) -> bool {
    path.is_empty() || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn strip(file: &str, prefix: &str) -> Option<String> {
    if prefix.is_empty() {
        return Some(file.to_owned());
    }
    file.strip_prefix(prefix)?.strip_prefix('/').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(files: &[&str]) -> BTreeSet<String> {
        files.iter().map(|file| (*file).to_owned()).collect()
    }

    fn change(old: &str, new: &str) -> ChangedFile {
        let side = |path: &str| (!path.is_empty()).then(|| path.to_owned());
        ChangedFile { old: side(old), new: side(new) }
    }

    fn wish(paths: &[&str]) -> DiffSelection {
        DiffSelection { paths: paths.iter().map(|path| (*path).to_owned()).collect(), changed_only: false, most: 10 }
    }

    fn is_python(path: &str) -> bool {
        path.ends_with(".py")
    }

    #[test]
    fn changed_files_come_first_and_files_that_use_them_are_checked_too() {
        let (before, after) = (set(&["a.py", "old.py", "gone.py", "x.md"]), set(&["a.py", "new.py", "b.py", "x.md"]));
        let changes = [change("old.py", "new.py"), change("gone.py", ""), change("", "b.py"), change("x.md", "x.md")];
        let found = select(&changes, &before, &after, is_python, &wish(&[]));
        let expected =
            [change("", "b.py"), change("gone.py", ""), change("old.py", "new.py"), change("a.py", "a.py")].to_vec();
        assert_eq!(found, Selection { files: expected, changed: 3, left_out: 0 });
        let only = DiffSelection { changed_only: true, ..wish(&[]) };
        assert_eq!(select(&changes, &before, &after, is_python, &only).files.len(), 3);
        let few = DiffSelection { most: 2, ..wish(&[]) };
        let found = select(&changes, &before, &after, is_python, &few);
        assert_eq!((found.files.len(), found.changed, found.left_out), (2, 2, 2));
    }

    #[test]
    fn paths_narrow_what_did_not_change_and_never_what_did() {
        let files = set(&["a/x.py", "ab/y.py", "c.py"]);
        let found = select(&[change("c.py", "c.py")], &files, &files, is_python, &wish(&["a"]));
        assert_eq!(found.files, [change("c.py", "c.py"), change("a/x.py", "a/x.py")]);
        assert!(wish(&["a"]).names("a/x.py") && !wish(&["a"]).names("ab/y.py") && wish(&[]).names("c.py"));
        assert_eq!(stray(&wish(&["a", "d"]), [&files, &files]).map(String::as_str), Some("d"));
    }

    #[test]
    fn a_file_that_is_a_link_or_unread_on_one_side_exists_only_on_the_other() {
        let found = select(&[change("a.py", "a.py")], &set(&[]), &set(&["a.py"]), is_python, &wish(&[]));
        assert_eq!(found.files, [change("", "a.py")]);
    }

    #[test]
    fn below_a_folder_paths_are_its_own() {
        assert_eq!(below(vec!["api/a.py".into(), "apix/b.py".into()], "api"), set(&["a.py"]));
        let crossing = changes_below(vec![change("lib/a.py", "api/a.py"), change("x", "y")], "api");
        assert_eq!(crossing, [change("", "a.py")]);
    }
}
