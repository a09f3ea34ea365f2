//! Decides which files the project's own rules leave out of version control, as git does: `.gitignore` of a file's folder
//! and of those above it up to its repository, and `.git/info/exclude`. `.ignore` goes before them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::root::Root;
use sextant_base::lock::lock;

/// The mark of a repository's own folder: rules above it are another repository's, or of none.
const REPOSITORY: &str = ".git";

/// Files with rules; the last one that knows a name decides.
const FILES: &[&str] = &[".git/info/exclude", ".gitignore", ".ignore"];

/// The rules of a workspace. Each folder's files are read once.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    root: PathBuf,
    known: Mutex<HashMap<PathBuf, Arc<FolderRules>>>,
}

/// The rules for the names in a folder.
#[derive(Debug)]
struct FolderRules {
    own: Gitignore,
    /// `None` at the top of a repository.
    above: Option<Arc<FolderRules>>,
}

impl IgnoreRules {
    pub(crate) fn new(root: &Root) -> Self {
        Self { root: root.path().to_owned(), known: Mutex::default() }
    }

    /// A path inside the root is left out, or a folder above it is. A workspace in a folder that is left out was
    /// opened on purpose: its files are judged from the root on.
    pub(crate) fn is_ignored(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| (at, true)).chain([(path.len(), false)]);
        ends.into_iter().any(|(end, is_folder)| self.leaves_out(&self.root.join(&path[..end]), is_folder))
    }

    /// The rules name this very file or folder below the root. Those of the folders above it are not asked.
    pub(crate) fn leaves_out(&self, path: &Path, is_folder: bool) -> bool {
        let Some(folder) = path.parent().filter(|folder| folder.starts_with(&self.root)) else { return false };
        let rules = self.of(folder);
        let nearest = std::iter::successors(Some(&rules), |rules| rules.above.as_ref());
        let decided = nearest.map(|rules| rules.own.matched(path, is_folder)).find(|found| !found.is_none());
        decided.is_some_and(|found| found.is_ignore())
    }

    fn of(&self, folder: &Path) -> Arc<FolderRules> {
        if let Some(known) = lock(&self.known).get(folder) {
            return Arc::clone(known);
        }
        let is_top = folder.join(REPOSITORY).symlink_metadata().is_ok();
        let goes_on = !is_top && (folder != self.root || is_in_repository(&self.root));
        let above = folder.parent().filter(|_| goes_on).map(|above| self.of(above));
        let rules = Arc::new(FolderRules { own: rules_of(folder), above });
        lock(&self.known).insert(folder.to_owned(), Arc::clone(&rules));
        rules
    }
}

fn is_in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|above| above.join(REPOSITORY).symlink_metadata().is_ok())
}

fn rules_of(folder: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for file in FILES {
        // A missing file has no rules; a file that can be read in part has the rules of that part.
        let _ = builder.add(folder.join(file));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::workspace_files;

    /// The files of a workspace that are listed. Each is judged alike by its path alone.
    fn listed(files: &[(&str, &str)], folder: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::new(&dir.path().join(folder)).unwrap();
        let listed = workspace_files::list(&root, "", 100).files;
        for (path, _) in files {
            if let Ok(inside) = Path::new(path).strip_prefix(folder)
                && !path.contains("/.")
            {
                let inside = inside.to_str().unwrap();
                let is_listed = listed.iter().any(|file| file == inside);
                assert_eq!(workspace_files::is_ignored(&root, inside), !is_listed, "{path} of {files:?}");
            }
        }
        listed
    }

    #[test]
    fn rules_count_up_to_the_repository_and_not_above() {
        let sources = [("up/in/p/a.py", ""), ("up/in/p/sub/b.py", "")];
        let with = |more: &[(&'static str, &'static str)]| listed(&[&sources[..], more].concat(), "up/in/p");
        let all = ["a.py", "sub/b.py"];
        let (above, head) = (("up/.gitignore", "*\n"), |path| (path, "ref: refs/heads/main\n"));
        assert_eq!(with(&[above]), all, "no repository is above");
        assert_eq!(with(&[above, head("up/in/p/.git/HEAD")]), all, "its own repository");
        assert_eq!(with(&[above, head("up/in/.git/HEAD")]), all, "a repository between them");
        assert_eq!(with(&[above, ("up/in/p/.git", "gitdir: /elsewhere\n")]), all, "a work tree");
        assert!(with(&[above, head("up/.git/HEAD")]).is_empty(), "a part of that repository");
        assert_eq!(with(&[("up/.gitignore", "b.py\n"), head("up/.git/HEAD")]), ["a.py"]);
        assert_eq!(with(&[("up/.git/info/exclude", "a.py\n")]), ["sub/b.py"]);
        assert_eq!(with(&[("up/.gitignore", "/in/\n"), head("up/.git/HEAD")]), all, "it was opened on purpose");
        let near = [("up/.gitignore", "*.py\n"), ("up/in/p/sub/.gitignore", "!b.py\n"), head("up/.git/HEAD")];
        assert_eq!(with(&near), ["sub/b.py"], "the nearest rule decides");
        let inner = [("up/in/p/.gitignore", "b.py\n"), head("up/in/p/.git/HEAD"), head("up/in/p/sub/.git/HEAD")];
        assert_eq!(with(&inner), all, "a repository inside has its own rules");
    }
}
