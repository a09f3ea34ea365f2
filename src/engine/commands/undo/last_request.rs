//! Words what became of the last request, for the outcome of an undo or a redo that is about another task.

use crate::durable::stack::{self, Stack, UndoPlace};
use crate::state::edit_service::EditService;
use crate::state::journal::Journal;
use crate::state::undo_target::standing;

/// A last request that is not the one of the outcome.
pub(super) struct LastRequest {
    pub(super) request: String,
    /// ` (the last request, “…”, is undone already)`.
    pub(super) words: String,
}

/// The last request and its state, where the outcome is about another task. A request of the same words is not quoted.
pub(super) async fn other_than(edits: &EditService, stack: &Stack, journal: &Journal) -> Option<LastRequest> {
    let (task, request) = stack.asked.as_ref().filter(|(task, _)| *task != journal.task)?;
    let state = match stack.find(task).filter(|known| known.place != UndoPlace::Removed) {
        None => "changed nothing",
        Some(known) => match stack::journal(&edits.store, known).await {
            Ok(own) if standing(&own).next().is_none() => "is undone already",
            _ => "stays as it is",
        },
    };
    let name = if *request == journal.request { "of the same words".to_owned() } else { format!("“{request}”") };
    Some(LastRequest { request: request.clone(), words: format!(" (the last request, {name}, {state})") })
}
