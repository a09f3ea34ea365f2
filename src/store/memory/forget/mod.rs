//! Forgetting: the filter, the deleted rows, and the proof that nothing of them stays in the file.
//!
//! Deleted rows are overwritten (`secure_delete`), the full-text index drops their words at once, and the write-ahead
//! log is emptied afterwards. Copies of older schemas are removed too, since they hold the same rows. Files that were
//! set aside as damaged are only named, because they cannot be read to sort their rows.

mod delete;
mod forget_tasks;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::memory::damage;
use crate::memory::entry::{EntryId, Kind, Mode};
use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::migrate;
use crate::memory::store::Memory;

/// The filter of a forgetting: a row goes if it meets all the given conditions.
///
/// `project` takes its preferences and learnings. `session` takes all that the session left: entries,
/// summaries, traces, runs, checkpoints, task states, variables. `text` takes every row that holds it, in every store,
/// packed contents of files too. The state and the checkpoints of a task go together, since a part of them would take
/// back a part of the task. The other conditions are about entries alone. A summary goes with any entry that it stands
/// for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forget {
    /// Part of a text; case does not matter.
    pub text: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    pub ids: Vec<EntryId>,
    pub mode: Option<Mode>,
    pub kinds: Vec<Kind>,
    /// Not before, and before, these times in milliseconds since 1970.
    pub since: Option<i64>,
    pub before: Option<i64>,
    /// Entries with a larger number: the entries after a checkpoint's mark.
    pub after: Option<EntryId>,
    /// All rows of every session and project; no other condition counts then.
    pub everything: bool,
    /// Tasks whose state and checkpoints stay, even if they hold the text.
    pub keep: Vec<String>,
}

impl Forget {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    pub fn session(session: impl Into<String>) -> Self {
        Self { session: Some(session.into()), ..Self::default() }
    }

    pub fn project(project: impl Into<String>) -> Self {
        Self { project: Some(project.into()), ..Self::default() }
    }

    /// True if a condition is given that only entries can meet.
    fn entries_only(&self) -> bool {
        !self.ids.is_empty()
            || self.mode.is_some()
            || !self.kinds.is_empty()
            || self.since.is_some()
            || self.before.is_some()
            || self.after.is_some()
    }

    fn check(&self) -> Result<()> {
        if self.text.as_deref().is_some_and(|text| text.trim().is_empty()) {
            return Err(MemoryError::invalid("text", "it is empty"));
        }
        if self.project.is_some() && (self.session.is_some() || self.entries_only()) {
            return Err(MemoryError::invalid("project", "entries belong to sessions, not to projects"));
        }
        if self.everything {
            return Ok(());
        }
        // A request for everything must name it, since an empty filter is most likely a slip.
        if self.text.is_none() && self.session.is_none() && self.project.is_none() && !self.entries_only() {
            return Err(MemoryError::invalid("filter", "it names nothing"));
        }
        Ok(())
    }
}

/// The counts of the deleted rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub entries: BTreeMap<Kind, Vec<EntryId>>,
    /// The beginnings of the first deleted entries, for the user.
    pub shown: Vec<String>,
    pub summaries: usize,
    /// Their keys.
    pub preferences: Vec<String>,
    pub learnings: usize,
    pub variables: usize,
    #[serde(flatten)]
    pub record: ForgottenRecord,
    #[serde(flatten)]
    pub left: ForgottenLeft,
}

/// The deleted parts of the record of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenRecord {
    pub trace: usize,
    pub runs: usize,
    pub checkpoints: Vec<i64>,
    /// States of tasks, to resume or to undo.
    pub tasks: usize,
    /// The tasks of these states or checkpoints.
    pub task_names: Vec<String>,
    /// Tasks that match and were kept on request.
    pub kept: Vec<String>,
}

/// Files that held it beside the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenLeft {
    /// Copies of older schemas that were removed.
    pub backups: Vec<PathBuf>,
    /// Damaged files beside ours that may still hold it; only the user can decide about them.
    pub copies_left: Vec<PathBuf>,
    /// Another process was reading: its log keeps the text until the next forgetting or the last close.
    pub log_left: bool,
}

/// A task that would lose its state and checkpoints by a forgetting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    pub task: String,
    /// The request of the task, from its state.
    pub request: String,
    /// The phase in its state; empty if there is no state.
    pub phase: String,
    /// The process that works on it.
    pub owner: Option<String>,
    /// Checkpoints by the reason why they were kept.
    pub checkpoints: BTreeMap<String, usize>,
}

impl Forgotten {
    pub fn entry_count(&self) -> usize {
        self.entries.values().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.counts().iter().all(|(count, _)| *count == 0)
    }

    /// The numbers of deleted rows, by kind.
    pub fn counts(&self) -> [(usize, &'static str); 9] {
        [
            (self.entry_count(), "entries"),
            (self.summaries, "summaries"),
            (self.preferences.len(), "preferences"),
            (self.learnings, "learnings"),
            (self.record.trace, "trace records"),
            (self.record.runs, "runs"),
            (self.record.checkpoints.len(), "checkpoints"),
            (self.record.tasks, "task states"),
            (self.variables, "variables"),
        ]
    }
}

impl fmt::Display for Forgotten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some: Vec<String> = self
            .counts()
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{what}: {count}"))
            .collect();
        if some.is_empty() {
            f.write_str("nothing was found to forget")?
        } else {
            write!(f, "forgotten: {}", some.join(", "))?
        }
        if self.left.log_left {
            f.write_str("; another process was reading, so its log still holds the text")?;
        }
        for copy in &self.left.copies_left {
            write!(f, "; {} was set aside as damaged and may still hold it", copy.display())?;
        }
        Ok(())
    }
}

impl Memory {
    /// Deletes for good and returns the counts. A search through the texts reads every entry: about a second a million.
    pub fn forget(&self, filter: &Forget) -> Result<Forgotten> {
        filter.check()?;
        let wanted = filter.clone();
        let mut out = self.write(move |conn| delete::delete(conn, &wanted))?;
        out.variables = self.forget_variables(filter);
        if !out.is_empty() {
            // A page may hold copies of deleted rows between those that stay.
            self.bare(|conn| Ok(conn.execute_batch("VACUUM")?))?;
        }
        // Also if nothing was found: an earlier forgetting may have left its log.
        out.left.log_left = self.bare(|conn| {
            let busy: i64 = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok(busy != 0)
        })?;
        if !out.is_empty() {
            for copy in migrate::backups(self.path()) {
                fs::remove_file(&copy).map_err(|error| MemoryError::io(&copy, error))?;
                out.left.backups.push(copy);
            }
            out.left.copies_left = damage::left(self.path());
        }
        Ok(out)
    }

    /// The tasks that could not be undone or resumed after a forgetting.
    pub fn forget_costs(&self, filter: &Forget) -> Result<Vec<Cost>> {
        filter.check()?;
        self.read(|conn| forget_tasks::costs(conn, filter))
    }

    fn forget_variables(&self, filter: &Forget) -> usize {
        if !filter.everything && (filter.entries_only() || filter.project.is_some()) {
            return 0;
        }
        let mut removed = 0;
        for (session, variables) in self.variables().iter_mut() {
            if filter.session.as_ref().is_some_and(|wanted| wanted != session) {
                continue;
            }
            let before = variables.len();
            variables.retain(|name, value| {
                let holds = |text: &String| delete::holds(name, text) || delete::holds(&value.to_string(), text);
                filter.text.as_ref().is_some_and(|text| !holds(text))
            });
            removed += before - variables.len();
        }
        removed
    }
}

#[cfg(test)]
mod tests;
