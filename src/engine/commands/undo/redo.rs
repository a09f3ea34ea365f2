//! Brings back the last undo that no edit of its files has overtaken, whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::undo::feedback::{self, UndoSubject};
use crate::commands::undo::{Undone, follow, last_request, undone};
use crate::durable::stack::{Stack, UndoRow, position, stack};
use crate::durable::{open_store, resumable};
use crate::edit::rollback::{RollbackPlan, go_checked};
use crate::edit::{edit_transaction, recover, undo_refusal};
use crate::editor::event::Event;
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, CheckpointKind, Journal, RolledBack};
use crate::state::outcome::Ending;
use crate::state::plan_service::PlanService;
use crate::state::undo_hunks::HunkTurn;
use crate::state::undo_target::Target;
use crate::state::workspace::Workspace;
use sextant_base::failure::Failure;

/// Brings back the last undo. A later edit by Sextant in one of its files prevents that. The user's own typing prevents
/// it in the same place.
pub(crate) async fn bring_back(edits: &EditService, plans: &PlanService) -> Ending<Undone> {
    let mut events = Vec::new();
    let result = bring(edits, plans, &mut events).await;
    Ending::new(result, events, |undone| (true, undone.summary.clone()))
}

async fn bring(edits: &EditService, plans: &PlanService, events: &mut Vec<Event>) -> Result<Undone, Failure> {
    recover::recover_quietly(edits).await;
    edit_transaction::catch_up(edits, plans).await?;
    let stack = stack(edits).await;
    let Some(row) = stack.redoable().next() else { return Err(nothing(&stack)) };
    let known = stack.find(&row.task).ok_or_else(|| nothing(&stack))?;
    let mut journal = crate::durable::stack::journal(&edits.store, known).await?;
    let own = |checkpoint: &&Checkpoint| checkpoint.kind == CheckpointKind::Rollback && position(checkpoint) == row.at;
    let Some(undo) = journal.checkpoints.iter().find(own).cloned() else { return Err(nothing(&stack)) };
    let way = way_forward(&edits.workspace, &journal, &undo).await?;
    if !way.left.is_empty() {
        let places = undo_refusal::places(&way.left);
        let message = format!("nothing was brought back: {places} changed since, in the same place");
        return Err(Failure::user(message, "take your own change there back first (`u`), or ask for it again"));
    }
    let (files, verdict) = if way.edits.is_empty() {
        // It is there again by hand: only the undo goes.
        if let (Some(durable), Some(id)) = (open_store::durable(&edits.store).await, undo.record) {
            let dropped = durable.run(move |memory| memory.drop_checkpoints(vec![id])).await;
            open_store::or_tell(&edits.hub.events, &durable, dropped);
        }
        (undo.files.clone(), None)
    } else {
        let back = Checkpoint { files: way.files, step: undo.step, ..Checkpoint::default() };
        let made = go_checked(edits, &journal, back, way.edits, vec![undo.clone()]).await?;
        (made.checkpoint.files, made.verdict)
    };
    journal.checkpoints.retain(|checkpoint| position(checkpoint) != row.at);
    let target = Target::parse(undo.symbols.first().map(String::as_str).unwrap_or_default());
    let plan = match (resumable::plan_of(&edits.store, plans, &journal.task).await, &undo.plan) {
        (Some(mut plan), Some(before)) => {
            target.close_again(&mut plan, before);
            Some(plan)
        }
        (now, before) => now.or_else(|| before.clone()),
    };
    follow(edits, plans, &journal, plan, &files, events).await;
    let (task, request) = (journal.task.clone(), journal.request.clone());
    let part = if target == Target::Task { String::new() } else { format!("{} of ", target.words()) };
    feedback::feedback(
        &edits.store,
        UndoSubject { task, request, undo: undo.id, part, ..UndoSubject::default() },
        false,
    )
    .await;
    let what = match &target {
        Target::Task => format!("brought back “{}”", journal.request),
        part => format!("brought back {} of “{}”", part.words(), journal.request),
    };
    let last = last_request::other_than(edits, &stack, &journal).await;
    let done = undone(last, &journal, target.to_string(), what, &files, Vec::new());
    Ok(done.with_effect(verdict, &edits.workspace.config.diagnostics))
}

/// Works out the edits that restore the hunks of an undo, oldest first, from the files as they are now.
async fn way_forward(workspace: &Workspace, journal: &Journal, undo: &Checkpoint) -> Result<RollbackPlan, Failure> {
    let taken = journal.taken();
    let mut by_path: BTreeMap<&str, Vec<(&Checkpoint, &RolledBack)>> = BTreeMap::new();
    for edit in journal.checkpoints.iter().filter(|row| row.kind == CheckpointKind::Edit) {
        for take in undo.takes.iter().filter(|take| take.edit == edit.id && !take.hunks.is_empty()) {
            by_path.entry(&take.path).or_default().push((edit, take));
        }
    }
    let mut way = RollbackPlan { edits: Vec::new(), files: Vec::new(), takes: Vec::new(), left: Vec::new() };
    for (path, takes) in by_path {
        let mut turns = Vec::new();
        for (edit, take) in takes {
            let Some(change) = edit.files.iter().find(|file| file.path == path) else { continue };
            let gone: BTreeSet<usize> = taken.get(&(edit.id.as_str(), path)).cloned().unwrap_or_default();
            turns.push(HunkTurn { change, taken: gone, wanted: take.hunks.iter().copied().collect() });
        }
        let (Some(first), Some(last)) = (turns.first(), turns.last()) else { continue };
        let (before, after) = (first.change.marks_before.clone(), last.change.marks_after.clone());
        way.add(workspace, path, &turns, before, after).await?;
    }
    Ok(way)
}

fn nothing(stack: &Stack) -> Failure {
    let lost = stack.rows.iter().filter(|row| row.kind == CheckpointKind::Rollback && !row.files.is_empty());
    let overtaken = lost.filter_map(|undo| Some((undo, stack.edited_since(undo)?))).next();
    let hint = overtaken.and_then(|(undo, edit)| words(stack, undo, edit));
    Failure::user("there is nothing to bring back", hint.unwrap_or_else(|| "no undone task is left".to_owned()))
}

fn words(stack: &Stack, undo: &UndoRow, edit: &UndoRow) -> Option<String> {
    let file = undo.files.iter().find(|file| edit.files.contains(file))?;
    let request = &stack.find(&edit.task)?.request;
    Some(format!("“{request}” has changed {file} since the last undo, which ends the way back for it"))
}
