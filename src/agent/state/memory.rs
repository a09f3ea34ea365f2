//! Memory as the agent uses it: one file a workspace, and no call of it holds up the loop.

use crate::agent::events::stream::EventStream;
use crate::editor::event::Event;
use crate::memory::error::{MemoryError, Result};
use crate::memory::store::{Memory, StoreNotice};
use crate::workspace::record::Record;

/// The name of this workspace inside its own file.
pub(crate) const PROJECT: &str = ".";

/// Memory as the agent uses it: one file a workspace, one session in it.
#[derive(Clone, Debug)]
pub(crate) struct Remember {
    pub(crate) memory: Memory,
    /// What entries are recalled by; see `memory.session` in the options.
    pub session: String,
    /// What preferences, learnings and facts are kept for.
    pub project: &'static str,
}

impl Remember {
    /// Opens the memory of a workspace, or begins it. Blocks.
    pub(crate) fn open(record: &Record, session: &str) -> Result<Self> {
        let made = record.make().map_err(|(path, source)| MemoryError::Io { path, source })?;
        let memory = Memory::open(&made.file())?;
        Ok(Self { memory, session: session.to_owned(), project: PROJECT })
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

/// Says what became of the file since the last time.
pub(crate) fn tell(remember: &Remember, events: &EventStream) {
    for notice in remember.memory.notices() {
        events.show(Event::Progress { text: words(&notice) });
    }
}

pub(crate) fn words(notice: &StoreNotice) -> String {
    match notice {
        StoreNotice::SetAside { to, why } => {
            format!("the memory file could not be used ({why}) and is now {}; a new one was begun", to.display())
        }
        StoreNotice::Reindexed { why } => format!("the memory's search index was made again: {why}"),
        StoreNotice::Migrated { backup } => {
            format!("the memory was brought up to date; as it was: {}", backup.display())
        }
    }
}
