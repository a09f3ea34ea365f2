//! Opens the memory at the first task, and reports the state of its file.

pub(crate) mod chosen_preferences;
pub(crate) mod keep;
pub(crate) mod learn;
pub(crate) mod project_files;
pub(crate) mod prompt_memory;
pub(crate) mod relevance;
pub mod statistics;
pub(crate) mod step_memory;

use std::sync::Arc;

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::plan::work_mode::Mode;
use crate::state::memory_handle::{self, Remember};
use crate::state::task_store::TaskStore;
use sextant_store::memory::memory_error::MemoryError;
use sextant_store::workspace::root::OLD_FOLDER;

/// The memory, opened at the first call. `None` where it is turned off or cannot be opened: the user sees the reason
/// once, and everything else works without it.
pub(crate) async fn remember(store: &TaskStore) -> Option<Arc<Remember>> {
    store.memory.get_or_init(|| open_memory(store)).await.clone()
}

async fn open_memory(store: &TaskStore) -> Option<Arc<Remember>> {
    let options = &store.config.memory;
    if !options.enabled {
        return None;
    }
    let Some(record) = &store.record else {
        let text = "working without memory: neither XDG_STATE_HOME nor HOME names a folder".to_owned();
        store.events.show(Event::Progress { text });
        return None;
    };
    let (kept, name) = (record.clone(), options.session.clone());
    let opened = tokio::task::spawn_blocking(move || Remember::open(&kept, &name)).await;
    let remember = match opened.unwrap_or_else(|error| Err(MemoryError::Storage(error.to_string()))) {
        Ok(remember) => Arc::new(remember),
        Err(error) => {
            store.events.show(Event::Progress { text: format!("working without memory: {error}") });
            return None;
        }
    };
    tell_notices(&store.events, &remember);
    if record.another() {
        let text =
            format!("{OLD_FOLDER}/memory.db is not read: what is remembered is in {}", record.folder().display());
        store.events.show(Event::Progress { text });
    }
    Some(remember)
}

pub(crate) fn tell_notices(events: &EventStream, remember: &Remember) {
    memory_handle::tell(remember, events);
}

/// Ends the short term: the settings of this session alone are dropped.
pub(crate) async fn close(store: &TaskStore) {
    let Some(Some(remember)) = store.memory.get().cloned() else { return };
    let name = remember.session.clone();
    if let Err(error) = remember.run(move |memory| memory.end_session(&name)).await {
        tracing::warn!(%error, "the session's short term could not be ended");
    }
}

/// The same mode under its name in memory.
pub(crate) fn mode_of(mode: Mode) -> sextant_store::memory::entry::Mode {
    match mode {
        Mode::Simple => sextant_store::memory::entry::Mode::Simple,
        Mode::Planner => sextant_store::memory::entry::Mode::Planner,
        Mode::Supervised => sextant_store::memory::entry::Mode::Supervised,
    }
}

/// A record of a folder, kept inside that folder.
#[cfg(test)]
pub(crate) fn record_in(folder: &std::path::Path) -> sextant_store::workspace::record_folder::Record {
    let root = sextant_store::workspace::root::Root::new(folder).unwrap();
    sextant_store::workspace::record_folder::Record::of(&folder.join("state/sextant"), &root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_store::memory::entry::{self, Kind, NewEntry};

    #[tokio::test]
    async fn memory_outlives_its_process() {
        let dir = tempfile::tempdir().unwrap();
        let record = record_in(dir.path());
        let first = Remember::open(&record, "main").unwrap();
        first
            .run(|memory| memory.append(NewEntry::new("main", entry::Mode::Simple, Kind::Error, "x", 1)))
            .await
            .unwrap();
        drop(first);
        let again = Remember::open(&record, "main").unwrap();
        assert_eq!(again.run(|memory| memory.entry_count()).await.unwrap(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_and_not_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let record = record_in(dir.path());
        std::fs::create_dir(dir.path().join("state")).unwrap();
        std::fs::write(dir.path().join("state/sextant"), "a file").unwrap();
        assert!(matches!(Remember::open(&record, "main").map(|_| ()), Err(MemoryError::Io { .. })));
    }
}
