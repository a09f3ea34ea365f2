//! Enters an edit of the user into a task that has ended: the user rewrote a part of what the task did.
//!
//! An undo of the task takes it back with the rest, and a review shows both as one change.

use crate::durable::stack::{self, UndoPlace};
use crate::edit::{change, edit_transaction};
use crate::state::edit_request::EditRequest;
use crate::state::edit_service::EditService;
use crate::state::in_flight::PendingChange;
use crate::state::journal::{Checkpoint, CheckpointKind, Journal};
use crate::state::plan_service::PlanService;
use crate::state::task_scope;
use sextant_base::failure::Failure;

/// The journal of a task; `None` where its texts are gone.
pub(crate) async fn journal(edits: &EditService, task: &str) -> Option<Journal> {
    let stack = stack::stack(edits).await;
    let known = stack.find(task).filter(|known| known.place != UndoPlace::Removed)?;
    stack::journal(&edits.store, known).await.ok()
}

/// Makes the edits as one change of the task.
///
/// # Errors
/// The editor refuses an edit: nothing was written.
pub(crate) async fn amend(
    edits: &EditService,
    plans: &PlanService,
    journal: &Journal,
    wanted: Vec<EditRequest>,
) -> Result<(), Failure> {
    let checkpoint = Checkpoint {
        id: edits.store.next_checkpoint(),
        kind: CheckpointKind::Edit,
        step: step(journal, &wanted),
        files: change::files_before(edits.workspace.editor.as_ref(), journal, &wanted).await,
        symbols: wanted.iter().flat_map(task_scope::touched).collect(),
        ..Checkpoint::default()
    };
    let change = PendingChange {
        task: journal.task.clone(),
        request: journal.request.clone(),
        checkpoint,
        edits: wanted.into_iter().map(EditRequest::into_edit).collect(),
        takes_back: Vec::new(),
        restores_marks: false,
    };
    let made = {
        let _turn = edits.making.turn.lock().await;
        edit_transaction::make(edits, change).await?
    };
    let mut whole = journal.clone();
    whole.checkpoints.push(made.checkpoint.clone());
    stack::note(&mut *edits.history.lock().await, &whole);
    let mut waiting = plans.waiting.lock().await;
    if let Some((_, task)) = waiting.as_mut().filter(|(_, task)| task.work.journal.task == journal.task) {
        task.work.journal.checkpoints.push(made.checkpoint);
    }
    Ok(())
}

/// The step whose text is rewritten: the last one that changed one of the files.
fn step(journal: &Journal, wanted: &[EditRequest]) -> usize {
    let edits = || journal.checkpoints.iter().rev().filter(|row| row.kind == CheckpointKind::Edit);
    let same = |row: &&Checkpoint| row.files.iter().any(|file| wanted.iter().any(|want| want.path() == file.path));
    edits().find(same).or_else(|| edits().next()).map_or(1, |row| row.step)
}
