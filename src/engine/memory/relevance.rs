//! The changes that raise and lower the relevance of a memory entry.

use serde_json::json;

use sextant_base::clock::now_ms;
use sextant_store::memory::decision_record::{Event, TraceRecord};
use sextant_store::memory::entry::EntryId;
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::store::Memory;

/// The record of the entries that count for a step's success.
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

/// Raises the entries that were recalled for a task that then succeeded: they were of use.
pub(crate) fn was_of_use(memory: &Memory, recalled: Vec<EntryId>) -> Result<()> {
    memory.weigh(recalled, RISES)
}

pub(crate) const ENTRIES: &str = "entries";

/// The factor for an entry that a task had recalled before it succeeded.
pub(crate) const RISES: f64 = 1.1;
