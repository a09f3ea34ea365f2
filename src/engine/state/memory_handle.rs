//! Memory as the agent uses it: one file a workspace, and no call of it holds up the loop.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use sextant_base::lock::lock;
use sextant_store::memory::memory_error::{MemoryError, Result};
use sextant_store::memory::store::{Memory, StoreNotice};
use sextant_store::workspace::record_folder::Record;

/// The name of this workspace inside its own file.
pub(crate) const PROJECT: &str = ".";

/// Memory as the agent uses it: one file a workspace, one session in it.
#[derive(Clone, Debug)]
pub(crate) struct Remember {
    pub(crate) memory: Memory,
    /// The name that entries are recalled by; see `memory.session` in the options.
    pub session: String,
    /// The owner of stored preferences, learnings and facts.
    pub project: &'static str,
    /// The number of writes that have begun and not ended.
    writing: watch::Sender<usize>,
    /// The notice of a file that was set aside, until an answer to a client holds it: clients see no events.
    aside: Arc<Mutex<Option<String>>>,
}

/// The time that a reader waits for running writes; a file that another process holds is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A write that goes on beside the loop; it has ended when this is dropped.
pub(crate) struct Writing(watch::Sender<usize>);

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.send_modify(|writes| *writes = writes.saturating_sub(1));
    }
}

impl Remember {
    /// Opens the memory of a workspace, or begins it. Blocks.
    pub(crate) fn open(record: &Record, session: &str) -> Result<Self> {
        let made = record.make().map_err(|(path, source)| MemoryError::Io { path, source })?;
        let memory = Memory::open(&made.file())?;
        Ok(Self {
            memory,
            session: session.to_owned(),
            project: PROJECT,
            writing: watch::Sender::new(0),
            aside: Arc::default(),
        })
    }

    /// The notice of a file that was set aside, once.
    pub(crate) fn take_aside(&self) -> Option<String> {
        lock(&self.aside).take()
    }

    /// Begins a write: readers wait for it.
    pub(crate) fn begin_write(&self) -> Writing {
        self.writing.send_modify(|writes| *writes += 1);
        Writing(self.writing.clone())
    }

    /// Waits until running writes can be read, or for two seconds.
    pub(crate) async fn written(&self) {
        let mut writing = self.writing.subscribe();
        let _ = tokio::time::timeout(PATIENCE, writing.wait_for(|writes| *writes == 0)).await;
    }

    /// Runs calls of the memory on a thread that may block.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let memory = self.memory.clone();
        let ended = tokio::task::spawn_blocking(move || work(&memory)).await;
        ended.unwrap_or_else(|error| Err(MemoryError::Storage(format!("the call broke off: {error}"))))
    }
}

/// Reports changes in the state of the file since the last call.
pub(crate) fn tell(remember: &Remember, events: &EventStream) {
    for notice in remember.memory.notices() {
        let text = words(&notice);
        if matches!(notice, StoreNotice::SetAside { .. }) {
            *lock(&remember.aside) = Some(text.clone());
        }
        events.show(Event::Progress { text });
    }
}

pub(crate) fn words(notice: &StoreNotice) -> String {
    match notice {
        StoreNotice::SetAside { to, why } => {
            let begun = format!("the memory file could not be used ({why}) and is now {}; a new one", to.display());
            format!(
                "{begun} was begun. Undo knows nothing of the old one, which its own version reads under its old name"
            )
        }
        StoreNotice::Reindexed { why } => format!("the memory's search index was made again: {why}"),
        StoreNotice::Migrated { backup } => {
            format!("the memory was brought up to date; as it was: {}", backup.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_reads_waits_for_what_is_being_written_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::open(&folder.path().join("memory.db")).unwrap();
        let remember = Remember {
            memory,
            session: "main".into(),
            project: PROJECT,
            writing: watch::Sender::new(0),
            aside: Arc::default(),
        };
        let (first, second) = (remember.begin_write(), remember.clone().begin_write());
        let reads = tokio::spawn({
            let remember = remember.clone();
            async move { remember.written().await }
        });
        drop(first);
        tokio::task::yield_now().await;
        assert!(!reads.is_finished(), "one is still being written");
        drop(second);
        reads.await.unwrap();

        let held = remember.begin_write();
        // A file that another process holds is not waited for.
        remember.written().await;
        drop(held);
    }
}
