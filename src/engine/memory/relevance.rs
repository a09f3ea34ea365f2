//! By what an entry of memory gains and loses relevance.

use serde_json::json;

use sextant_base::clock::now_ms;
use sextant_store::memory::decision_record::{Event, TraceRecord};
use sextant_store::memory::entry::EntryId;
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::store::Memory;

/// The record of which entries tell of a step's success.
pub(crate) fn entries(session: &str, task: &str, step: usize, ids: &[EntryId]) -> TraceRecord {
    TraceRecord {
        session: session.to_owned(),
        task: task.to_owned(),
        step: u32::try_from(step).unwrap_or(u32::MAX),
        event: Event::Note,
        subject: ENTRIES.to_owned(),
        reason: String::new(),
        detail: json!({"ids": ids}),
        timestamp: now_ms(),
    }
}

/// What was recalled for a task that then succeeded was of use.
pub(crate) fn was_of_use(memory: &Memory, recalled: Vec<EntryId>) -> Result<()> {
    memory.weigh(recalled, RISES)
}

pub(crate) const ENTRIES: &str = "entries";

/// What an entry gains that a task had before it when it succeeded.
pub(crate) const RISES: f64 = 1.1;
