//! The trace of causes in each task: kept whole, entry by entry, for the last tasks of the file.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::memory::entries::{known_session, session};
use crate::memory::memory_error::Result;
use crate::memory::store::{self, Memory};
use sextant_base::given_secrets::GivenSecrets;

/// Tasks whose entries are kept.
const TASKS: i64 = 1000;

/// One entry of a task's trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedEntry {
    /// Counted from 1; 0 while a plan is made.
    pub step: u32,
    /// The call inside of a plan's step, counted from 1.
    pub call: Option<u32>,
    pub effect: String,
    pub about: String,
    pub rule: String,
    pub reason: String,
}

/// A task that has a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedTask {
    pub task: String,
    pub request: String,
    pub entries: u64,
}

impl Memory {
    /// Adds entries to the trace of a task, behind the existing ones.
    pub fn add_traced(&self, name: &str, task: &str, request: &str, entries: Vec<TracedEntry>) -> Result<()> {
        let given = GivenSecrets::of([request]);
        let (name, task, request) = (name.to_owned(), task.to_owned(), given.hide(request).into_owned());
        let hide = |entry: TracedEntry| TracedEntry {
            about: given.hide(&entry.about).into_owned(),
            reason: given.hide(&entry.reason).into_owned(),
            ..entry
        };
        let entries: Vec<TracedEntry> = entries.into_iter().map(hide).collect();
        self.write(move |conn| {
            let sql =
                "INSERT INTO traced_tasks (session, task, request) VALUES (?1, ?2, ?3) ON CONFLICT (task) DO NOTHING";
            let new = conn.prepare_cached(sql)?.execute((session(conn, &name)?, &task, &request))? > 0;
            let sql = "INSERT INTO traced_entries (traced, step, call, effect, about, rule, reason) \
                       SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM traced_tasks WHERE task = ?1";
            for entry in &entries {
                let TracedEntry { step, call, effect, about, rule, reason } = entry;
                conn.prepare_cached(sql)?.execute((&task, step, call, effect, about, rule, reason))?;
            }
            if new { prune(conn) } else { Ok(()) }
        })
    }

    /// The tasks of a session that have a trace, the last one that was worked on first.
    pub fn traced_tasks(&self, name: &str, limit: usize) -> Result<Vec<TracedTask>> {
        self.read(|conn| {
            let Some(session) = known_session(conn, name)? else { return Ok(Vec::new()) };
            let sql = "SELECT task, request, count(traced_entries.id) FROM traced_tasks \
                       LEFT JOIN traced_entries ON traced = traced_tasks.id WHERE session = ?1 \
                       GROUP BY traced_tasks.id ORDER BY max(traced_entries.id) DESC LIMIT ?2";
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            store::all(conn, sql, (session, limit), |row| {
                let entries = crate::memory::store::unsigned(row, 2)?;
                Ok(TracedTask { task: row.get(0)?, request: row.get(1)?, entries })
            })
        })
    }

    /// All entries of a task, in their order.
    pub fn traced(&self, task: &str) -> Result<Vec<TracedEntry>> {
        self.read(|conn| {
            let find = "SELECT id FROM traced_tasks WHERE task = ?1";
            let id: Option<i64> = conn.prepare_cached(find)?.query_row([task], |row| row.get(0)).optional()?;
            let sql =
                "SELECT step, call, effect, about, rule, reason FROM traced_entries WHERE traced = ?1 ORDER BY id";
            store::all(conn, sql, [id], |row| {
                let (effect, about, rule, reason) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
                Ok(TracedEntry { step: row.get(0)?, call: row.get(1)?, effect, about, rule, reason })
            })
        })
    }
}

fn prune(conn: &Connection) -> Result<()> {
    let sql = "DELETE FROM traced_tasks WHERE id <= (SELECT max(id) FROM traced_tasks) - ?1";
    conn.prepare_cached(sql)?.execute([TASKS])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_kept_whole_and_the_last_task_that_was_worked_on_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let entry = |step| TracedEntry {
            step,
            call: Some(3),
            effect: "kept".into(),
            about: "a".into(),
            rule: "r".into(),
            reason: "why".into(),
        };
        memory.add_traced("s", "t1", "one", (0..900).map(entry).collect()).unwrap();
        memory.add_traced("s", "t2", "two", vec![entry(1)]).unwrap();
        memory.add_traced("s", "t1", "one", vec![entry(900)]).unwrap();
        let known = memory.traced_tasks("s", 9).unwrap();
        assert_eq!(
            known.iter().map(|task| (task.task.as_str(), task.entries)).collect::<Vec<_>>(),
            [("t1", 901), ("t2", 1)]
        );
        assert_eq!(memory.traced("t1").unwrap(), (0..=900).map(entry).collect::<Vec<_>>());
        assert_eq!((memory.traced("t3").unwrap().len(), memory.traced_tasks("other", 9).unwrap().len()), (0, 0));
    }
}
