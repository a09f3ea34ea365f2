//! Keeps the stored texts for undo within their limit: the tasks that nobody has used for longest go first.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::blobs;
use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};

/// The result of a cleaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaned {
    pub dropped: Vec<i64>,
    /// The tasks of the removed checkpoints. Nothing of these is left.
    pub tasks: Vec<CleanedTask>,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

/// A task whose checkpoints were dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanedTask {
    pub session: String,
    pub task: String,
    /// Each with its reason.
    pub checkpoints: Vec<(i64, String)>,
}

impl Memory {
    /// Drops the checkpoints of the least recently used tasks until contents and states take at most `max_bytes`. All
    /// of a task go together, since a part of them would take back a part of the task.
    ///
    /// The checkpoints of a running task, and of a task in the middle of a change, stay at any size. So the limit may
    /// be missed.
    pub fn clean_checkpoints(&self, max_bytes: u64, running: &[&str]) -> Result<Cleaned> {
        let running = serde_json::to_string(running)?;
        self.write(move |conn| {
            let mut out = Cleaned { bytes_before: blobs::kept(conn)?, ..Cleaned::default() };
            out.bytes_after = out.bytes_before;
            if out.bytes_before <= max_bytes {
                return Ok(out);
            }
            let sql = "SELECT sessions.id, sessions.name, task FROM checkpoints \
                       JOIN sessions ON sessions.id = checkpoints.session \
                       WHERE task NOT IN (SELECT value FROM json_each(?1)) GROUP BY sessions.id, task \
                       HAVING count(owner) = 0 ORDER BY max(last_used), max(checkpoints.id)";
            let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?));
            for (session, name, task) in store::all(conn, sql, [&running], read)? {
                let sql = "DELETE FROM checkpoints WHERE session = ?1 AND task = ?2 RETURNING id, reason";
                let checkpoints = store::all(conn, sql, (session, &task), |row| Ok((row.get(0)?, row.get(1)?)))?;
                blobs::sweep(conn)?;
                out.dropped.extend(checkpoints.iter().map(|(id, _): &(i64, String)| id));
                out.tasks.push(CleanedTask { session: name, task, checkpoints });
                out.bytes_after = blobs::kept(conn)?;
                if out.bytes_after <= max_bytes {
                    break;
                }
            }
            Ok(out)
        })
    }
}
