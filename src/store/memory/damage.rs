//! Decides whether a file can be trusted, and replaces one that cannot.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::Connection;

use crate::memory::connection_guard::{self, Watch};
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::migrate::{self, MIGRATIONS};
use crate::memory::schema_check;
use crate::memory::store::{BUSY, StoreNotice};
use sextant_base::deadline::Deadline;
use sextant_base::private_files;

/// The depth of the check of a file before it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Trust {
    /// Every page of a small file, the first page of a large one: a start must not take seconds.
    Usual,
    /// Every page: an error was found.
    None,
    /// It holds rows or schema that this program does not write; the text is the reason. It is set aside as it is.
    Refused(String),
}

/// Up to this size, in bytes, every page is checked when a file is opened (about 20 ms).
const SMALL: u64 = 8 << 20;

/// The most times that files are set aside; then somebody has to look.
const ASIDE: u32 = 1000;

/// Opens for writing, and replaces a file that cannot be used. One process at a time: a lock beside the file keeps two
/// from setting it aside or migrating it at once.
///
/// # Errors
/// If a link, a pipe or a folder is in the place of one of our files, or another process keeps the lock for longer than
/// [`BUSY`].
pub(in crate::memory) fn open(path: &Path, trust: Trust) -> Result<((Connection, Watch), Vec<StoreNotice>)> {
    let beside = migrate::beside(path, ".lock");
    let lock = private_files::open(&beside, true).map_err(|error| MemoryError::io(&beside, error))?;
    let deadline = Deadline::after(BUSY);
    private_files::lock(&lock, deadline).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => MemoryError::Busy,
        _ => MemoryError::io(&beside, error),
    })?;

    let mut notices = Vec::new();
    let prepared = match trust {
        Trust::Refused(why) => Err(MemoryError::Damaged(why)),
        trust => prepare(path, &trust, deadline, &mut notices),
    };
    match prepared {
        Err(MemoryError::Damaged(why)) => {
            let to = set_aside(path)?;
            notices.push(StoreNotice::SetAside { to, why });
            let conn = prepare(path, &Trust::Usual, deadline, &mut notices)?;
            Ok((conn, notices))
        }
        other => Ok((other?, notices)),
    }
}

/// Makes the file if it is missing, and checks that it and the files that belong to it are ours.
fn ours(path: &Path) -> Result<()> {
    for (ending, make) in [("", true), ("-wal", false), ("-shm", false), ("-journal", false)] {
        let file = migrate::beside(path, ending);
        // Looked at and not opened: closing it would let go of the locks that SQLite holds on it in this process.
        match private_files::look(&file) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if make {
                    private_files::make(&file).map_err(|error| MemoryError::io(&file, error))?;
                }
            }
            Err(error) => return Err(MemoryError::io(&file, error)),
        }
    }
    Ok(())
}

fn prepare(
    path: &Path,
    trust: &Trust,
    deadline: Deadline,
    notices: &mut Vec<StoreNotice>,
) -> Result<(Connection, Watch)> {
    ours(path)?;
    let (mut conn, watch) = connection_guard::connect(path, true)?;
    conn.busy_timeout(deadline.left())?;
    look(&conn, path, trust, notices)?;
    watch.begin(connection_guard::BARE);
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // Deleted rows are overwritten, so that a forgotten text is gone from the file too.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(64);
    let backup = migrate::migrate(&mut conn, path, MIGRATIONS)?;
    notices.extend(backup.map(|backup| StoreNotice::Migrated { backup }));
    Ok((conn, watch))
}

/// Checks the schema before anything else, then the pages.
fn look(conn: &Connection, path: &Path, trust: &Trust, notices: &mut Vec<StoreNotice>) -> Result<()> {
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "mmap_size", 0)?;
    schema_check::check(conn).map_err(|error| match error {
        // Our own schema is read in a millisecond.
        MemoryError::Slow => MemoryError::Damaged("its schema has no end".to_owned()),
        other => other,
    })?;
    let size = fs::metadata(path).map_or(0, |data| data.len());
    if *trust == Trust::Usual && size > SMALL {
        return Ok(());
    }
    let mut verdict = check(conn)?;
    if verdict.contains("entries_text") {
        // The index can be made again from the entries, which are worth more than the time it takes.
        conn.execute("INSERT INTO entries_text (entries_text) VALUES ('rebuild')", [])?;
        notices.push(StoreNotice::Reindexed { why: std::mem::replace(&mut verdict, check(conn)?) });
    }
    if verdict == "ok" { Ok(()) } else { Err(MemoryError::Damaged(verdict)) }
}

pub(in crate::memory) fn check(conn: &Connection) -> Result<String> {
    Ok(conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

pub(in crate::memory) fn reader(path: &Path) -> Result<(Connection, Watch)> {
    let (conn, watch) = connection_guard::connect(path, false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.busy_timeout(BUSY)?;
    // In KiB when negative: the inner pages of the indices of a million entries.
    conn.pragma_update(None, "cache_size", -32_768)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok((conn, watch))
}

/// Moves the file, and the files that belong to it, to the first free `.damaged-N`.
fn set_aside(path: &Path) -> Result<PathBuf> {
    let free =
        (1..=ASIDE).map(|n| migrate::beside(path, &format!(".damaged-{n}"))).find(|to| to.symlink_metadata().is_err());
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
