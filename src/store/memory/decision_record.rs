//! The record of decisions: the evidence that led to each, and the discarded evidence with the reason.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::entries::{known_session, session};
use crate::memory::entry::names;
use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};
use sextant_base::given_secrets::hide_given;

names! {
    Event {
        Decision = "decision",
        /// A diagnostic or another signal that was used.
        Evidence = "evidence",
        /// Evidence that was not used, and the reason.
        Discard = "discard",
        /// The result of a recall.
        Recall = "recall",
        Approval = "approval",
        Escalation = "escalation",
        Note = "note",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    pub session: String,
    pub task: String,
    pub step: u32,
    pub event: Event,
    /// Its subject: a diagnostic, a symbol, an entry of memory.
    pub subject: String,
    pub reason: String,
    pub detail: Value,
    /// Milliseconds since 1970.
    pub timestamp: i64,
}

impl Memory {
    /// Keeps all of them or none, in their order.
    pub fn add_trace(&self, records: Vec<TraceRecord>) -> Result<()> {
        self.write(move |conn| {
            let sql = "INSERT INTO trace (session, task, step, event, subject, reason, detail, timestamp) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            for record in &records {
                let TraceRecord { task, step, event, subject, timestamp, .. } = record;
                let reason = hide_given(&record.reason);
                let detail = serde_json::to_string(&record.detail)?;
                let session = session(conn, &record.session)?;
                conn.prepare_cached(sql)?.execute((session, task, step, event, subject, reason, detail, timestamp))?;
            }
            Ok(())
        })
    }

    /// The newest records of a session, oldest first; only those of one task if `task` is given.
    pub fn trace(&self, name: &str, task: Option<&str>, limit: usize) -> Result<Vec<TraceRecord>> {
        self.read(|conn| {
            let Some(session) = known_session(conn, name)? else { return Ok(Vec::new()) };
            let sql = "SELECT task, step, event, subject, reason, detail, timestamp FROM trace \
                       WHERE session = ?1 AND (?2 IS NULL OR task = ?2) ORDER BY id DESC LIMIT ?3";
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut records = store::all(conn, sql, (session, task, limit), |row| {
                Ok(TraceRecord {
                    session: name.to_owned(),
                    task: row.get(0)?,
                    step: row.get(1)?,
                    event: row.get(2)?,
                    subject: row.get(3)?,
                    reason: row.get(4)?,
                    detail: serde_json::from_str(row.get_ref(5)?.as_str()?).unwrap_or_default(),
                    timestamp: row.get(6)?,
                })
            })?;
            records.reverse();
            Ok(records)
        })
    }

    /// Tokens that recalls have found, and the part of them that prompts got. These are
    /// the sums of `found` and `given` in the details of [`Event::Recall`].
    pub(in crate::memory) fn recalled_tokens(&self) -> Result<(u64, u64)> {
        let sql = "SELECT coalesce(sum(CAST(json_extract(detail, '$.found') AS INTEGER)), 0), \
                   coalesce(sum(CAST(json_extract(detail, '$.given') AS INTEGER)), 0) FROM trace WHERE event = ?1";
        let unsigned = crate::memory::store::unsigned;
        let sums =
            self.read(|conn| store::all(conn, sql, [Event::Recall], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?))))?;
        Ok(sums.first().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_come_back_in_their_order_and_the_newest_when_there_are_too_many() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let record = |step, task: &str| TraceRecord {
            session: "s".into(),
            task: task.into(),
            step,
            event: Event::Discard,
            subject: "reportUnusedImport".into(),
            reason: "not on the edited symbol".into(),
            detail: json!({"line": 4}),
            timestamp: 1,
        };
        memory.add_trace(vec![record(1, "a"), record(2, "b"), record(3, "a")]).unwrap();
        assert_eq!(memory.trace("s", Some("a"), 9).unwrap(), [record(1, "a"), record(3, "a")]);
        assert_eq!(memory.trace("s", None, 2).unwrap(), [record(2, "b"), record(3, "a")]);
        assert_eq!(memory.trace("t", None, 2).unwrap(), []);
    }
}
