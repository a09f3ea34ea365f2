//! Checks a commit out into a folder of its own, outside of the repository, with the same imports as in the user's.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::diff::git::Git;
use sextant_base::failure::{Failure, FailureKind};

/// Links into the user's working tree that one checkout may hold.
const LINKS: usize = 10_000;

/// The files of one commit. The folder goes away with the value.
#[derive(Debug)]
pub(super) struct Checkout {
    _folder: TempDir,
    pub tree: PathBuf,
}

impl Checkout {
    /// Writes the commit out. `unkept` is the rest of the working tree ([`Git::unkept`]): environments and generated
    /// sources are linked, so that both sides find the same packages.
    pub(super) async fn new(git: &Git, commit: &str, unkept: &[String]) -> Result<Self, Failure> {
        let (checkout, index) = Self::empty(git).map_err(|error| failed(commit, &error))?;
        git.checkout(commit, &checkout.tree, &index).await?;
        checkout.link(git, unkept);
        Ok(checkout)
    }

    /// Copies the current working tree: the files that git knows, or would take.
    pub(super) async fn copy(git: &Git, unkept: &[String]) -> Result<Self, Failure> {
        let (checkout, _) = Self::empty(git).map_err(|error| failed("the working tree", &error))?;
        for file in git.working_files().await? {
            copy(&git.top.join(&file), &checkout.tree.join(&file)).map_err(|error| failed(&file, &error))?;
        }
        checkout.link(git, unkept);
        Ok(checkout)
    }

    /// An empty folder, and the path for git's index of it.
    fn empty(git: &Git) -> std::io::Result<(Self, PathBuf)> {
        let folder = tempfile::Builder::new().prefix("sextant-diff-").tempdir()?;
        let real = folder.path().canonicalize()?;
        // Messages and settings may name the folder of the project: it keeps its name.
        let tree = real.join("tree").join(git.top.file_name().unwrap_or_default());
        std::fs::create_dir_all(&tree)?;
        Ok((Self { _folder: folder, tree }, real.join("index")))
    }

    fn link(&self, git: &Git, unkept: &[String]) {
        let wanted = unkept.iter().filter(|path| is_environment(path)).take(LINKS);
        wanted.for_each(|path| link(&git.top, &self.tree, path));
    }
}

fn failed(what: &str, error: &std::io::Error) -> Failure {
    let hint = "make room in the folder for temporary files, or name another one with TMPDIR";
    Failure::new(FailureKind::Config, format!("{what} cannot be written out: {error}"), hint)
}

/// Copies a file, or a link as a link. A file that is gone meanwhile is skipped, and so are sockets and the like.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let Ok(what) = from.symlink_metadata() else { return Ok(()) };
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if what.is_symlink() {
        std::os::unix::fs::symlink(std::fs::read_link(from)?, to)
    } else if what.is_file() {
        std::fs::copy(from, to).map(|_| ())
    } else {
        Ok(())
    }
}

/// True if an ignored path may matter to imports. Hidden files and caches do not: a program that writes into a cache
/// would write through the link.
fn is_environment(path: &str) -> bool {
    let mut parts = path.trim_end_matches('/').split('/');
    parts.all(|part| {
        let hidden = part.starts_with('.') && part != ".venv";
        !hidden && !part.trim_end_matches('_').ends_with("cache") && !part.ends_with(".log")
    })
}

/// Makes `tree/path` a link to `top/path`, unless the commit has a file there. A path that cannot be linked is skipped.
fn link(top: &Path, tree: &Path, path: &str) {
    let path = path.trim_end_matches('/');
    let link = tree.join(path);
    // A folder of the commit may be a link out of the checkout, and is not written through.
    let inside = |folder: &Path| folder.canonicalize().is_ok_and(|real| real.starts_with(tree));
    if link.parent().is_some_and(inside) {
        // The empty folder of a submodule gives way; anything else stays.
        let _ = std::fs::remove_dir(&link);
        let _ = std::os::unix::fs::symlink(top.join(path), &link);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_and_generated_sources_are_linked_and_caches_are_not() {
        for path in [".venv/", "venv/", "node_modules/", "src/shop/_version.py", "build/", "api/.venv/"] {
            assert!(is_environment(path), "{path}");
        }
        for path in [".env", ".ruff_cache/", "__pycache__/", "src/__pycache__/", ".git/", "cache/", "debug.log"] {
            assert!(!is_environment(path), "{path}");
        }
    }

    #[test]
    fn a_link_takes_the_place_of_nothing_and_leads_nowhere_through_another() {
        let (top, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let elsewhere = tempfile::tempdir().unwrap();
        let real = tree.path().canonicalize().unwrap();
        for path in ["kept", "module", "full"] {
            std::fs::create_dir_all(top.path().join(path)).unwrap();
        }
        std::fs::create_dir_all(real.join("module")).unwrap();
        std::fs::create_dir_all(real.join("full")).unwrap();
        std::fs::write(real.join("full/a.py"), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), real.join("out")).unwrap();
        for path in ["kept/", "module/", "full/", "out/x.py", "nowhere/x.py"] {
            link(top.path(), &real, path);
        }
        let is_link = |path: &str| real.join(path).symlink_metadata().is_ok_and(|what| what.is_symlink());
        assert!(is_link("kept") && is_link("module"));
        assert!(!is_link("full") && real.join("full/a.py").is_file());
        assert!(elsewhere.path().join("x.py").symlink_metadata().is_err());
        assert!(!real.join("nowhere").exists());
    }
}
