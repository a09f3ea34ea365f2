//! The files that memory's entries are about.

use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};

impl Memory {
    /// The files that the newest entries are about, the most named first; of equals the one named last.
    pub fn used_files(&self, entries: usize) -> Result<Vec<String>> {
        let entries = i64::try_from(entries).unwrap_or(i64::MAX);
        let lists = self.read(|conn| {
            let sql = "SELECT files FROM entries ORDER BY id DESC LIMIT ?1";
            store::all(conn, sql, [entries], |row| row.get::<_, String>(0))
        })?;
        let mut counts: Vec<(String, usize)> = Vec::new();
        for file in lists.iter().flat_map(|list| serde_json::from_str::<Vec<String>>(list).unwrap_or_default()) {
            match counts.iter_mut().find(|(known, _)| *known == file) {
                Some((_, count)) => *count += 1,
                None => counts.push((file, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(counts.into_iter().map(|(file, _)| file).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_named_file_comes_first() {
        use crate::memory::entry::{Kind, Mode, NewEntry};
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        for files in [&["a.py"][..], &["b.py", "c.py"], &["c.py"], &[]] {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            memory.append(NewEntry { files, ..NewEntry::new("s", Mode::Simple, Kind::Error, "x", 1) }).unwrap();
        }
        assert_eq!(memory.used_files(100).unwrap(), ["c.py", "b.py", "a.py"]);
        assert_eq!(memory.used_files(2).unwrap(), ["c.py"]);
    }
}
