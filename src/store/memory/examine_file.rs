//! Checks whether a file is sound, for a user who asks: nothing of it is changed, and nothing set aside.

use std::path::{Path, PathBuf};

use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::{connection_guard, damage, schema_check};
use sextant_base::private_files;

/// Looks at the schema and at every page.
///
/// # Errors
/// The damage of the file ([`MemoryError::is_damage`]), or the reason why it cannot be looked at.
pub fn sound(path: &Path) -> Result<()> {
    private_files::look(path).map_err(|error| MemoryError::io(path, error))?;
    let (conn, watch) = damage::reader(path)?;
    watch.begin(connection_guard::BARE);
    schema_check::check(&conn)?;
    match damage::check(&conn)?.as_str() {
        "ok" => Ok(()),
        verdict => Err(MemoryError::Damaged(verdict.to_owned())),
    }
}

/// The files that lie beside this one since they could not be used.
pub fn set_aside(path: &Path) -> Vec<PathBuf> {
    damage::left(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::store::Memory;

    #[test]
    fn a_damaged_file_is_reported_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        drop(Memory::open(&path).unwrap());
        sound(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0xff);
        std::fs::write(&path, &bytes).unwrap();
        let error = sound(&path).unwrap_err();
        assert!(error.is_damage(), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert!(sound(&dir.path().join("none.db")).is_err());
        std::fs::write(&path, "no database, and long enough to be looked at as one").unwrap();
        assert!(sound(&path).unwrap_err().is_damage());
    }
}
