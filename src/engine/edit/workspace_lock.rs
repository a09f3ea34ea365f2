//! The lock that files are changed under: one process at a time in a workspace, however many work in it.
//!
//! It is held for one change and no longer, so that nobody waits for another's model. The editor's checks before a
//! change of a file (its version, the disk) hold until the change is made.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::editor::editor_error::EditorError;
use crate::state::durable::Durable;
use sextant_base::deadline::Deadline;
use sextant_base::private_files;

/// Beside the memory file.
const FILE: &str = "edits.lock";
/// An edit of another process takes a moment, one in an editor that waits for a key longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of the holder's own entry.
const ENTRY: u64 = 200;

/// The lock, until this is dropped.
#[derive(Debug)]
pub(crate) struct EditLock {
    /// Held for its lock.
    _file: Option<File>,
}

/// Takes the lock of the workspace. Without a place to store it there is no lock, and the editor's checks have to do.
///
/// # Errors
/// Another process holds it for too long; the error names it.
pub(crate) async fn take(durable: Option<&Durable>) -> Result<EditLock, EditorError> {
    let Some(folder) = durable.map(|durable| durable.owner().folder().to_owned()) else {
        return Ok(EditLock { _file: None });
    };
    let taken = tokio::task::spawn_blocking(move || in_folder(folder, PATIENCE)).await;
    taken.map_err(|error| EditorError::Other(error.to_string()))?
}

fn in_folder(folder: PathBuf, patience: Duration) -> Result<EditLock, EditorError> {
    let mut file = match private_files::open(&folder.join(FILE), true) {
        Ok(file) => file,
        Err(error) => {
            tracing::warn!(%error, "edits are made without a lock");
            return Ok(EditLock { _file: None });
        }
    };
    match private_files::lock(&file, Deadline::after(patience)) {
        Ok(()) => {
            let entry = format!("process {}\n", std::process::id());
            let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(entry.as_bytes()));
            if let Err(error) = written {
                tracing::debug!(%error, "the holder of the lock is not named");
            }
            Ok(EditLock { _file: Some(file) })
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let mut who = String::new();
            let read = file.rewind().and_then(|()| Read::by_ref(&mut file).take(ENTRY).read_to_string(&mut who));
            let who = if read.is_ok() && !who.trim().is_empty() { who.trim() } else { "another process" };
            let path = "this workspace".to_owned();
            Err(EditorError::Locked { path, reason: format!("{who} is changing files in it") })
        }
        Err(error) => {
            tracing::warn!(%error, "edits are made without a lock");
            Ok(EditLock { _file: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_at_a_time_and_who_waits_too_long_gets_the_name_of_the_holder() {
        let dir = tempfile::tempdir().unwrap();
        let take = |patience| in_folder(dir.path().to_owned(), Duration::from_millis(patience));
        let held = take(1000).unwrap();
        let refused = take(20).unwrap_err().to_string();
        let process = std::process::id();
        let expected = format!("this workspace cannot be edited: process {process} is changing files in it");
        assert_eq!(refused, expected);
        drop(held);
        take(1000).unwrap();
        // Where a link stands in its place nothing is written through it.
        std::fs::remove_file(dir.path().join(FILE)).unwrap();
        std::os::unix::fs::symlink("target", dir.path().join(FILE)).unwrap();
        assert!(take(20).unwrap()._file.is_none());
        assert!(!dir.path().join("target").exists());
    }
}
