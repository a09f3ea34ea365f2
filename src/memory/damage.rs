//! Whether a file can be trusted, and what becomes of one that cannot.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::memory::error::{MemoryError, Result};
use crate::memory::migrate::{self, Found, MIGRATIONS};
use crate::memory::store::{BUSY, Notice};

/// How closely a file is looked at before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Trust {
    /// Every page of a small file, the first page of a large one: a start must not take seconds.
    Usual,
    /// Every page: something was found wrong.
    None,
}

/// Up to this size, in bytes, every page is checked when a file is opened (about 20 ms).
const SMALL: u64 = 8 << 20;

/// Set aside at most so many times; then somebody has to look.
const ASIDE: u32 = 1000;

/// Opens for writing, and replaces what cannot be used. One process at a time: a lock beside the file
/// keeps two from setting it aside or migrating it at once.
pub(in crate::memory) fn open(path: &Path, trust: Trust) -> Result<(Connection, Vec<Notice>)> {
    let beside = migrate::beside(path, ".lock");
    let lock = File::create(&beside).map_err(|error| MemoryError::io(&beside, error))?;
    lock.lock().map_err(|error| MemoryError::io(&beside, error))?;

    let mut notices = Vec::new();
    match prepare(path, trust, &mut notices) {
        Err(MemoryError::Damaged(why)) => {
            let to = set_aside(path)?;
            notices.push(Notice::SetAside { to, why });
            let conn = prepare(path, Trust::Usual, &mut notices)?;
            Ok((conn, notices))
        }
        other => Ok((other?, notices)),
    }
}

fn prepare(path: &Path, trust: Trust, notices: &mut Vec<Notice>) -> Result<Connection> {
    let mut conn = Connection::open(path)?;
    conn.busy_timeout(BUSY)?;
    if let Found::Foreign(why) = migrate::inspect(&conn, MIGRATIONS.len())? {
        return Err(MemoryError::Damaged(why));
    }
    let size = fs::metadata(path).map_or(0, |data| data.len());
    if trust == Trust::None || size <= SMALL {
        let mut verdict = check(&conn)?;
        if verdict.contains("entries_text") {
            // The index can be made again from the entries, which are worth more than the time it takes.
            conn.execute("INSERT INTO entries_text (entries_text) VALUES ('rebuild')", [])?;
            notices.push(Notice::Reindexed { why: std::mem::replace(&mut verdict, check(&conn)?) });
        }
        if verdict != "ok" {
            return Err(MemoryError::Damaged(verdict));
        }
    }
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // What is deleted is overwritten, so that a forgotten text is gone from the file too.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(64);
    let backup = migrate::migrate(&mut conn, path, MIGRATIONS)?;
    notices.extend(backup.map(|backup| Notice::Migrated { backup }));
    complete(&conn)?;
    Ok(conn)
}

fn check(conn: &Connection) -> Result<String> {
    Ok(conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

/// A file with the right version and without its tables cannot be used.
fn complete(conn: &Connection) -> Result<()> {
    for table in ["entries", "entries_text", "preferences", "checkpoints", "blobs", "runs", "trace"] {
        let sql = format!("SELECT 1 FROM {table} LIMIT 0");
        conn.prepare(&sql).map_err(|error| match MemoryError::from(error) {
            MemoryError::Storage(why) => MemoryError::Damaged(why),
            other => other,
        })?;
    }
    Ok(())
}

pub(in crate::memory) fn reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY)?;
    // In KiB when negative: the inner pages of the indices of a million entries.
    conn.pragma_update(None, "cache_size", -32_768)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// Moves the file and what belongs to it to the first free `.damaged-N`.
fn set_aside(path: &Path) -> Result<PathBuf> {
    let free = (1..=ASIDE).map(|n| migrate::beside(path, &format!(".damaged-{n}"))).find(|to| !to.exists());
    let to = free.ok_or_else(|| MemoryError::invalid("path", format!("{ASIDE} damaged files lie beside it")))?;
    for ending in ["-wal", "-shm", ""] {
        let from = migrate::beside(path, ending);
        match fs::rename(&from, migrate::beside(&to, ending)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(MemoryError::io(&from, error)),
            _ => {}
        }
    }
    Ok(to)
}

/// Files that were set aside and still lie there.
pub(in crate::memory) fn left(path: &Path) -> Vec<PathBuf> {
    (1..=ASIDE).map(|n| migrate::beside(path, &format!(".damaged-{n}"))).take_while(|to| to.exists()).collect()
}
