//! Finds the other names that a file has in the workspace.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ignore::WalkBuilder;

/// Folders with so many files that their own folders are not searched for another name of a file, but for these.
const RECORDS: &[&str] = &[".git", ".hg", ".jj", ".svn"];
const SEARCHED: &[&str] = &["hooks", "modules", "worktrees"];

/// Entries of a workspace that are looked at for the other names of one file.
const MOST: usize = 100_000;

/// The result of a search among the names of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherName<T> {
    /// A name for which the test found something.
    Found(T),
    /// The file has one name, or all its names in the workspace were tested.
    Nothing,
    /// The workspace has more entries than are looked at: a name may lie behind them.
    Unknown,
}

/// Tests a file's several names in the workspace, relative to its root. Names outside of it are not seen.
pub(crate) fn find_name<T>(root: &Path, file: &Metadata, test: impl Fn(&str) -> Option<T>) -> OtherName<T> {
    find_within(MOST, root, file, test)
}

fn find_within<T>(most: usize, root: &Path, file: &Metadata, test: impl Fn(&str) -> Option<T>) -> OtherName<T> {
    if !file.is_file() || file.nlink() < 2 {
        return OtherName::Nothing;
    }
    let mut walk = WalkBuilder::new(root);
    let is_record = |folder: &Path| RECORDS.iter().any(|record| folder.ends_with(record));
    walk.standard_filters(false).follow_links(false).filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_searched = SEARCHED.iter().any(|name| entry.file_name() == *name);
        !is_folder || is_searched || !entry.path().parent().is_some_and(is_record)
    });
    let mut names = file.nlink();
    for (index, entry) in walk.build().flatten().enumerate() {
        if index == most {
            return OtherName::Unknown;
        }
        let is_same = entry.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()));
        if !is_same {
            continue;
        }
        let inside = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
        if let Some(found) = inside.and_then(&test) {
            return OtherName::Found(found);
        }
        names = names.saturating_sub(1);
        if names == 0 {
            break;
        }
    }
    OtherName::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x\n").unwrap();
    }

    #[test]
    fn a_name_behind_more_files_than_are_looked_at_is_unknown() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "zz/.env");
        put(dir.path(), "alone.txt");
        (0..50).for_each(|number| put(dir.path(), &format!("many/f{number}.txt")));
        std::fs::hard_link(dir.path().join("zz/.env"), dir.path().join("notes.txt")).unwrap();
        let find = |most, name: &str| {
            let file = dir.path().join(name).symlink_metadata().unwrap();
            find_within(most, dir.path(), &file, |path| (path == "zz/.env").then_some(()))
        };
        assert_eq!(find(1000, "notes.txt"), OtherName::Found(()));
        assert_eq!(find(1, "notes.txt"), OtherName::Unknown);
        assert_eq!(find(1, "alone.txt"), OtherName::Nothing);
    }

    #[test]
    fn a_name_behind_the_first_twenty_thousand_entries_is_found() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "zz/.env");
        std::fs::create_dir(dir.path().join("many")).unwrap();
        for number in 0..20_000 {
            std::fs::File::create(dir.path().join(format!("many/{number}"))).unwrap();
        }
        std::fs::hard_link(dir.path().join("zz/.env"), dir.path().join("notes.txt")).unwrap();
        std::fs::hard_link(dir.path().join("many/7"), dir.path().join("plain.txt")).unwrap();
        let find = |name: &str| {
            let file = dir.path().join(name).symlink_metadata().unwrap();
            find_name(dir.path(), &file, |path| (path == "zz/.env").then_some(()))
        };
        assert_eq!((find("notes.txt"), find("plain.txt")), (OtherName::Found(()), OtherName::Nothing));
    }
}
