//! Changes under way: a checkpoint is open from before the change until its result is known.

use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

use crate::memory::checkpoints::{FileState, NewCheckpoint, finish, sweep};
use crate::memory::kept_words::without_secrets_beside_texts;
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::{self, Memory};
use crate::memory::tasks;

/// The most changes that can be open at once: one for each dead process, and one for each running process.
const OPEN: i64 = 200;

impl Memory {
    /// Keeps a checkpoint of a change that `owner` is about to make. Its files name the intended result, so that a
    /// reader of an open checkpoint can see how far the change came.
    pub fn open_checkpoint(&self, new: NewCheckpoint, owner: &str) -> Result<i64> {
        self.keep_checkpoint(new, Some(owner.to_owned()))
    }

    /// Closes the checkpoint of a finished change, with the present state of the files and the new state if there is
    /// one. The same transaction drops the checkpoints `gone`, which the change has taken back.
    pub fn close_checkpoint(
        &self,
        id: i64,
        after: Vec<(String, FileState)>,
        mut state: Value,
        gone: Vec<i64>,
    ) -> Result<()> {
        without_secrets_beside_texts(&mut state);
        let state = serde_json::to_string(&state)?;
        self.write(move |conn| {
            finish(conn, id, &after)?;
            let sql = "UPDATE checkpoints SET state = ?2, owner = NULL WHERE id = ?1";
            if conn.execute(sql, (id, &state))? == 0 {
                return Err(MemoryError::NotFound { what: "checkpoint", id });
            }
            drop_all(conn, &gone)
        })
    }

    /// Takes over an open checkpoint of a process that is gone; false if another process has done so.
    pub fn take_checkpoint(&self, id: i64, from: &str, to: &str) -> Result<bool> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.write(move |conn| {
            let sql = "UPDATE checkpoints SET owner = ?3 WHERE id = ?1 AND owner = ?2";
            Ok(conn.execute(sql, (id, &from, &to))? == 1)
        })
    }

    /// Drops checkpoints; a missing one is not an error.
    pub fn drop_checkpoints(&self, ids: Vec<i64>) -> Result<()> {
        self.write(move |conn| drop_all(conn, &ids))
    }

    /// The checkpoint of the call with this name, and the process that is in the middle of it.
    pub fn checkpoint_once(&self, once: &str) -> Result<Option<(i64, Option<String>)>> {
        self.read(|conn| {
            let sql = "SELECT id, owner FROM checkpoints WHERE once = ?1 ORDER BY id DESC LIMIT 1";
            let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
            let found = conn.prepare_cached(sql)?.query_row([once], read).optional()?;
            found.iter().filter_map(|(_, owner)| owner.as_deref()).try_for_each(tasks::sound)?;
            Ok(found)
        })
    }

    /// The open checkpoints of all sessions with the processes that opened them, oldest first.
    pub fn open_checkpoints(&self) -> Result<Vec<(i64, String)>> {
        self.read(|conn| {
            let sql = "SELECT id, owner FROM checkpoints WHERE owner IS NOT NULL ORDER BY id LIMIT ?1";
            let open: Vec<(i64, String)> = store::all(conn, sql, [OPEN + 1], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if i64::try_from(open.len()).is_ok_and(|count| count > OPEN) {
                return Err(MemoryError::Foreign(format!("more than {OPEN} changes are open in it")));
            }
            open.iter().try_for_each(|(_, owner)| tasks::sound(owner))?;
            Ok(open)
        })
    }
}

fn drop_all(conn: &Connection, ids: &[i64]) -> Result<()> {
    for id in ids {
        conn.prepare_cached("DELETE FROM checkpoints WHERE id = ?1")?.execute([id])?;
    }
    if !ids.is_empty() {
        sweep(conn)?;
    }
    Ok(())
}
