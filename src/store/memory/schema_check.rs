//! Checks that a file's schema is ours, word for word: foreign schema could run where only data is expected.

use rusqlite::Connection;

use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::migrate::{self, MIGRATIONS, SchemaFound};

/// A table, index or trigger: its kind, name, table, and the statement that made it.
type Object = (String, String, String, Option<String>);

/// More objects than any schema of ours has.
const OBJECTS: i64 = 200;

/// Compares the file's schema with the one that the migrations make from an empty file, up to the file's version.
pub(in crate::memory) fn check(conn: &Connection) -> Result<()> {
    let version = match migrate::inspect(conn, MIGRATIONS.len())? {
        SchemaFound::Empty => return Ok(()),
        SchemaFound::Foreign(why) => return Err(MemoryError::Damaged(why)),
        SchemaFound::Version(version) => version,
    };
    let ours = Connection::open_in_memory()?;
    for step in &MIGRATIONS[..version] {
        ours.execute_batch(step)?;
    }
    let (found, wanted) = (objects(conn)?, objects(&ours)?);
    if let Some(strange) = found.iter().find(|object| !wanted.contains(object)) {
        return Err(MemoryError::Damaged(format!("its {} {:?} is not ours", strange.0, strange.1)));
    }
    match wanted.iter().find(|object| !found.contains(object)) {
        Some(missing) => Err(MemoryError::Damaged(format!("its {} {:?} is missing", missing.0, missing.1))),
        None => Ok(()),
    }
}

fn objects(conn: &Connection) -> Result<Vec<Object>> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name LIMIT ?1";
    let mut question = conn.prepare(sql)?;
    let rows = question.query_map([OBJECTS], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(version: usize) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        for step in &MIGRATIONS[..version] {
            conn.execute_batch(step).unwrap();
        }
        conn.pragma_update(None, "user_version", version as i64).unwrap();
        conn
    }

    #[test]
    fn every_version_of_ours_is_known_and_an_empty_file_is_fine() {
        check(&Connection::open_in_memory().unwrap()).unwrap();
        for version in 1..=MIGRATIONS.len() {
            check(&ours(version)).unwrap();
        }
    }

    #[test]
    fn a_view_a_trigger_another_column_or_a_missing_table_is_not_ours() {
        for (change, name) in [
            ("CREATE VIEW v AS SELECT 1", "v"),
            ("CREATE TRIGGER t AFTER INSERT ON tasks BEGIN DELETE FROM entries; END", "t"),
            ("ALTER TABLE runs ADD COLUMN more TEXT", "runs"),
            ("CREATE TABLE more (a)", "more"),
            ("DROP TABLE preferences; CREATE VIEW preferences AS SELECT '' AS project", "preferences"),
            ("DROP TABLE learnings", "learnings"),
            ("DROP TRIGGER entries_changed", "entries_changed"),
        ] {
            let conn = ours(MIGRATIONS.len());
            conn.execute_batch(change).unwrap();
            let error = check(&conn).unwrap_err();
            assert!(error.is_damage() && error.to_string().contains(name), "{change}: {error}");
        }
    }
}
