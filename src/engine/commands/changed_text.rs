//! Shows what the last task changed as one diff of all its files: the task, one step, or one symbol, as far as it stands.

use std::collections::BTreeSet;

use crate::commands::noted_diff;
use crate::commands::undo::{UndoRequest, whose_task};
use crate::durable::stack::{self, UndoPlace};
use crate::durable::stored_review;
use crate::edit::recover;
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, CheckpointKind, FileChange, Journal};
use crate::state::own_changes::own_changes;
use crate::state::standing_text;
use crate::state::undo_hunks;
use crate::state::undo_target::{Target, choose};
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::hunks::hunks;
use sextant_text::edits::unified::unified;
use sextant_text::symbols::symbol_path::SymbolPath;

/// Unchanged lines around a hunk.
const CONTEXT: u32 = 3;

/// The diff of a task, or of a part of it; of the last task that changed something for `None`.
///
/// # Errors
/// No task has changed anything, the texts of this one are gone, or the part changed nothing.
pub(crate) async fn changed_text(edits: &EditService, task: Option<&str>, part: &Target) -> Result<String, Failure> {
    Ok(changed(edits, task, part).await?.diff)
}

/// The diff of a task for a user who reviews it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedDiff {
    /// The name of the task.
    pub task: String,
    /// The request of the task.
    pub request: String,
    /// The diff, with the diagnostics that the task has introduced beside their lines.
    pub diff: String,
    /// The introduced diagnostics of other lines.
    pub elsewhere: Vec<String>,
}

/// The diff of the last task, or of a part of it.
///
/// # Errors
/// As [`changed_text`].
pub(crate) async fn reviewed_text(edits: &EditService, part: &Target) -> Result<ReviewedDiff, Failure> {
    let TaskDiff { task, request, diff } = changed(edits, None, part).await?;
    let listed = edits.hub.listed.lock().await.iter().find(|listed| listed.task == task).cloned();
    let (diff, elsewhere) = noted_diff::noted(&diff, &listed.map(|listed| listed.entries).unwrap_or_default());
    Ok(ReviewedDiff { task, request, diff, elsewhere })
}

/// A task with its diff.
struct TaskDiff {
    task: String,
    request: String,
    diff: String,
}

async fn changed(edits: &EditService, task: Option<&str>, part: &Target) -> Result<TaskDiff, Failure> {
    let stack = stack::stack(edits).await;
    let wish = UndoRequest { target: part.clone(), ..UndoRequest::default() };
    let named = if task.is_none() { whose_task::named(edits, &stack, &wish).await? } else { BTreeSet::new() };
    let part = if named.is_empty() { part } else { &Target::Task };
    let wanted = |name: &str| task.is_none_or(|task| task == name) && (named.is_empty() || named.contains(name));
    let known = stack.tasks.iter().find(|known| known.place != UndoPlace::Removed && wanted(&known.task));
    let Some(known) = known else {
        let gone = "the texts of this task were removed to make room for others";
        return Err(Failure::user(if task.is_some() { gone } else { "no task has changed anything here" }, ""));
    };
    let journal = stack::journal(&edits.store, known).await?;
    let whole = match part {
        Target::Step(step) => of_step(&journal, *step),
        Target::From(first) => of_steps(&journal, |step| step >= *first),
        Target::Task | Target::Symbol(_) | Target::Lines(_) => own_changes(&journal),
    };
    let mut changes = still_standing(edits, whole).await;
    if let Target::Symbol(symbol) = part {
        let path = SymbolPath::parse(symbol);
        changes = changes.iter().filter_map(|change| within(change, &path)).collect();
    }
    if changes.is_empty() {
        // It may be no part of the task at all, or one that was taken back.
        if *part != Target::Task {
            choose(&journal, part)?;
        }
        let message = format!("{} of “{}” changed nothing that stands", part.words(), clean(&journal.request));
        return Err(Failure::user(message, ""));
    }
    let diff = changes.iter().map(file_diff).collect();
    Ok(TaskDiff { task: known.task.clone(), request: journal.request, diff })
}

/// The changes without those that were rejected or taken out since. A file that cannot be read counts as it was left.
async fn still_standing(edits: &EditService, changes: Vec<FileChange>) -> Vec<FileChange> {
    stored_review::load(&edits.store).await;
    let rejected = edits.store.review.now().rejected;
    let mut found = Vec::with_capacity(changes.len());
    for change in changes {
        match recover::look_at(&edits.workspace, &change.path).await {
            Ok(now) => {
                found.extend(standing_text::standing(change, now.as_ref().map(|now| &*now.text), &rejected));
            }
            Err(_) => found.push(change),
        }
    }
    found
}

/// The changes of a step; of the last one for `None`.
fn of_step(journal: &Journal, step: Option<usize>) -> Vec<FileChange> {
    let edits = || journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit);
    let wanted = step.or_else(|| edits().next_back().map(|row| row.step));
    of_steps(journal, |step| Some(step) == wanted)
}

fn of_steps(journal: &Journal, wanted: impl Fn(usize) -> bool) -> Vec<FileChange> {
    let edits = journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit);
    let rows: Vec<Checkpoint> = edits.filter(|row| wanted(row.step)).cloned().collect();
    own_changes(&Journal { checkpoints: rows, ..Journal::default() })
}

/// The part of a change inside one symbol; `None` where there is none.
fn within(change: &FileChange, symbol: &SymbolPath) -> Option<FileChange> {
    if !symbol.file.is_empty() && symbol.file != change.path {
        return None;
    }
    let (inside, _) = undo_hunks::within(change, &symbol.names);
    let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
    let others: Vec<TextEdit> = hunks(after, before)
        .into_iter()
        .enumerate()
        .filter(|(index, _)| inside.contains(index))
        .map(|(_, edit)| edit)
        .collect();
    let before = apply(after, &others).ok().filter(|before| before != after)?;
    Some(FileChange { before: Some(before.into()), ..change.clone() })
}

fn file_diff(change: &FileChange) -> String {
    let side = |text: Option<&str>, mark: &str| match text {
        Some(_) => format!("{mark}/{}", change.path),
        None => "/dev/null".to_owned(),
    };
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    format!(
        "--- {}\n+++ {}\n{}",
        side(before, "a"),
        side(after, "b"),
        unified(before.unwrap_or_default(), after.unwrap_or_default(), CONTEXT)
    )
}
