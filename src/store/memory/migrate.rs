//! Finds the schema of a file, and migrates an older one to today's without losing the older file.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::memory::memory_error::{MemoryError, Result};

/// The steps from an empty file to today's schema; `user_version` counts those that were taken.
pub(in crate::memory) const MIGRATIONS: &[&str] = &[
    include_str!("schema/001_entries.sql"),
    include_str!("schema/002_knowledge.sql"),
    include_str!("schema/003_checkpoints.sql"),
    include_str!("schema/004_metrics.sql"),
    include_str!("schema/005_tasks.sql"),
    include_str!("schema/006_traces.sql"),
    include_str!("schema/007_cached.sql"),
    include_str!("schema/008_apart.sql"),
    include_str!("schema/009_used_files.sql"),
];

/// Marks a file as ours (`PRAGMA application_id`): "SXT1" in ASCII, set by the first migration.
pub(in crate::memory) const APPLICATION: i64 = 1_398_297_649;

/// The kind of a file, found before anything is done with it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::memory) enum SchemaFound {
    Empty,
    /// Ours, with so many steps taken.
    Version(usize),
    /// Must not be written to; the text is the reason.
    Foreign(String),
}

pub(in crate::memory) fn inspect(conn: &Connection, known: usize) -> Result<SchemaFound> {
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version == 0 && objects == 0 {
        return Ok(SchemaFound::Empty);
    }
    if application != APPLICATION {
        return Ok(SchemaFound::Foreign("it belongs to another program".to_owned()));
    }
    match usize::try_from(version) {
        Ok(version) if version <= known => Ok(SchemaFound::Version(version)),
        _ => Ok(SchemaFound::Foreign(format!("its schema {version} is newer than this program's {known}"))),
    }
}

/// Takes the missing steps in one transaction; a file with content is copied first.
///
/// Returns the copy. If a step fails, the file stays unchanged.
pub(in crate::memory) fn migrate(conn: &mut Connection, path: &Path, steps: &[&str]) -> Result<Option<PathBuf>> {
    let taken: usize = match inspect(conn, steps.len())? {
        SchemaFound::Empty => 0,
        SchemaFound::Version(version) => version,
        SchemaFound::Foreign(why) => return Err(MemoryError::Damaged(why)),
    };
    if taken == steps.len() {
        return Ok(None);
    }
    let copy = if taken > 0 { Some(back_up(conn, path, taken)?) } else { None };
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in &steps[taken..] {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "user_version", i64::try_from(steps.len()).unwrap_or(i64::MAX))?;
    tx.commit()?;
    Ok(copy)
}

/// Only a whole copy gets the name.
fn back_up(conn: &Connection, path: &Path, version: usize) -> Result<PathBuf> {
    let copy = beside(path, &format!(".backup-{version}"));
    let partial = beside(path, &format!(".backup-{version}.partial"));
    for old in [&partial, &copy] {
        if let Err(error) = fs::remove_file(old)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(MemoryError::io(old, error));
        }
    }
    let name = partial.to_str().ok_or_else(|| MemoryError::invalid("path", "it is not UTF-8"))?;
    conn.execute("VACUUM INTO ?1", [name])?;
    fs::rename(&partial, &copy).map_err(|error| MemoryError::io(&copy, error))?;
    Ok(copy)
}

/// The same path with a suffix after the file's name.
pub(in crate::memory) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Copies of older schemas that lie beside the file.
pub(in crate::memory) fn backups(path: &Path) -> Vec<PathBuf> {
    (1..MIGRATIONS.len())
        .flat_map(|version| [format!(".backup-{version}"), format!(".backup-{version}.partial")])
        .map(|ending| beside(path, &ending))
        .filter(|copy| copy.exists())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(conn: &Connection) -> i64 {
        conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_file_is_copied_and_brought_up_step_by_step() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.db");
        let mut conn = Connection::open(&path).unwrap();
        assert_eq!(migrate(&mut conn, &path, &MIGRATIONS[..1]).unwrap(), None, "nothing to lose, nothing copied");
        conn.execute("INSERT INTO sessions (name) VALUES ('kept')", []).unwrap();

        let copy = migrate(&mut conn, &path, MIGRATIONS).unwrap().expect("a copy");
        assert_eq!(version(&conn), MIGRATIONS.len() as i64);
        conn.query_row("SELECT id FROM sessions WHERE name = 'kept'", [], |_| Ok(())).unwrap();
        conn.query_row("SELECT count(*) FROM runs", [], |_| Ok(())).unwrap();

        let old = Connection::open(&copy).unwrap();
        assert_eq!(version(&old), 1);
        old.query_row("SELECT id FROM sessions WHERE name = 'kept'", [], |_| Ok(())).unwrap();
        assert_eq!(migrate(&mut conn, &path, MIGRATIONS).unwrap(), None, "a second time nothing is left to do");
        assert_eq!(backups(&path), vec![copy]);
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.db");
        let mut conn = Connection::open(&path).unwrap();
        migrate(&mut conn, &path, &MIGRATIONS[..1]).unwrap();
        let steps = [MIGRATIONS[0], "CREATE TABLE half (a INTEGER) STRICT; CREATE TABLE sessions (a INTEGER) STRICT;"];
        assert!(migrate(&mut conn, &path, &steps).is_err());
        assert_eq!(version(&conn), 1);
        assert!(conn.query_row("SELECT count(*) FROM half", [], |_| Ok(())).is_err());
    }

    #[test]
    fn a_newer_schema_and_a_stranger_are_distinguished_from_ours() {
        let conn = Connection::open_in_memory().unwrap();
        assert_eq!(inspect(&conn, 4).unwrap(), SchemaFound::Empty);
        conn.execute_batch("CREATE TABLE a (b INTEGER)").unwrap();
        assert!(matches!(inspect(&conn, 4).unwrap(), SchemaFound::Foreign(_)));
        conn.pragma_update(None, "application_id", APPLICATION).unwrap();
        assert_eq!(inspect(&conn, 4).unwrap(), SchemaFound::Version(0));
        conn.pragma_update(None, "user_version", 5).unwrap();
        assert!(matches!(inspect(&conn, 4).unwrap(), SchemaFound::Foreign(why) if why.contains("newer")));
    }
}
