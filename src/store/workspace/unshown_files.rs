//! Finds private files below a folder, which no prompt may show: secrets' files, ignored files, links that lead out.

use std::path::Path;

use ignore::WalkBuilder;

use crate::workspace::ignore_rules::IgnoreRules;
use crate::workspace::root::Root;
use crate::workspace::secret_files::is_secret;
use crate::workspace::workspace_files;
use sextant_base::path;

/// The most entries that are looked at; the entries behind them all count as private.
const MOST: usize = 20_000;

/// The part of a folder that a program reads when it reads the whole folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Every file.
    All,
    /// No hidden files and no ignored files.
    Listed,
    /// Every file, and the targets of links.
    Linked,
}

/// The first private file below a folder (relative to the root, empty for the root), and the reason.
pub fn first_below(root: &Root, folder: &str, sweep: Sweep) -> Option<(String, &'static str)> {
    let every = || WalkBuilder::new(root.join(folder)).standard_filters(false).build();
    let walk = if sweep == Sweep::Listed { workspace_files::walk(root, folder) } else { every() };
    let rules = IgnoreRules::new(root);
    let mut left = MOST;
    for entry in walk.flatten() {
        let Some(inside) = entry.path().strip_prefix(root.path()).ok().and_then(Path::to_str) else { continue };
        if left == 0 {
            return Some((folder.to_owned(), "has more files than are looked at"));
        }
        left -= 1;
        let kind = entry.file_type();
        if sweep == Sweep::Linked && kind.is_some_and(|kind| kind.is_symlink()) && leads_out(root, entry.path()) {
            return Some((inside.to_owned(), "leads out of the workspace"));
        }
        if !kind.is_some_and(|kind| kind.is_file()) || inside.ends_with(".pyc") {
            continue;
        }
        if is_secret(inside) {
            return Some((inside.to_owned(), "may hold secrets"));
        }
        if sweep != Sweep::Listed && rules.is_ignored(inside) {
            return Some((inside.to_owned(), "is left out of version control"));
        }
    }
    None
}

fn leads_out(root: &Root, link: &Path) -> bool {
    link.canonicalize().is_ok_and(|real| path::relative(root.path(), &real).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_as_private_as_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(path), "x\n").unwrap();
        };
        [
            "plain/a.py",
            "named/secrets.yml",
            "hidden/.env",
            "kept/out/log.txt",
            "cache/__pycache__/a.pyc",
            "linked/a.py",
        ]
        .iter()
        .for_each(|path| put(path));
        std::fs::write(dir.path().join(".gitignore"), "out/\n__pycache__/\n").unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join("linked/away")).unwrap();
        let root = Root::new(dir.path()).unwrap();
        let below = |folder: &str, sweep| first_below(&root, folder, sweep).map(|(path, _)| path);
        for sweep in [Sweep::All, Sweep::Listed, Sweep::Linked] {
            assert_eq!(below("plain", sweep), None);
            assert_eq!(below("cache", sweep), None);
            assert_eq!(below("named", sweep).as_deref(), Some("named/secrets.yml"));
        }
        assert_eq!(below("hidden", Sweep::All).as_deref(), Some("hidden/.env"));
        assert_eq!(below("hidden", Sweep::Listed), None);
        assert_eq!(below("kept", Sweep::All).as_deref(), Some("kept/out/log.txt"));
        assert_eq!(below("kept", Sweep::Listed), None);
        assert_eq!(below("linked", Sweep::All), None);
        assert_eq!(below("linked", Sweep::Linked).as_deref(), Some("linked/away"));
        assert!(below("", Sweep::All).is_some());
    }
}
