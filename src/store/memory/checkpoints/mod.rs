//! States to go back to: the files of a step before and after it, the session's state, the memory's mark.
//!
//! Nothing is applied here: [`Memory::checkpoint`] gives the data, and the caller decides.

mod blobs;
pub mod changes;
mod open_checkpoints;
mod size_limit;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::entries::{known_session, mark, session};
use crate::memory::entry::EntryId;
use crate::memory::kept_words::without_secrets_beside_texts;
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::unsigned;
use crate::memory::store::{self, Memory};
use sextant_base::plural::counted;

pub(in crate::memory) use blobs::{get as content, sweep};
pub use size_limit::{Cleaned, CleanedTask};

/// The state of a file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The file did not exist.
    Absent,
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFile {
    /// Relative to the root, with `/`.
    pub path: String,
    pub before: FileState,
    /// `None` until [`Memory::close_checkpoint`] sets it.
    pub after: Option<FileState>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckpoint {
    pub session: String,
    pub task: String,
    pub step: u32,
    pub reason: String,
    /// The data that the session needs to go on from here.
    pub state: Value,
    pub files: Vec<CheckpointFile>,
    /// The unique name of the call that makes it.
    pub once: Option<String>,
    /// Milliseconds since 1970.
    pub created: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointInfo {
    pub id: i64,
    pub session: String,
    pub task: String,
    pub step: u32,
    pub reason: String,
    /// Every entry of memory that is newer has a larger number.
    pub mark: EntryId,
    pub files: u64,
    pub created: i64,
    pub last_used: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredCheckpoint {
    pub info: CheckpointInfo,
    pub state: Value,
    /// By path.
    pub files: Vec<CheckpointFile>,
}

/// The most bytes of contents that one checkpoint is read with, unpacked, and the most files.
const CONTENTS: u64 = 256 << 20;
const FILES: u64 = 5000;

const INFO: &str = "SELECT checkpoints.id, sessions.name, task, step, reason, mark, created, last_used, \
    (SELECT count(*) FROM checkpoint_files WHERE checkpoint = checkpoints.id), once FROM checkpoints JOIN sessions ON sessions.id = checkpoints.session";

impl Memory {
    /// Keeps a checkpoint whole or not at all. Contents that are kept already are not stored again.
    pub fn add_checkpoint(&self, new: NewCheckpoint) -> Result<i64> {
        self.keep_checkpoint(new, None)
    }

    fn keep_checkpoint(&self, mut new: NewCheckpoint, owner: Option<String>) -> Result<i64> {
        without_secrets_beside_texts(&mut new.state);
        self.write(move |conn| {
            let session = session(conn, &new.session)?;
            let sql = "INSERT INTO checkpoints (session, task, step, reason, state, mark, created, last_used, owner, once) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9)";
            // Contents before the rows that name them.
            let blobs: Vec<(Option<i64>, Option<Option<i64>>)> = new
                .files
                .iter()
                .map(|file| {
                    Ok((put(conn, &file.before)?, file.after.as_ref().map(|after| put(conn, after)).transpose()?))
                })
                .collect::<Result<_>>()?;
            let state = serde_json::to_string(&new.state)?;
            let mark = mark(conn)?.0;
            let row = (session, &new.task, new.step, &new.reason, state, mark, new.created, &owner, &new.once);
            conn.execute(sql, row)?;
            let id = conn.last_insert_rowid();
            let sql = "INSERT INTO checkpoint_files (checkpoint, path, before_blob, after_known, after_blob) \
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            for (file, (before, after)) in new.files.iter().zip(blobs) {
                conn.prepare_cached(sql)?.execute((id, &file.path, before, after.is_some(), after.flatten()))?;
            }
            Ok(id)
        })
    }

    /// The whole checkpoint; it counts as used now.
    pub fn checkpoint(&self, id: i64, now_ms: i64) -> Result<StoredCheckpoint> {
        self.write(move |conn| {
            conn.execute("UPDATE checkpoints SET last_used = max(last_used, ?2) WHERE id = ?1", (id, now_ms))?;
            let found = conn.prepare_cached(&format!("{INFO} WHERE checkpoints.id = ?1"))?.query_row([id], info);
            let info = found.optional()?.ok_or(MemoryError::NotFound { what: "checkpoint", id })?;
            let sql = "SELECT state FROM checkpoints WHERE id = ?1";
            let state: String = conn.prepare_cached(sql)?.query_row([id], |row| row.get(0))?;
            let sql = "SELECT coalesce(sum(max(blobs.size, octet_length(blobs.bytes))), 0) FROM checkpoint_files \
                       JOIN blobs ON blobs.id IN (before_blob, after_blob) WHERE checkpoint = ?1";
            let bytes = conn.prepare_cached(sql)?.query_row([id], |row| unsigned(row, 0))?;
            if bytes > CONTENTS || info.files > FILES {
                let problem = format!("{} of {} MB in all: more than it may hold", counted(info.files, "file"), bytes >> 20);
                return Err(MemoryError::invalid("checkpoint", problem));
            }
            let sql = "SELECT path, before_blob, after_known, after_blob FROM checkpoint_files WHERE checkpoint = ?1 ORDER BY path";
            let rows = store::all(conn, sql, [id], |row| {
                let blobs: (Option<i64>, bool, Option<i64>) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((row.get::<_, String>(0)?, blobs))
            })?;
            let mut files = Vec::with_capacity(rows.len());
            for (path, (before, known, after)) in rows {
                let after = if known { Some(get(conn, after)?) } else { None };
                files.push(CheckpointFile { path, before: get(conn, before)?, after });
            }
            Ok(StoredCheckpoint { info, state: serde_json::from_str(&state)?, files })
        })
    }

    /// A session's checkpoints, oldest first; only those of one task if `task` is given.
    pub fn checkpoints(&self, name: &str, task: Option<&str>) -> Result<Vec<CheckpointInfo>> {
        self.read(|conn| {
            let Some(session) = known_session(conn, name)? else { return Ok(Vec::new()) };
            let sql = format!("{INFO} WHERE session = ?1 AND (?2 IS NULL OR task = ?2) ORDER BY checkpoints.id");
            store::all(conn, &sql, (session, task), info)
        })
    }
}

/// Records the state of the files after the step. A file that the checkpoint does not know is an error.
fn finish(conn: &Connection, id: i64, after: &[(String, FileState)]) -> Result<()> {
    for (path, state) in after {
        let blob = put(conn, state)?;
        let sql = "UPDATE checkpoint_files SET after_known = 1, after_blob = ?3 WHERE checkpoint = ?1 AND path = ?2";
        if conn.prepare_cached(sql)?.execute((id, path, blob))? == 0 {
            return Err(MemoryError::invalid("path", format!("checkpoint {id} does not hold {path}")));
        }
    }
    Ok(())
}

fn info(row: &Row<'_>) -> rusqlite::Result<CheckpointInfo> {
    Ok(CheckpointInfo {
        id: row.get(0)?,
        session: row.get(1)?,
        task: row.get(2)?,
        step: row.get(3)?,
        reason: row.get(4)?,
        mark: EntryId(row.get(5)?),
        created: row.get(6)?,
        last_used: row.get(7)?,
        files: unsigned(row, 8)?,
        once: row.get(9)?,
    })
}

fn put(conn: &Connection, state: &FileState) -> Result<Option<i64>> {
    match state {
        FileState::Absent => Ok(None),
        FileState::Bytes(bytes) => Ok(Some(blobs::put(conn, bytes)?)),
    }
}

fn get(conn: &Connection, blob: Option<i64>) -> Result<FileState> {
    Ok(match blob {
        None => FileState::Absent,
        Some(id) => FileState::Bytes(blobs::get(conn, id)?),
    })
}

#[cfg(test)]
mod tests;
