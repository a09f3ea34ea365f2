//! Waits for a pause in the user's typing before a file is edited.

use std::path::PathBuf;
use std::time::Duration;

use crate::engine::buffers::EditorBuffers;
use sextant_base::deadline::Deadline;

/// The time without typing in a file before it is edited: an edit in the middle of typing would be one undo step with
/// it.
pub(super) const REST: Duration = Duration::from_millis(1500);

/// The longest time that an edit waits for that rest.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

impl EditorBuffers {
    /// Waits until the user has not typed in any of these files for a moment.
    ///
    /// # Errors
    /// The user does not stop typing; the error is the path of the file.
    pub(super) async fn rest(&self, files: &[PathBuf]) -> Result<(), PathBuf> {
        let deadline = Deadline::after(self.patience);
        let mut news = self.mirror.news();
        loop {
            news.borrow_and_update();
            let waits = files.iter().filter_map(|file| Some((file, REST.checked_sub(self.mirror.rested(file)?)?)));
            let Some((file, wait)) = waits.max_by_key(|(_, wait)| *wait).filter(|(_, wait)| !wait.is_zero()) else {
                return Ok(());
            };
            if deadline.passed() {
                return Err(file.clone());
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = news.changed() => {}
            }
        }
    }
}
