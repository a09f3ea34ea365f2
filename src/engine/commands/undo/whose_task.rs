//! Decides whether an undo takes the task that its user means. One that may be another is named first, and taken back
//! when the user names it.

use std::collections::BTreeSet;

use crate::durable::stack::{self, KnownTask, Maker, Stack};
use crate::state::edit_service::EditService;
use crate::state::undo_target::{Target, standing};
use sextant_base::failure::Failure;
use sextant_base::one_line::headline;

/// The tasks that a target names by their request, or by the client that made them; empty where it means a part of the
/// last task. A word alone is a symbol, unless a client has this name.
pub(super) fn named(stack: &Stack, target: &Target) -> BTreeSet<String> {
    let Target::Symbol(words) = target else { return BTreeSet::new() };
    let words = words.trim_matches(['“', '”', '"']).to_lowercase();
    let is_meant = |known: &&KnownTask| match &known.by {
        Maker::Client(name) if name.to_lowercase() == words => true,
        _ => words.contains(' ') && headline(&known.request).to_lowercase() == words,
    };
    stack.tasks.iter().filter(is_meant).map(|known| known.task.clone()).collect()
}

/// Refuses to take the task at this place of the stack, if the user may not mean it: a session that is open has made it,
/// or somebody else after the task that the user was shown.
pub(super) async fn confirm(edits: &EditService, stack: &Stack, at: usize) -> Result<(), Failure> {
    let next = &stack.tasks[at];
    let whose = match &next.by {
        Maker::Here => return Ok(()),
        Maker::Earlier => "an earlier session".to_owned(),
        Maker::Client(name) => format!("the client {name}"),
        Maker::Session => "another session, which is open".to_owned(),
    };
    let shown = edits.store.shown_task().filter(|task| *task != next.task);
    let shown = stack.tasks.iter().skip(at + 1).find(|known| shown.as_ref() == Some(&known.task));
    let own = match shown {
        Some(known) => {
            stack::journal(&edits.store, known).await.is_ok_and(|journal| standing(&journal).next().is_some())
        }
        None => false,
    };
    let last = headline(&next.request);
    match shown.filter(|_| own).map(|known| headline(&known.request)) {
        None if next.by != Maker::Session => Ok(()),
        None => Err(Failure::user(
            format!("the last change, “{last}”, is by {whose}"),
            format!("an undo with its words takes it back: undo {last}"),
        )),
        Some(own) => Err(Failure::user(
            format!("the last change is not “{own}” but “{last}”, by {whose}"),
            format!("an undo with the words of one of them takes that one back: undo {own}"),
        )),
    }
}
