//! Lists the checkpoints with the files that each changed, in order and without any content: the changes to undo or
//! bring back.

use serde::{Deserialize, Serialize};

use crate::memory::entries::known_session;
use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};

/// A checkpoint without its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeInfo {
    /// Larger is later, regardless of the clock.
    pub id: i64,
    pub task: String,
    pub reason: String,
    /// Milliseconds since 1970.
    pub created: i64,
    /// Relative to the root.
    pub files: Vec<String>,
}

impl Memory {
    /// A session's checkpoints of these reasons, the newest first. Checkpoints that a process is in the middle of are
    /// left out.
    pub fn changes(&self, name: &str, reasons: &[&str]) -> Result<Vec<ChangeInfo>> {
        let reasons = serde_json::to_string(reasons)?;
        self.read(|conn| {
            let Some(session) = known_session(conn, name)? else { return Ok(Vec::new()) };
            let sql = "SELECT id, task, reason, created, path FROM checkpoints \
                       LEFT JOIN checkpoint_files ON checkpoint = id \
                       WHERE session = ?1 AND owner IS NULL AND reason IN (SELECT value FROM json_each(?2)) \
                       ORDER BY id DESC, path";
            let rows = store::all(conn, sql, (session, &reasons), |row| {
                let (id, task, reason, created) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((ChangeInfo { id, task, reason, created, files: Vec::new() }, row.get::<_, Option<String>>(4)?))
            })?;
            let mut out: Vec<ChangeInfo> = Vec::new();
            for (change, file) in rows {
                if out.last().is_none_or(|last| last.id != change.id) {
                    out.push(change);
                }
                if let (Some(last), Some(file)) = (out.last_mut(), file) {
                    last.files.push(file);
                }
            }
            Ok(out)
        })
    }
}
