//! Which files there are: those that version control would keep, without the hidden ones.

use ignore::WalkBuilder;

use crate::base::path;
use crate::workspace::beneath;
use crate::workspace::root::{PathError, Root, is_secret};

/// Bytes of the largest text that is looked into.
const LARGEST: u64 = 64 << 20;

/// The files of a workspace, as paths relative to its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Sorted.
    pub files: Vec<String>,
    /// Whether there were more than asked for.
    pub more: bool,
}

/// Lists at most `limit` files, below `folder` (as [`folder`] gives it; empty for all).
///
/// Left out: what `.gitignore` and `.ignore` name (in a folder without git too), hidden files and
/// folders, symbolic links, secrets, names that are not UTF-8, and folders that cannot be read. The
/// files kept under a limit are the first of each folder in order, not those that the disk gave first.
pub fn list(root: &Root, folder: &str, limit: usize) -> Listing {
    let walk = WalkBuilder::new(root.join(folder))
        .require_git(false)
        // The user's own excludes would make two users' agents see two different projects.
        .git_global(false)
        .sort_by_file_name(|a, b| a.cmp(b))
        .build();
    let mut out = Listing::default();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())) {
        let inside = entry.path().strip_prefix(root.path()).ok().and_then(|path| path.to_str());
        let Some(path) = inside.filter(|path| !is_secret(path) && !root.is_own(entry.path())) else { continue };
        if out.files.len() == limit {
            out.more = true;
            break;
        }
        out.files.push(path.to_owned());
    }
    out.files.sort();
    out
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

/// The text of a listed file on disk; `None` where it is gone or no UTF-8 text. For looking for something in
/// many files: what is edited is read through the editor.
pub fn text(root: &Root, path: &str) -> Option<String> {
    beneath::text(root.path(), path, LARGEST)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
    }
}
