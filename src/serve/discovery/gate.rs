//! The gate of a workspace: one process at a time looks for a session and, if there is no session, becomes one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::discovery::key;
use sextant_base::deadline::Deadline;
use sextant_base::private_files;

/// The gate, until this is dropped.
#[derive(Debug)]
pub struct StartGate {
    path: PathBuf,
    /// Held for its lock.
    _file: File,
}

impl StartGate {
    /// Waits until no other process of this workspace holds the gate. Blocks.
    ///
    /// # Errors
    /// Another process holds it for too long, or no folder can hold it.
    pub fn enter(folders: &[PathBuf], root: &Path, deadline: Deadline) -> io::Result<Self> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no folder for it");
        for base in folders {
            match enter(base, root, deadline) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => last = error,
                done => return done,
            }
        }
        Err(last)
    }
}

impl Drop for StartGate {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the gate is gone already");
        }
    }
}

fn enter(base: &Path, root: &Path, deadline: Deadline) -> io::Result<StartGate> {
    if let Some(parent) = base.parent() {
        fs::create_dir_all(parent)?;
    }
    private_files::folder(base)?;
    // The file lies beside the folders of workspaces, which are removed when they are empty.
    let path = base.join(format!(".{}.gate", key(root)));
    Ok(StartGate { _file: private_files::lock_removed(&path, deadline)?, path })
}
