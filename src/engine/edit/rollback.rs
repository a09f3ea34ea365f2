//! Takes hunks back out of files as they are now, as one change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::durable::open_store;
use crate::edit::recover::{self, edit_to};
use crate::edit::{edit_transaction, runnable_texts, undo_effect, undo_refusal};
use crate::editor::{FileEdit, Marks};
use crate::state::comparison::Verdict;
use crate::state::edit_request::EditOutcome;
use crate::state::edit_service::EditService;
use crate::state::in_flight::PendingChange;
use crate::state::journal::{Checkpoint, CheckpointKind, FileChange, Journal, RolledBack};
use crate::state::task::TaskWork;
use crate::state::task_store::TaskStore;
use crate::state::undo_hunks::{HunkTurn, turn};
use crate::state::undo_target::{Pick, standing};
use crate::state::workspace::Workspace;
use sextant_base::failure::Failure;
use sextant_base::hint::HintCode;

/// The planned result for the files, not carried out yet.
pub(crate) struct RollbackPlan {
    pub(crate) edits: Vec<FileEdit>,
    pub(crate) files: Vec<FileChange>,
    pub(crate) takes: Vec<RolledBack>,
    /// Places that somebody else has changed since.
    pub(crate) left: Vec<String>,
}

/// Takes back every change of a task after a mark: the rollback of one step. They are gone from its journal then. With
/// `partial`, hunks that touch later changes of the user stay and are named.
pub(crate) async fn roll_back_to(
    edits: &EditService,
    work: &mut TaskWork,
    mark: usize,
    partial: bool,
) -> Result<Vec<String>, Failure> {
    let mark = mark.min(work.journal.checkpoints.len());
    let taken: Vec<Checkpoint> = work.journal.checkpoints[mark..].to_vec();
    if taken.is_empty() {
        // An empty record would count as a change where the next process counts them.
        return Ok(Vec::new());
    }
    let own = |pick: &Pick<'_>| taken.iter().any(|row| row.id == pick.edit.id);
    let picks: Vec<Pick<'_>> = standing(&work.journal).filter(own).collect();
    let way = way_back(&edits.workspace, &work.journal, &picks, partial).await?;
    undo_refusal::refuse_touched(&way.left, !way.edits.is_empty(), partial)?;
    let back = Checkpoint { files: way.files, ..Checkpoint::default() };
    let back = go(edits, &work.journal, back, way.edits, taken).await?;
    work.journal.checkpoints.truncate(mark);
    for file in &back.files {
        match &file.after {
            Some(text) => work.seen.whole(&file.path, Arc::clone(text)),
            None => work.seen.forget(&file.path),
        }
    }
    (work.reports.pending, work.reports.late.to_come) = (None, false);
    Ok(way.left)
}

/// Takes back the last change of the task: restores text, saved state and knowledge.
pub(crate) async fn take_back_last(
    edits: &EditService,
    work: &mut TaskWork,
    changed: &EditOutcome,
) -> Result<(), Failure> {
    roll_back_to(edits, work, work.journal.checkpoints.len().saturating_sub(1), false).await?;
    edits.hub.ledger.lock().await.restore(&changed.before, &work.reports.start);
    Ok(())
}

/// Computes the edits that undo these hunks, from the files as they are now. With `partial`, a file whose path leads
/// out of the workspace by now stays and is named.
pub(crate) async fn way_back(
    workspace: &Workspace,
    journal: &Journal,
    picks: &[Pick<'_>],
    partial: bool,
) -> Result<RollbackPlan, Failure> {
    let taken = journal.taken();
    let mut by_path: BTreeMap<&str, Vec<&Pick<'_>>> = BTreeMap::new();
    for pick in picks.iter().rev() {
        by_path.entry(&pick.file.path).or_default().push(pick);
    }
    let mut way = RollbackPlan { edits: Vec::new(), files: Vec::new(), takes: Vec::new(), left: Vec::new() };
    for (path, picks) in by_path {
        match recover::recorded(&workspace.root, path) {
            Err(failure) if partial => {
                way.left.push(failure.message);
                continue;
            }
            refused => refused.map_err(|failure| Failure { hint: HintCode::UndoRest.into(), ..failure })?,
        }
        let gone = |pick: &Pick<'_>| taken.get(&(pick.edit.id.as_str(), path)).cloned().unwrap_or_default();
        let turns: Vec<HunkTurn<'_>> = picks
            .iter()
            .map(|pick| HunkTurn { change: pick.file, taken: gone(pick), wanted: pick.hunks.clone() })
            .collect();
        let (newest, oldest) = (picks[0].file.marks_after.clone(), picks[picks.len() - 1].file.marks_before.clone());
        let turned = way.add(workspace, path, &turns, newest, oldest).await?;
        for (pick, (done, over)) in picks.iter().zip(turned) {
            let (edit, path) = (pick.edit.id.clone(), path.to_owned());
            way.takes.push(RolledBack {
                edit,
                path,
                hunks: done.into_iter().collect(),
                over: over.into_iter().collect(),
            });
        }
    }
    Ok(way)
}

impl RollbackPlan {
    /// Turns hunks of one file, and returns those that this call turns and those that were turned by hand.
    pub(crate) async fn add(
        &mut self,
        workspace: &Workspace,
        path: &str,
        turns: &[HunkTurn<'_>],
        marks_before: Marks,
        marks_after: Marks,
    ) -> Result<Vec<(BTreeSet<usize>, BTreeSet<usize>)>, Failure> {
        let now = recover::look_at(workspace, path).await?;
        let turned = turn(turns, now.as_ref().map(|document| &*document.text));
        self.left.extend(turned.left);
        if let Some(edit) = edit_to(path, now.as_ref(), turned.text.as_deref()) {
            self.edits.push(edit);
            let before = now.map(|document| document.text);
            self.files.push(FileChange {
                path: path.to_owned(),
                before,
                after: turned.text.map(Into::into),
                marks_before,
                marks_after,
            });
        }
        Ok(turned.done.into_iter().zip(turned.by_hand).collect())
    }
}

/// Carries out a plan, as one change with a checkpoint of its own. All or none.
///
/// # Errors
/// The change could not be made, or the user did not allow the text of a file that something runs.
pub(crate) async fn go(
    edit_service: &EditService,
    journal: &Journal,
    checkpoint: Checkpoint,
    edits: Vec<FileEdit>,
    takes_back: Vec<Checkpoint>,
) -> Result<Checkpoint, Failure> {
    runnable_texts::confirm(edit_service, &checkpoint.files).await?;
    make(edit_service, journal, checkpoint, edits, takes_back).await
}

/// Does the same for the user's own undo or redo, and compares the diagnostics before and after it; without a verdict
/// where edits are not checked.
pub(crate) async fn go_checked(
    edit_service: &EditService,
    journal: &Journal,
    checkpoint: Checkpoint,
    edits: Vec<FileEdit>,
    takes_back: Vec<Checkpoint>,
) -> Result<CheckedRollback, Failure> {
    runnable_texts::confirm(edit_service, &checkpoint.files).await?;
    let _turn = edit_service.making.turn.lock().await;
    let looked = undo_effect::before(edit_service, &checkpoint.files).await;
    let checkpoint = make(edit_service, journal, checkpoint, edits, takes_back).await?;
    let verdict = match looked {
        Some(looked) => Some(looked.after(edit_service, &checkpoint.files).await),
        None => None,
    };
    Ok(CheckedRollback { checkpoint, verdict })
}

/// An undo that was made.
pub(crate) struct CheckedRollback {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) verdict: Option<Verdict>,
}

async fn make(
    edit_service: &EditService,
    journal: &Journal,
    mut checkpoint: Checkpoint,
    edits: Vec<FileEdit>,
    takes_back: Vec<Checkpoint>,
) -> Result<Checkpoint, Failure> {
    checkpoint.id = edit_service.store.next_checkpoint();
    checkpoint.folders = emptied(journal, &edits);
    let (task, request) = (journal.task.clone(), journal.request.clone());
    let change = PendingChange { task, request, checkpoint, edits, takes_back, restores_marks: true };
    let made = edit_transaction::make(edit_service, change).await?.checkpoint;
    Ok(made)
}

/// The folders that a task has made for files that go, the innermost first.
fn emptied(journal: &Journal, edits: &[FileEdit]) -> Vec<String> {
    let gone: Vec<&str> =
        edits.iter().filter(|edit| matches!(edit, FileEdit::Delete { .. })).map(FileEdit::path).collect();
    let holds = |folder: &str, path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let made = journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit).flat_map(|row| &row.folders);
    let mut folders: Vec<String> = made.filter(|folder| gone.iter().any(|path| holds(folder, path))).cloned().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    folders.dedup();
    folders
}

/// Stores an undo that changes no file.
pub(crate) async fn enter(store: &TaskStore, journal: &Journal, mut checkpoint: Checkpoint) -> Checkpoint {
    checkpoint.id = store.next_checkpoint();
    if let Some(durable) = open_store::durable(store).await {
        checkpoint.record = durable.open_change(&store.events, &journal.task, &checkpoint, &[]).await;
        durable.close_change(&store.events, &checkpoint, &[]).await;
    }
    checkpoint
}
