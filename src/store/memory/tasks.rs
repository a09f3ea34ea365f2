//! The stored tasks: the data that a new process needs to go on with one, and the process that works on it.

use rusqlite::{OptionalExtension, Row};
use serde_json::Value;

use crate::memory::entries::{known_session, session};
use crate::memory::kept_words::without_secrets;
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::{self, Memory};

/// A task's state is kept whole or not at all, the newest over the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskState {
    pub task: String,
    pub session: String,
    /// The process that works on it, if any.
    pub owner: Option<String>,
    pub phase: String,
    pub state: Value,
    /// Grows with every write.
    pub revision: i64,
    /// Milliseconds since 1970, and later than that of every write before. So a clock that was in the future once makes
    /// no older task the last one.
    pub updated: i64,
}

/// The conversation of a task that is kept beside its state.
#[derive(Clone, Debug, PartialEq)]
pub enum KeptTalk {
    /// Nobody goes on with the task.
    Nothing,
    /// The conversation that is kept already.
    AsItWas,
    This(Value),
}

/// The number of states of ended tasks without checkpoints that are kept.
const ENDED: i64 = 50;

/// The number of ended tasks whose conversations are kept.
const SPOKEN: i64 = 200;

/// Characters of the longest name that this program gives to a task or a process.
const NAME: usize = 64;

/// True if a text can be the name of a task or of a process. Such a name may become a file's.
pub fn is_name(name: &str) -> bool {
    (1..=NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Only another program writes a file with another name in it.
pub(in crate::memory) fn sound(name: &str) -> Result<()> {
    if is_name(name) {
        Ok(())
    } else {
        Err(MemoryError::Foreign(format!("{name:?} is not a name of a task or a process")))
    }
}

/// Bytes of the longest conversation that is read.
const SAID: i64 = 8 << 20;

/// The most states that are read at once, of 8 MiB each at most: the newest count.
const STATES: i64 = 1000;

const COLUMNS: &str = "SELECT task, sessions.name, owner, phase, \
    iif(octet_length(state) <= 8388608, state, 'null'), revision, updated \
    FROM tasks JOIN sessions ON sessions.id = tasks.session";

impl Memory {
    /// Keeps the state over the one before; `revision` is given by the store. With `expected`, only if the stored
    /// revision is that one: the result is `None` if another process was faster.
    pub fn save_task(&self, mut new: TaskState, said: &KeptTalk, expected: Option<i64>) -> Result<Option<i64>> {
        let (drops, mut said) = match said {
            KeptTalk::Nothing => (true, None),
            KeptTalk::AsItWas => (false, None),
            KeptTalk::This(said) => (false, Some(said.clone())),
        };
        let mut values = vec![&mut new.state];
        values.extend(said.as_mut());
        without_secrets(&mut values);
        let state = serde_json::to_string(&new.state)?;
        let said = said.map(|said| serde_json::to_string(&said)).transpose()?;
        self.write(move |conn| {
            let sql = "SELECT revision FROM tasks WHERE task = ?1";
            let stored: Option<i64> = conn.prepare_cached(sql)?.query_row([&new.task], |row| row.get(0)).optional()?;
            if expected.is_some() && stored != expected {
                return Ok(None);
            }
            let revision = stored.unwrap_or(0) + 1;
            let session = session(conn, &new.session)?;
            let sql = "INSERT INTO tasks (task, session, owner, phase, state, revision, updated) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, \
                       max(?7, (SELECT 1 + coalesce(max(updated), 0) FROM tasks))) ON CONFLICT (task) DO UPDATE SET \
                       owner = ?3, phase = ?4, state = ?5, revision = ?6, updated = excluded.updated";
            let row = (&new.task, session, &new.owner, &new.phase, &state, revision, new.updated);
            conn.prepare_cached(sql)?.execute(row)?;
            if drops {
                conn.prepare_cached("DELETE FROM conversations WHERE task = ?1")?.execute([&new.task])?;
            }
            if let Some(said) = &said {
                let sql = "INSERT INTO conversations (task, said) VALUES (?1, ?2) \
                           ON CONFLICT (task) DO UPDATE SET said = excluded.said";
                conn.prepare_cached(sql)?.execute((&new.task, said))?;
            }
            Ok(Some(revision))
        })
    }

    /// The conversation of a task; `None` if nothing is kept, or the kept text cannot be read.
    pub fn said(&self, task: &str) -> Result<Option<Value>> {
        let said: Option<String> = self.read(|conn| {
            let sql = "SELECT said FROM conversations WHERE task = ?1 AND octet_length(said) <= ?2";
            Ok(conn.prepare_cached(sql)?.query_row((task, SAID), |row| row.get(0)).optional()?)
        })?;
        Ok(said.and_then(|said| serde_json::from_str(&said).ok()))
    }

    /// A session's tasks, the last one that was worked on first.
    pub fn tasks(&self, name: &str) -> Result<Vec<TaskState>> {
        let rows = self.read(|conn| {
            let Some(session) = known_session(conn, name)? else { return Ok(Vec::new()) };
            let sql = format!("{COLUMNS} WHERE session = ?1 ORDER BY updated DESC, tasks.id DESC LIMIT ?2");
            let rows = store::all(conn, &sql, [session, STATES], |row| Ok((read(row)?, row.get::<_, String>(4)?)))?;
            for (task, _) in &rows {
                sound(&task.task)?;
                task.owner.as_deref().map_or(Ok(()), sound)?;
            }
            Ok(rows)
        })?;
        // Nobody can go on from a state that cannot be read, but it must not hide the others.
        let whole = |(task, state): (TaskState, String)| TaskState {
            state: serde_json::from_str(&state).unwrap_or_default(),
            ..task
        };
        Ok(rows.into_iter().map(whole).collect())
    }

    /// Drops the oldest states that have no use any more: no process works on them, they are in one of the phases
    /// `ended`, and they have no checkpoint left.
    pub fn prune_tasks(&self, ended: &[&str]) -> Result<usize> {
        let ended = serde_json::to_string(ended)?;
        self.write(move |conn| {
            let sql = "DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE owner IS NULL \
                       AND phase IN (SELECT value FROM json_each(?1)) \
                       AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.task = tasks.task) \
                       ORDER BY updated DESC, id DESC LIMIT -1 OFFSET ?2)";
            let pruned = conn.execute(sql, (&ended, ENDED))?;
            let sql = "DELETE FROM conversations WHERE task IN (SELECT task FROM tasks WHERE owner IS NULL \
                       AND phase IN (SELECT value FROM json_each(?1)) ORDER BY updated DESC, id DESC LIMIT -1 OFFSET ?2)";
            conn.execute(sql, (&ended, SPOKEN))?;
            Ok(pruned)
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<TaskState> {
    Ok(TaskState {
        task: row.get(0)?,
        session: row.get(1)?,
        owner: row.get(2)?,
        phase: row.get(3)?,
        state: Value::Null,
        revision: row.get(5)?,
        updated: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(task: &str, updated: i64) -> TaskState {
        let (task, session, phase) = (task.to_owned(), "s".to_owned(), "executing".to_owned());
        TaskState { task, session, owner: Some("p".into()), phase, state: json!({"n": updated}), revision: 0, updated }
    }

    #[test]
    fn the_newest_state_stands_and_only_one_of_two_gets_a_task() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        assert_eq!(memory.save_task(state("a", 1), &KeptTalk::Nothing, None).unwrap(), Some(1));
        assert_eq!(memory.save_task(state("b", 2), &KeptTalk::Nothing, None).unwrap(), Some(1));
        assert_eq!(memory.save_task(state("a", 3), &KeptTalk::Nothing, Some(1)).unwrap(), Some(2));
        assert_eq!(
            memory.save_task(state("a", 4), &KeptTalk::Nothing, Some(1)).unwrap(),
            None,
            "somebody else was faster"
        );
        let tasks = memory.tasks("s").unwrap();
        assert_eq!(tasks.iter().map(|task| task.task.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((&tasks[0].state, tasks[0].revision), (&json!({"n": 3}), 2));
        assert_eq!(memory.tasks("other").unwrap(), []);
    }

    #[test]
    fn what_was_said_is_kept_beside_the_state_and_goes_with_the_task() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let said = json!({"messages": ["x"]});
        memory.save_task(state("a", 1), &KeptTalk::This(said.clone()), None).unwrap();
        memory.save_task(state("a", 2), &KeptTalk::AsItWas, None).unwrap();
        assert_eq!(memory.said("a").unwrap(), Some(said.clone()));
        memory.save_task(state("a", 3), &KeptTalk::Nothing, None).unwrap();
        assert_eq!(memory.said("a").unwrap(), None);
        memory.save_task(state("a", 4), &KeptTalk::This(said), None).unwrap();
        memory.write(|conn| Ok(conn.execute("DELETE FROM tasks", [])?)).unwrap();
        assert_eq!(memory.said("a").unwrap(), None);
    }

    #[test]
    fn a_clock_that_was_in_the_future_once_makes_no_older_task_the_last() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        for (task, clock) in [("a", 4_000_000_000_000), ("b", 1_000), ("c", 2_000)] {
            memory.save_task(state(task, clock), &KeptTalk::Nothing, None).unwrap();
        }
        let order = || memory.tasks("s").unwrap().into_iter().map(|task| task.task).collect::<Vec<_>>();
        assert_eq!(order(), ["c", "b", "a"]);
        memory.save_task(state("b", 3_000), &KeptTalk::Nothing, None).unwrap();
        assert_eq!(order(), ["b", "c", "a"]);
    }

    #[test]
    fn a_name_that_this_program_never_gave_sets_the_file_aside() {
        for name in ["../x", "", "A", "a b", "é", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
            let dir = tempfile::tempdir().unwrap();
            let memory = Memory::open(&dir.path().join("m.db")).unwrap();
            memory
                .save_task(TaskState { owner: Some(name.to_owned()), ..state("a", 1) }, &KeptTalk::Nothing, None)
                .unwrap();
            assert_eq!(memory.tasks("s").unwrap(), []);
            assert!(dir.path().join("m.db.damaged-1").exists(), "{name}");
        }
        assert!(is_name(&format!("{:011x}-{:x}-0", 1_000, 99)));
    }

    #[test]
    fn only_what_is_over_and_without_checkpoints_is_pruned() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        for n in 0..ENDED + 5 {
            let task = TaskState { owner: None, phase: "completed".into(), ..state(&format!("t{n}"), n) };
            memory.save_task(task, &KeptTalk::Nothing, None).unwrap();
        }
        memory.save_task(state("live", 0), &KeptTalk::Nothing, None).unwrap();
        assert_eq!(memory.prune_tasks(&["completed"]).unwrap(), 5);
        assert!(memory.tasks("s").unwrap().iter().any(|task| task.task == "live"));
    }
}
