//! Decides whether a working tree and a repository belong together, and whether the repository's data stays in it.
//!
//! The workspace's own `.git` entry can lead to any repository of the user's. So the repository has to name the
//! workspace back, as a real linked worktree and a real submodule do.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Data of a repository that git reads: in the common folder, and in the folder of a linked worktree.
pub(crate) const DATA: &[&str] = &["objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow"];

/// True if a working tree and its git folder belong together; `common` is the folder with the objects.
pub(crate) fn belongs(top: &Path, folder: &Path, common: &Path) -> bool {
    let (Ok(top), Ok(folder), Ok(common)) = (top.canonicalize(), folder.canonicalize(), common.canonicalize()) else {
        return false;
    };
    let entry = top.join(".git");
    let Ok(what) = entry.symlink_metadata() else { return false };
    // Data in the workspace itself is the workspace's own, however it is reached.
    let inside = |path: &Path| path.starts_with(&top);
    if !what.is_file() {
        let same = entry.canonicalize().is_ok_and(|entry| entry == folder);
        return same && inside(&folder) && inside(&common);
    }
    let Some(target) = pointer(&entry, "gitdir: ") else { return false };
    let same = target.canonicalize().is_ok_and(|target| target == folder);
    let own = inside(&folder) && inside(&common);
    same && (own || is_worktree(&entry, &folder, &common) || is_submodule(&top, &folder, &common))
}

/// A path in a file of git's, relative to the folder of that file.
fn pointer(file: &Path, mark: &str) -> Option<PathBuf> {
    let text = read_to_string(file).ok()?;
    let path = text.trim_end_matches(['\n', '\r']).strip_prefix(mark)?;
    Some(file.parent()?.join(path))
}

/// A linked worktree lies in `worktrees/NAME` of the common folder, and names the `.git` file that leads to it.
fn is_worktree(entry: &Path, folder: &Path, common: &Path) -> bool {
    let back = pointer(&folder.join("gitdir"), "").and_then(|back| {
        // The file itself must not be a link: the folder of it is what counts.
        Some(back.parent()?.canonicalize().ok()?.join(back.file_name()?))
    });
    folder.parent().is_some_and(|parent| parent == common.join("worktrees")) && back.is_some_and(|back| back == entry)
}

/// A submodule lies in `modules` of a superproject above its working tree.
fn is_submodule(top: &Path, folder: &Path, common: &Path) -> bool {
    folder == common
        && top.ancestors().skip(1).any(|above| {
            let entry = above.join(".git");
            let own = if entry.is_file() { pointer(&entry, "gitdir: ") } else { Some(entry.clone()) };
            let Some(own) = own.and_then(|own| own.canonicalize().ok()) else { return false };
            let shared = pointer(&own.join("commondir"), "").and_then(|path| path.canonicalize().ok());
            folder.starts_with(own.join("modules")) && belongs(above, &own, shared.as_deref().unwrap_or(&own))
        })
}

/// The first path through which the data of a repository leads out of it and out of the working tree.
pub(crate) fn leads_out(top: &Path, folder: &Path, common: &Path) -> Option<PathBuf> {
    let homes: Vec<PathBuf> = [top, folder, common].iter().filter_map(|path| path.canonicalize().ok()).collect();
    let out = |path: &Path| path.canonicalize().is_ok_and(|real| !homes.iter().any(|home| real.starts_with(home)));
    let mut paths: Vec<PathBuf> = [folder, common]
        .iter()
        .flat_map(|home| DATA.iter().chain(&["HEAD", "index"]).map(|name| home.join(name)))
        .collect();
    while let Some(path) = paths.pop() {
        let Ok(what) = path.symlink_metadata() else { continue };
        if what.is_symlink() {
            if out(&path) {
                return Some(path);
            }
            // A link to a folder of data in the workspace: its own links count too.
            paths.extend(
                path.canonicalize().ok().filter(|real| real.is_dir()).map(|real| links(&real)).unwrap_or_default(),
            );
        } else if what.is_dir() {
            paths.extend(links(&path));
        }
    }
    alternates(&common.join("objects"), &out, 5)
}

/// The entries of a folder that are links or folders.
fn links(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder).into_iter().flatten().flatten();
    let kinds = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink() || kind.is_dir()));
    kinds.map(|entry| entry.path()).collect()
}

/// Git follows alternates of alternates, at most five deep.
fn alternates(objects: &Path, out: &dyn Fn(&Path) -> bool, deep: usize) -> Option<PathBuf> {
    let list = read_to_string(objects.join("info/alternates")).unwrap_or_default();
    let mut named = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    named.find_map(|line| {
        // A quoted path would have to be read as git does.
        let path = objects.join(line);
        if line.starts_with('"') || out(&path) || deep == 0 {
            return Some(path);
        }
        alternates(&path, out, deep - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        std::fs::create_dir_all(folder).unwrap();
        let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
        let done = Command::new("git").current_dir(folder).args(fixed).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn repository(folder: &Path) {
        git(folder, &["init", "-q"]);
        git(folder, &["commit", "-qm", "first", "--allow-empty"]);
    }

    async fn opens(folder: &Path) -> bool {
        crate::confined_git::Confined::open(folder).await.is_ok()
    }

    #[tokio::test]
    async fn a_repository_a_linked_worktree_and_a_submodule_belong_to_their_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let (one, linked) = (dir.path().join("one"), dir.path().join("linked"));
        repository(&one);
        repository(&dir.path().join("part"));
        git(&one, &["worktree", "add", "-q", linked.to_str().unwrap()]);
        git(&one, &["submodule", "add", "-q", dir.path().join("part").to_str().unwrap(), "sub"]);
        std::fs::create_dir(one.join("deep")).unwrap();
        for folder in [&one, &linked, &one.join("sub"), &one.join("deep")] {
            assert!(opens(folder).await, "{}", folder.display());
        }
        // A linked worktree may name its repository by a relative path.
        std::fs::write(linked.join(".git"), "gitdir: ../one/.git/worktrees/linked\n").unwrap();
        std::fs::write(one.join(".git/worktrees/linked/gitdir"), "../../../../linked/.git\n").unwrap();
        assert!(opens(&linked).await);
    }

    #[tokio::test]
    async fn a_workspace_cannot_take_a_repository_that_does_not_name_it() {
        let dir = tempfile::tempdir().unwrap();
        let private = dir.path().join("private");
        repository(&private);
        git(&private, &["worktree", "add", "-q", dir.path().join("linked").to_str().unwrap()]);
        let theirs = private.join(".git");
        let taken = |name: &str, lay: &dyn Fn(&Path)| {
            let folder = dir.path().join(name);
            repository(&folder);
            lay(&folder);
            folder
        };
        let file = |folder: &Path, text: &str| {
            std::fs::remove_dir_all(folder.join(".git")).unwrap();
            std::fs::write(folder.join(".git"), text).unwrap();
        };
        let link = |folder: &Path, name: &str| {
            std::fs::remove_dir_all(folder.join(name)).unwrap();
            symlink(dir.path().join("private").join(name), folder.join(name)).unwrap();
        };
        let put = |folder: &Path, name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        for folder in [
            taken("relative", &|at| file(at, "gitdir: ../private/.git\n")),
            taken("absolute", &|at| file(at, &format!("gitdir: {}\n", theirs.display()))),
            taken("borrowed", &|at| file(at, "gitdir: ../private/.git/worktrees/linked\n")),
            taken("entry", &|at| link(at, ".git")),
            taken("objects", &|at| link(at, ".git/objects")),
            taken("refs", &|at| link(at, ".git/refs")),
            taken("heads", &|at| link(at, ".git/refs/heads")),
            taken("alternates", &|at| {
                put(at, ".git/objects/info/alternates", &format!("{}\n", theirs.join("objects").display()));
            }),
            taken("commondir", &|at| put(at, ".git/commondir", &format!("{}\n", theirs.display()))),
        ] {
            assert!(!opens(&folder).await, "{}", folder.display());
        }
    }
}
