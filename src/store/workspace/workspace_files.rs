//! Lists the files that version control would keep, without the hidden ones.

use std::ops::ControlFlow;

use ignore::{Walk, WalkBuilder};

use crate::workspace::ignore_rules::IgnoreRules;
use crate::workspace::known_folders::{EntryKind, FolderEntry, KnownFolders};
use crate::workspace::open_beneath;
use crate::workspace::root::{PathError, Root};
use crate::workspace::secret_files::{is_linked_to_secret, is_secret};
use sextant_base::path::{self, is_hidden};
use sextant_base::secrets::mask;

/// Bytes of the largest text that is read.
const LARGEST: u64 = 64 << 20;

/// Most files that a search of a workspace lists: a huge one must not hold a task up. Of a larger workspace some files
/// of each folder are searched.
pub const MOST_FILES: usize = 20_000;

/// Most files that are parsed for a name: each costs far more than a look at its text.
pub const MOST_PARSED: usize = 2000;

/// Most files that are compared by name with what is wanted.
pub const MOST_RANKED: usize = 5000;

/// The files of a workspace, as paths relative to its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Sorted.
    pub files: Vec<String>,
    /// True if there were more files than the limit.
    pub more: bool,
}

/// Lists at most `limit` files, below `folder` (as [`folder`] gives it; empty for all).
///
/// Left out: files that `.gitignore` and `.ignore` name (in a folder without git too), hidden files and folders,
/// symbolic links, secrets, names that are not UTF-8 or hold invisible characters, and folders that cannot be read. The
/// files kept under a limit are the first of each folder in order, independent of the order of the disk.
pub fn list(root: &Root, folder: &str, limit: usize) -> Listing {
    let walk = walk(root, folder);
    let mut out = Listing::default();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())) {
        let inside = entry.path().strip_prefix(root.path()).ok().and_then(|path| path.to_str());
        let Some(path) =
            inside.filter(|path| !is_secret(path) && !path.contains(is_hidden) && !root.is_own(entry.path()))
        else {
            continue;
        };
        if out.files.len() == limit {
            out.more = true;
            break;
        }
        out.files.push(path.to_owned());
    }
    out.files.sort();
    out
}

/// Lists the whole workspace as [`list`] does, and reads those folders alone that have changed since the walk before.
pub(crate) fn list_again(root: &Root, known: &mut KnownFolders, limit: usize) -> Listing {
    let rules = IgnoreRules::new(root);
    let mut out = Listing::default();
    let is_shown = |path: &str, name: &str, is_folder: bool| {
        !name.starts_with('.') && !rules.leaves_out(&root.join(path), is_folder)
    };
    known.walk(
        root.path(),
        |folder| is_shown(&folder.path, folder.name(), true),
        |entry| {
            let is_usable = entry.kind == EntryKind::File && !entry.is_secret && !entry.is_badly_named;
            if !is_usable || root.is_own(&root.join(&entry.path)) || !is_shown(&entry.path, entry.name(), false) {
                return ControlFlow::Continue(());
            }
            if out.files.len() == limit {
                out.more = true;
                return ControlFlow::Break(());
            }
            out.files.push(entry.path.clone());
            ControlFlow::Continue(())
        },
    );
    out.files.sort();
    out
}

/// Folders of version control: they hold no texts of a workspace.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// The outermost files and folders that [`list`] leaves out though they belong to a workspace: hidden and ignored ones,
/// secrets, links, badly named ones. A folder ends in `/`.
pub fn left_out(root: &Root) -> Vec<String> {
    let rules = IgnoreRules::new(root);
    let is_kept_out = |entry: &FolderEntry| {
        let is_folder = entry.kind == EntryKind::Folder;
        entry.name().starts_with('.') || rules.leaves_out(&root.join(&entry.path), is_folder)
    };
    let (mut out, mut visited) = (Vec::new(), 0);
    KnownFolders::default().walk(
        root.path(),
        |folder| !is_kept_out(folder),
        |entry| {
            visited += 1;
            let is_foreign = VERSION_CONTROL.contains(&entry.name()) || root.is_own(&root.join(&entry.path));
            let is_odd = entry.is_secret || entry.is_badly_named || entry.kind == EntryKind::Link;
            if !is_foreign && (is_odd || is_kept_out(entry)) {
                let end = if entry.kind == EntryKind::Folder { "/" } else { "" };
                out.push(format!("{}{end}", entry.path));
            }
            if visited > MOST_FILES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    out
}

/// Goes through the files below a folder that are neither hidden nor left out of version control. The user's own excludes
/// would make two users' agents see two different projects: they do not count.
pub(crate) fn walk(root: &Root, folder: &str) -> Walk {
    let rules = IgnoreRules::new(root);
    let mut walk = WalkBuilder::new(root.join(folder));
    walk.standard_filters(false).hidden(true).sort_by_file_name(|a, b| a.cmp(b)).filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !rules.leaves_out(entry.path(), is_folder)
    });
    walk.build()
}

/// The folder that somebody names, relative to the root and without links; empty for the root itself.
pub fn folder(root: &Root, given: &str) -> Result<String, PathError> {
    let io = |error: std::io::Error| PathError::Io { path: given.to_owned(), reason: error.to_string() };
    let real = root.join(given).canonicalize().map_err(io)?;
    match path::relative(root.path(), &real) {
        None => Err(PathError::Outside(given.to_owned())),
        Some(relative) if is_secret(&relative) => Err(PathError::Secret(relative)),
        Some(_) if root.is_own(&real) => Err(PathError::Own(given.to_owned())),
        Some(relative) => Ok(relative),
    }
}

/// The text of a listed file on disk, without the secrets in it; `None` if it is gone, not UTF-8 text, or a secret's
/// file under another name. For searches in many files: edits read the text through the editor.
pub fn text(root: &Root, path: &str) -> Option<String> {
    text_up_to(root, path, LARGEST)
}

/// The same for a file of at most so many bytes.
pub fn text_up_to(root: &Root, path: &str, bytes: u64) -> Option<String> {
    let found = listed_bytes(root, path, bytes)?;
    String::from_utf8(found).ok().map(|text| mask(&text).into_owned())
}

/// The text of a listed file in any encoding, where bytes that are not UTF-8 are replaced. For its names alone.
pub fn lossy_text(root: &Root, path: &str) -> Option<String> {
    let found = listed_bytes(root, path, LARGEST)?;
    Some(mask(&String::from_utf8_lossy(&found)).into_owned())
}

fn listed_bytes(root: &Root, path: &str, bytes: u64) -> Option<Vec<u8>> {
    if root.join(path).symlink_metadata().is_ok_and(|what| is_linked_to_secret(root.path(), &what)) {
        return None;
    }
    open_beneath::bytes(root.path(), path, bytes)
}

/// True if the project's own rules leave a file out of version control. A folder that is left out takes its whole content
/// along.
pub fn is_ignored(root: &Root, path: &str) -> bool {
    IgnoreRules::new(root).is_ignored(path)
}

/// Bytes of the largest file that is worked on: a text takes some twenty times as much once it is parsed, compared and
/// sent to servers.
pub const LARGEST_TARGET: u64 = 10 << 20;

/// Bytes of a file on disk; 0 if it is missing.
pub fn size(root: &Root, path: &str) -> u64 {
    std::fs::metadata(root.join(path)).map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_ignored_by_the_nearest_rule_and_with_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            (".gitignore", "*.log\nbuild/\n/top.txt\n"),
            ("sub/.gitignore", "!keep.log\nown.py\n"),
            (".ignore", "data/\n"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::new(dir.path()).unwrap();
        for path in ["a.log", "sub/a.log", "build/x.py", "sub/build/deep/x.py", "top.txt", "sub/own.py", "data/x"] {
            assert!(is_ignored(&root, path), "{path}");
        }
        for path in ["a.py", "sub/keep.log", "sub/top.txt", "own.py", ".gitignore", "buildx/a"] {
            assert!(!is_ignored(&root, path), "{path}");
        }
    }

    #[test]
    fn ignored_hidden_and_secret_files_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            (".gitignore", "build/\n*.pyc\n"),
            ("b.py", ""),
            ("a/z.py", ""),
            ("a/.hidden.py", ""),
            ("a/x.pyc", ""),
            ("build/out.py", ""),
            ("server.key", ""),
            (".venv/lib.py", ""),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink("/etc", dir.path().join("etc")).unwrap();
        let root = Root::new(dir.path()).unwrap();
        assert_eq!(list(&root, "", 10), Listing { files: vec!["a/z.py".into(), "b.py".into()], more: false });
        assert_eq!(list(&root, "", 1), Listing { files: vec!["a/z.py".into()], more: true });
        assert_eq!(list(&root, "a", 10).files, vec!["a/z.py"]);
        assert_eq!(list(&root, "nowhere", 10), Listing::default());
        let mut known = KnownFolders::default();
        assert_eq!(list_again(&root, &mut known, 10), list(&root, "", 10));
        assert_eq!(list_again(&root, &mut known, 1), list(&root, "", 1));
        // The rules count at every listing, though no folder has changed.
        fs::write(dir.path().join(".gitignore"), "a/\n").unwrap();
        assert_eq!(list_again(&root, &mut known, 10), list(&root, "", 10));
        assert_eq!(list_again(&root, &mut known, 10).files, ["b.py", "build/out.py"]);
    }
}
