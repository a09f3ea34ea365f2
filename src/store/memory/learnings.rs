//! Counts the successes of each approach by kind of task, and lists the more reliable first.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::{self, Memory};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learning {
    /// The kind of task, such as `fix type error`.
    pub task: String,
    /// The approach: a tool, a plan's shape, a repair.
    pub approach: String,
    /// `None`: learned for every project.
    pub project: Option<String>,
    pub successes: u32,
    pub failures: u32,
    /// The latest remark, such as why the user rejected it.
    pub note: String,
    /// Milliseconds since 1970.
    pub last_used: i64,
}

impl Learning {
    /// The share of successes to expect, in 0..=1: (successes + 1) / (all + 2), so that one success does not
    /// outweigh nine of ten (Laplace's rule of succession).
    pub fn reliability(&self) -> f64 {
        let (good, bad) = (f64::from(self.successes), f64::from(self.failures));
        (good + 1.0) / (good + bad + 2.0)
    }
}

/// One more experience.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experience {
    pub task: String,
    pub approach: String,
    pub project: Option<String>,
    pub success: bool,
    /// Empty leaves the former remark.
    pub note: String,
    pub timestamp: i64,
}

impl Memory {
    pub fn learn(&self, experience: Experience) -> Result<()> {
        if experience.task.is_empty() || experience.approach.is_empty() {
            return Err(MemoryError::invalid("learning", "it needs a kind of task and an approach"));
        }
        self.write(move |conn| {
            let sql = "INSERT INTO learnings (project, task, approach, successes, failures, note, last_used) \
                       VALUES (?1, ?2, ?3, ?4, NOT ?4, ?5, ?6) ON CONFLICT DO UPDATE SET \
                       successes = successes + ?4, failures = failures + NOT ?4, last_used = max(last_used, ?6), \
                       note = CASE ?5 WHEN '' THEN note ELSE ?5 END";
            let Experience { task, approach, project, success, note, timestamp } = &experience;
            conn.execute(sql, (project.as_deref().unwrap_or(""), task, approach, success, note, timestamp))?;
            Ok(())
        })
    }

    /// Turns a counted success into a failure, as when the user takes it back.
    pub fn unlearn(&self, experience: Experience) -> Result<()> {
        let (task, approach) = (experience.task.clone(), experience.approach.clone());
        let project = experience.project.clone().unwrap_or_default();
        self.learn(Experience { success: false, ..experience })?;
        self.write(move |conn| {
            let sql = "UPDATE learnings SET successes = max(successes - 1, 0) \
                       WHERE project = ?1 AND task = ?2 AND approach = ?3";
            conn.execute(sql, (&project, &task, &approach))?;
            Ok(())
        })
    }

    /// Turns the failure from [`Memory::unlearn`] back into a success; a remark that begins with `remark` goes.
    pub fn relearn(&self, experience: Experience, remark: &str) -> Result<()> {
        let remark = remark.to_owned();
        self.write(move |conn| {
            let sql = "UPDATE learnings SET successes = successes + 1, failures = max(failures - 1, 0), \
                       last_used = max(last_used, ?4), note = iif(substr(note, 1, length(?5)) = ?5, '', note) \
                       WHERE project = ?1 AND task = ?2 AND approach = ?3";
            let Experience { task, approach, project, timestamp, .. } = &experience;
            conn.execute(sql, (project.as_deref().unwrap_or(""), task, approach, timestamp, &remark))?;
            Ok(())
        })
    }

    /// The learnings for a kind of task, in the project and in general: the more reliable first, then the later used.
    pub fn learnings(&self, task: &str, project: Option<&str>, limit: usize) -> Result<Vec<Learning>> {
        let mut out = self.read(|conn| {
            let sql = format!("{COLUMNS} WHERE project IN ('', ?1) AND task = ?2");
            store::all(conn, &sql, (project.unwrap_or(""), task), learning)
        })?;
        out.sort_by(|a, b| b.reliability().total_cmp(&a.reliability()).then(b.last_used.cmp(&a.last_used)));
        out.truncate(limit);
        Ok(out)
    }

    /// The learnings for any kind of task, in the project and in general, the later used first.
    pub fn all_learnings(&self, project: Option<&str>, limit: usize) -> Result<Vec<Learning>> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} WHERE project IN ('', ?1) ORDER BY last_used DESC, task, approach LIMIT ?2");
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            store::all(conn, &sql, (project.unwrap_or(""), limit), learning)
        })
    }
}

const COLUMNS: &str = "SELECT task, approach, project, successes, failures, note, last_used FROM learnings";

fn learning(row: &Row<'_>) -> rusqlite::Result<Learning> {
    let project: String = row.get(2)?;
    Ok(Learning {
        task: row.get(0)?,
        approach: row.get(1)?,
        project: (!project.is_empty()).then_some(project),
        successes: row.get(3)?,
        failures: row.get(4)?,
        note: row.get(5)?,
        last_used: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_worked_more_reliably_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let learn = |approach: &str, success, note: &str| {
            let (task, approach, note) = ("fix".to_owned(), approach.to_owned(), note.to_owned());
            memory.learn(Experience { task, approach, project: None, success, note, timestamp: 7 }).unwrap();
        };
        learn("once", true, "");
        (0..9).for_each(|_| learn("often", true, ""));
        learn("often", false, "too wide");
        learn("often", true, "");
        learn("never", false, "");
        let found = memory.learnings("fix", Some("p"), 10).unwrap();
        let names: Vec<&str> = found.iter().map(|learning| learning.approach.as_str()).collect();
        assert_eq!(names, ["often", "once", "never"]);
        assert_eq!((found[0].successes, found[0].failures, found[0].note.as_str()), (10, 1, "too wide"));
        assert_eq!(memory.learnings("rename", None, 10).unwrap(), []);
    }

    #[test]
    fn a_success_that_is_taken_back_was_none() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let one = |success, note: &str| Experience {
            task: "fix".into(),
            approach: "rename".into(),
            project: Some("p".into()),
            success,
            note: note.into(),
            timestamp: 7,
        };
        memory.learn(one(true, "")).unwrap();
        memory.learn(one(true, "")).unwrap();
        memory.unlearn(one(true, "wrong name")).unwrap();
        let found = memory.all_learnings(Some("p"), 10).unwrap();
        assert_eq!((found[0].successes, found[0].failures, found[0].note.as_str()), (1, 1, "wrong name"));
        memory.relearn(one(true, ""), "wrong").unwrap();
        let found = memory.all_learnings(Some("p"), 10).unwrap();
        assert_eq!((found[0].successes, found[0].failures, found[0].note.as_str()), (2, 0, ""), "as if never undone");
        memory.unlearn(one(true, "")).unwrap();
        memory.unlearn(one(true, "")).unwrap();
        memory.unlearn(one(true, "")).unwrap();
        let found = memory.learnings("fix", Some("p"), 1).unwrap();
        assert_eq!((found[0].successes, found[0].failures), (0, 3), "never below nothing");
        assert_eq!(memory.all_learnings(Some("q"), 10).unwrap(), []);
    }
}
