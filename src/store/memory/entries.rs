//! Keeps entries and reads them by number: every acknowledged entry is in the file.

use rusqlite::{Connection, OptionalExtension};

use crate::memory::entry::{COLUMNS, Entry, EntryId, Kind, NewEntry, from_row};
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::{self, Memory};
use sextant_base::given_secrets::hide_given;

/// The number of newest entries that are searched for the end of a chat.
pub const RECENT: i64 = 1000;

/// The relevance that use and feedback can give an entry: the range keeps any single one from deciding alone for ever.
pub const RELEVANCE: std::ops::RangeInclusive<f64> = 0.01..=3.0;

/// The relevance from which on an entry is recalled. Every entry begins with it at least, and only an undo takes one
/// below it.
pub const RECALLED: f64 = 1.0;

impl Memory {
    pub fn append(&self, entry: NewEntry) -> Result<EntryId> {
        entry.check()?;
        self.write(move |conn| insert(conn, &entry))
    }

    /// Keeps all of them or none, in one transaction; the numbers come in the order of the entries.
    pub fn append_all(&self, entries: Vec<NewEntry>) -> Result<Vec<EntryId>> {
        entries.iter().try_for_each(NewEntry::check)?;
        self.write(move |conn| entries.iter().map(|entry| insert(conn, entry)).collect())
    }

    pub fn entry(&self, id: EntryId) -> Result<Option<Entry>> {
        self.read(|conn| {
            let sql = format!(
                "SELECT {COLUMNS} FROM entries JOIN sessions ON sessions.id = entries.session WHERE entries.id = ?1"
            );
            Ok(conn.prepare_cached(&sql)?.query_row([id.0], from_row).optional()?)
        })
    }

    /// The newest entries of a session, oldest first: the chat as it went.
    ///
    /// Without kinds, entries of all kinds.
    pub fn history(&self, session: &str, kinds: &[Kind], limit: usize) -> Result<Vec<Entry>> {
        let kinds = serde_json::to_string(kinds)?;
        self.read(|conn| {
            let sql = format!(
                "SELECT {COLUMNS} FROM entries JOIN sessions ON sessions.id = entries.session \
                 WHERE entries.session = (SELECT id FROM sessions WHERE name = ?1) \
                 AND (?2 = '[]' OR entries.kind IN (SELECT value FROM json_each(?2))) \
                 ORDER BY +entries.id DESC LIMIT ?3"
            );
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut entries = store::all(conn, &sql, (session, &kinds, limit), from_row)?;
            entries.reverse();
            Ok(entries)
        })
    }

    /// The end of a session's chat, oldest first, as far as it is among the newest [`RECENT`] entries of the file:
    /// unlike [`Memory::history`] its cost does not grow with the session.
    pub fn recent_chat(&self, session: &str, limit: usize) -> Result<Vec<Entry>> {
        self.read(|conn| {
            let sql = format!(
                "SELECT {COLUMNS} FROM (SELECT * FROM entries ORDER BY id DESC LIMIT ?3) AS entries \
                 CROSS JOIN sessions ON sessions.id = entries.session \
                 WHERE entries.kind = ?2 AND sessions.name = ?1 ORDER BY entries.id DESC LIMIT ?4"
            );
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut entries = store::all(conn, &sql, (session, Kind::Chat, RECENT, limit), from_row)?;
            entries.reverse();
            Ok(entries)
        })
    }

    /// Multiplies the relevance of entries, as they prove useful (more than 1) or not: below [`RECALLED`] they are left out.
    /// It stays within [`RELEVANCE`]. Missing entries are skipped.
    pub fn weigh(&self, ids: Vec<EntryId>, factor: f64) -> Result<()> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(MemoryError::invalid("factor", "it is not a positive number"));
        }
        if ids.is_empty() {
            return Ok(());
        }
        let ids = serde_json::to_string(&ids)?;
        self.write(move |conn| {
            let sql = "UPDATE entries SET relevance = min(max(relevance * ?2, ?3), ?4) \
                       WHERE id IN (SELECT value FROM json_each(?1))";
            conn.execute(sql, (&ids, factor, RELEVANCE.start(), RELEVANCE.end()))?;
            Ok(())
        })
    }

    /// The last number given out: every later entry has a larger one. A checkpoint's memory mark.
    pub fn mark(&self) -> Result<EntryId> {
        self.read(mark)
    }

    pub fn entry_count(&self) -> Result<u64> {
        self.read(|conn| {
            Ok(conn.query_row("SELECT count(*) FROM entries", [], |row| row.get::<_, i64>(0))?.unsigned_abs())
        })
    }
}

pub(in crate::memory) fn mark(conn: &Connection) -> Result<EntryId> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'entries'), 0)";
    Ok(EntryId(conn.query_row(sql, [], |row| row.get(0))?))
}

/// The session's number in the file, given out on first use.
pub(in crate::memory) fn session(conn: &Connection, name: &str) -> Result<i64> {
    if name.is_empty() {
        return Err(MemoryError::invalid("session", "it is empty"));
    }
    if let Some(id) = known_session(conn, name)? {
        return Ok(id);
    }
    conn.prepare_cached("INSERT INTO sessions (name) VALUES (?1)")?.execute([name])?;
    Ok(conn.last_insert_rowid())
}

pub(in crate::memory) fn known_session(conn: &Connection, name: &str) -> Result<Option<i64>> {
    let mut find = conn.prepare_cached("SELECT id FROM sessions WHERE name = ?1")?;
    Ok(find.query_row([name], |row| row.get(0)).optional()?)
}

fn insert(conn: &Connection, entry: &NewEntry) -> Result<EntryId> {
    let session = session(conn, &entry.session)?;
    let sql = "INSERT INTO entries (session, mode, kind, role, content, tools, files, relevance, related, timestamp) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    conn.prepare_cached(sql)?.execute((
        session,
        entry.mode,
        entry.kind,
        entry.role,
        hide_given(&entry.content),
        serde_json::to_string(&entry.tools)?,
        serde_json::to_string(&entry.files)?,
        entry.relevance,
        serde_json::to_string(&entry.related)?,
        entry.timestamp,
    ))?;
    Ok(EntryId(conn.last_insert_rowid()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::entry::Mode;

    #[test]
    fn the_end_of_a_chat_is_found_among_other_entries_and_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let entry = |session: &str, kind, text: &str| NewEntry::new(session, Mode::Simple, kind, text, 1);
        let mut all = vec![entry("s", Kind::Chat, "too old")];
        all.extend((0..RECENT - 3).map(|_| entry("s", Kind::Error, "x")));
        all.extend([entry("s", Kind::Chat, "one"), entry("t", Kind::Chat, "other"), entry("s", Kind::Chat, "two")]);
        memory.append_all(all).unwrap();
        let texts = |limit| {
            let chat = memory.recent_chat("s", limit).unwrap();
            chat.into_iter().map(|entry| entry.entry.content).collect::<Vec<_>>()
        };
        assert_eq!(texts(9), ["one", "two"]);
        assert_eq!(texts(1), ["two"]);
        assert_eq!(memory.recent_chat("nobody", 9).unwrap(), []);
    }
}
