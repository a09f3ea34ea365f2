//! Assigns work to processes: each holds a locked file, and the system releases the lock when the process dies.
//!
//! A process id alone would not do: the system uses it again, and it means nothing in another container.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use sextant_base::clock::new_id;
use sextant_base::private_files;
use sextant_store::memory::tasks::is_name;

/// The folder of the files, inside the workspace's own folder.
const FOLDER: &str = "live";

/// This process, as others can see it.
#[derive(Debug)]
pub(crate) struct Owner {
    name: String,
    path: PathBuf,
    /// Held for its lock.
    _file: File,
}

impl Owner {
    /// Makes this process visible. Blocks for a moment.
    pub(crate) fn new(own_folder: &Path) -> io::Result<Self> {
        let folder = own_folder.join(FOLDER);
        private_files::folder(&folder)?;
        let name = new_id();
        // Nobody looks at the file before it has its lock and its name.
        let making = folder.join(format!(".{name}"));
        let file = private_files::make(&making)?;
        let path = folder.join(&name);
        match file.try_lock() {
            Ok(()) => fs::rename(&making, &path)?,
            Err(error) => {
                fs::remove_file(&making)?;
                return Err(match error {
                    TryLockError::Error(error) => error,
                    TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
                });
            }
        }
        Ok(Self { name, path, _file: file })
    }

    /// Of the workspace's record.
    pub(crate) fn folder(&self) -> &Path {
        // `live/NAME` is inside it.
        self.path.ancestors().nth(2).unwrap_or(&self.path)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// True if the process of that name is still there. A process without a file is gone. Where its state cannot be
    /// determined it counts as alive, so that nobody's work is touched.
    pub(crate) fn is_alive(&self, name: &str) -> bool {
        if name == self.name {
            return true;
        }
        // A foreign name never becomes a path, and counts as no process.
        if !is_name(name) {
            return false;
        }
        let Some(path) = self.path.parent().map(|folder| folder.join(name)) else { return true };
        let file = match private_files::open(&path, false) {
            Ok(file) => file,
            Err(error) => return error.kind() != io::ErrorKind::NotFound,
        };
        match file.try_lock() {
            Ok(()) => {
                if let Err(error) = fs::remove_file(&path) {
                    tracing::warn!(path = %path.display(), %error, "the mark of a dead process stays behind");
                }
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => true,
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the mark of this process is gone already");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_there_as_long_as_it_holds_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (Owner::new(dir.path()).unwrap(), Owner::new(dir.path()).unwrap());
        let name = two.name().to_owned();
        assert!(one.is_alive(&name) && one.is_alive(one.name()));
        let path = two.path.clone();
        drop(two);
        assert!(!path.exists() && !one.is_alive(&name));
        assert!(!one.is_alive("never-heard-of"));
        fs::write(dir.path().join("outside"), "").unwrap();
        assert!(!one.is_alive("../outside") && dir.path().join("outside").exists(), "a path is no name");
        // Killed: the file stays, and the lock is gone.
        fs::write(dir.path().join(FOLDER).join("killed"), "").unwrap();
        assert!(!one.is_alive("killed"));
        assert!(!dir.path().join(FOLDER).join("killed").exists(), "and is cleaned away");
    }
}
