//! Opens the store of tasks, at the first task.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::editor::event::Event;
use crate::events::stream::EventStream;
use crate::memory;
use crate::state::durable::Durable;
use crate::state::owner::Owner;
use crate::state::task_store::TaskStore;
use sextant_store::memory::memory_error::Result;
use sextant_store::workspace::record_folder::Record;

/// The store of tasks; `None` where nothing is remembered.
pub(crate) async fn durable(store: &TaskStore) -> Option<Arc<Durable>> {
    let open = || async {
        let remember = memory::remember(store).await?;
        let folder = store.record.as_ref()?.folder();
        let span = tracing::Span::current();
        let owner = tokio::task::spawn_blocking(move || span.in_scope(|| Owner::new(&folder))).await;
        match owner.map_err(std::io::Error::other).and_then(|owner| owner) {
            Ok(owner) => {
                Some(Arc::new(Durable { remember, owner, reported: AtomicBool::new(false), gaps: Mutex::default() }))
            }
            Err(error) => {
                let text = format!("tasks cannot be resumed after this process: {error}");
                store.events.show(Event::Progress { text });
                None
            }
        }
    };
    store.durable.get_or_init(open).await.clone()
}

/// True if anything was stored: a workspace without a record has nothing to recover.
pub(crate) fn has_record(store: &TaskStore) -> bool {
    store.record.as_ref().is_some_and(Record::exists)
}

pub(crate) fn or_tell<T>(events: &EventStream, durable: &Durable, kept: Result<T>) -> Option<T> {
    durable.or_tell(events, kept)
}
