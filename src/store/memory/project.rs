//! The known files and commands of a project. Others scan; this file keeps the results and answers queries.

use std::collections::BTreeMap;

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFact {
    /// Relative to the root, with `/`.
    pub path: String,
    /// Empty if unknown.
    pub language: String,
    pub bytes: u64,
    pub symbols: u32,
    /// The file's own time and the scan's, in milliseconds since 1970.
    pub modified: i64,
    pub scanned: i64,
}

/// A way to build, test or check that the project itself names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFact {
    pub name: String,
    pub command: String,
    /// The file that names it.
    pub found_in: String,
    pub scanned: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFacts {
    pub files: u64,
    pub bytes: u64,
    pub symbols: u64,
    /// Files by language.
    pub languages: BTreeMap<String, u64>,
    pub commands: Vec<CommandFact>,
    /// The latest scan of any file.
    pub scanned: Option<i64>,
}

impl Memory {
    /// Keeps the results of a scan; a file that is known already is replaced.
    pub fn put_files(&self, project: &str, files: Vec<FileFact>) -> Result<()> {
        let project = project.to_owned();
        self.write(move |conn| {
            let sql = "INSERT OR REPLACE INTO project_files (project, path, language, bytes, symbols, modified, scanned) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let mut put = conn.prepare_cached(sql)?;
            for file in &files {
                let bytes = i64::try_from(file.bytes).unwrap_or(i64::MAX);
                put.execute((&project, &file.path, &file.language, bytes, file.symbols, file.modified, file.scanned))?;
            }
            Ok(())
        })
    }

    /// Forgets files that are gone; returns how many of them were known.
    pub fn remove_files(&self, project: &str, paths: Vec<String>) -> Result<usize> {
        let project = project.to_owned();
        self.write(move |conn| {
            let mut remove = conn.prepare_cached("DELETE FROM project_files WHERE project = ?1 AND path = ?2")?;
            paths.iter().try_fold(0, |sum, path| Ok(sum + remove.execute((&project, path))?))
        })
    }

    /// Every known file, by path.
    pub fn files(&self, project: &str) -> Result<Vec<FileFact>> {
        self.read(|conn| {
            let sql = "SELECT path, language, bytes, symbols, modified, scanned FROM project_files \
                       WHERE project = ?1 ORDER BY path";
            store::all(conn, sql, [project], file)
        })
    }

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

    /// Replaces the project's commands by these.
    pub fn set_commands(&self, project: &str, commands: Vec<CommandFact>) -> Result<()> {
        let project = project.to_owned();
        self.write(move |conn| {
            conn.execute("DELETE FROM project_commands WHERE project = ?1", [&project])?;
            let sql = "INSERT OR REPLACE INTO project_commands (project, name, command, found_in, scanned) \
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            for one in &commands {
                conn.prepare_cached(sql)?.execute((&project, &one.name, &one.command, &one.found_in, one.scanned))?;
            }
            Ok(())
        })
    }

    pub fn project_facts(&self, project: &str) -> Result<ProjectFacts> {
        self.read(|conn| {
            let sql = "SELECT name, command, found_in, scanned FROM project_commands WHERE project = ?1 ORDER BY name";
            let commands = store::all(conn, sql, [project], |row| {
                let (name, command, found_in) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(CommandFact { name, command, found_in, scanned: row.get(3)? })
            })?;
            let sql = "SELECT language, count(*), sum(bytes), sum(symbols), max(scanned) FROM project_files \
                       WHERE project = ?1 GROUP BY language";
            let rows = store::all(conn, sql, [project], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    unsigned(row, 1)?,
                    unsigned(row, 2)?,
                    unsigned(row, 3)?,
                    row.get::<_, i64>(4)?,
                ))
            })?;
            let mut out = ProjectFacts { commands, ..ProjectFacts::default() };
            for (language, files, bytes, symbols, scanned) in rows {
                out.files += files;
                out.bytes += bytes;
                out.symbols += symbols;
                out.languages.insert(language, files);
                out.scanned = out.scanned.max(Some(scanned));
            }
            Ok(out)
        })
    }
}

fn file(row: &Row<'_>) -> rusqlite::Result<FileFact> {
    let (path, language, bytes) = (row.get(0)?, row.get(1)?, unsigned(row, 2)?);
    Ok(FileFact { path, language, bytes, symbols: row.get(3)?, modified: row.get(4)?, scanned: row.get(5)? })
}

/// A count; the file holds signed numbers only.
pub(in crate::memory) fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_scan_replaces_what_was_known() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let fact = |path: &str, symbols, scanned| FileFact {
            path: path.to_owned(),
            language: "python".to_owned(),
            bytes: 10,
            symbols,
            modified: 1,
            scanned,
        };
        memory.put_files("p", vec![fact("a.py", 3, 1), fact("b.py", 4, 1)]).unwrap();
        memory.put_files("p", vec![fact("a.py", 5, 2)]).unwrap();
        memory.put_files("q", vec![fact("a.py", 100, 9)]).unwrap();
        let command = |name: &str| CommandFact {
            name: name.into(),
            command: "x".into(),
            found_in: "Makefile".into(),
            scanned: 1,
        };
        memory.set_commands("p", vec![command("test"), command("lint")]).unwrap();
        memory.set_commands("p", vec![command("build")]).unwrap();

        let facts = memory.project_facts("p").unwrap();
        assert_eq!((facts.files, facts.bytes, facts.symbols, facts.scanned), (2, 20, 9, Some(2)));
        assert_eq!(facts.languages.get("python"), Some(&2));
        assert_eq!(facts.commands, [command("build")]);
        assert_eq!(memory.remove_files("p", vec!["a.py".into(), "never".into()]).unwrap(), 1);
        assert_eq!(memory.files("p").unwrap(), [fact("b.py", 4, 1)]);
    }

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
