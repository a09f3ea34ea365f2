//! Forgetting: what is to go, what went, and that nothing of it stays in the file.
//!
//! Deleted rows are overwritten (`secure_delete`), the full-text index drops their words at once, and the
//! write-ahead log is emptied afterwards. Copies of older schemas are removed too, since they hold the same
//! rows; files that were set aside as damaged are only named, because they cannot be read to see what is
//! theirs to keep.

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

/// What is to be forgotten: whatever meets all the conditions that are given.
///
/// By `project` go its files, commands, preferences and learnings. By `session` goes all that the session
/// left: entries, summaries, traces, runs, checkpoints, task states, variables. By `text` goes whatever holds it, in
/// every store, packed contents of files too: of a task its state and its checkpoints go together, since with a part
/// of them a part of it would be taken back. The other conditions are about entries alone. A summary goes with any
/// entry that it stands for.
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
    /// Entries with a larger number: what came after a checkpoint's mark.
    pub after: Option<EntryId>,
    /// All that there is, of every session and project; no other condition counts then.
    pub everything: bool,
    /// Tasks whose state and checkpoints stay, whatever they hold.
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

    /// Whether a condition is given that only entries can meet.
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
        // Everything at once is a slip where it is not named.
        if self.text.is_none() && self.session.is_none() && self.project.is_none() && !self.entries_only() {
            return Err(MemoryError::invalid("filter", "it names nothing"));
        }
        Ok(())
    }
}

/// What was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub entries: BTreeMap<Kind, Vec<EntryId>>,
    /// The beginnings of the first of them, so that the user sees what went.
    pub shown: Vec<String>,
    pub summaries: usize,
    /// Their keys.
    pub preferences: Vec<String>,
    pub learnings: usize,
    /// Paths and names of what was known of a project.
    pub files: Vec<String>,
    pub commands: Vec<String>,
    pub variables: usize,
    #[serde(flatten)]
    pub record: ForgottenRecord,
    #[serde(flatten)]
    pub left: ForgottenLeft,
}

/// What was deleted of the record of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenRecord {
    pub trace: usize,
    pub runs: usize,
    pub checkpoints: Vec<i64>,
    /// States of tasks, to resume or to undo.
    pub tasks: usize,
    /// Whose states or checkpoints these are.
    pub task_names: Vec<String>,
    /// Tasks that would have gone and were to be kept.
    pub kept: Vec<String>,
}

/// Files that held it beside the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenLeft {
    /// Copies of older schemas that were removed.
    pub backups: Vec<PathBuf>,
    /// Damaged files beside ours that may still hold it; nobody but the user can decide about them.
    pub copies_left: Vec<PathBuf>,
    /// Another process was reading: its log keeps the text until the next forgetting or the last close.
    pub log_left: bool,
}

/// A task that a forgetting would take the state and the checkpoints of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    pub task: String,
    /// What it had been asked for, as far as its state says.
    pub request: String,
    /// As its state has it; empty where there is none.
    pub phase: String,
    /// Who works on it.
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

    /// What went, by kind.
    pub fn counts(&self) -> [(usize, &'static str); 11] {
        [
            (self.entry_count(), "entries"),
            (self.summaries, "summaries"),
            (self.preferences.len(), "preferences"),
            (self.learnings, "learnings"),
            (self.files.len(), "project files"),
            (self.commands.len(), "project commands"),
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
    /// Deletes for good and says what. A search through the texts reads every entry: about a second a million.
    pub fn forget(&self, filter: &Forget) -> Result<Forgotten> {
        filter.check()?;
        let wanted = filter.clone();
        let mut out = self.write(move |conn| delete::delete(conn, &wanted))?;
        out.variables = self.forget_variables(filter);
        if !out.is_empty() {
            // A page that rows have left may hold copies of them between those that stay.
            self.bare(|conn| Ok(conn.execute_batch("VACUUM")?))?;
        }
        // Also when nothing was found: an earlier forgetting may have left its log.
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

    /// The tasks that a forgetting would take the undo or the resuming of.
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
