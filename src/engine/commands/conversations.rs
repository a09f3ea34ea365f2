//! Lists the conversations that were kept, and opens one of them again.

use std::collections::BTreeSet;

use crate::durable::open_store;
use crate::durable::stored_messages::StoredConversation;
use crate::editor::event::{Exchange, LoggedConversation};
use crate::memory::chosen_preferences::failure;
use crate::state::dialogue::Dialogue;
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;
use sextant_store::memory::memory_error::Result as MemoryResult;
use sextant_store::memory::store::Memory;

/// Tasks that are looked at, newest first.
const TASKS: usize = 300;

/// The conversations that hold all of these words, newest first.
///
/// # Errors
/// The memory cannot be read.
pub(crate) async fn list(store: &TaskStore, words: &str) -> Result<Vec<LoggedConversation>, Failure> {
    let Some(durable) = open_store::durable(store).await else { return Ok(Vec::new()) };
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let session = durable.session();
    let look = move |memory: &Memory| -> MemoryResult<Vec<LoggedConversation>> {
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        for task in memory.tasks(&session)?.into_iter().take(TASKS) {
            let Some(said) = memory.said(&task.task)? else { continue };
            let dialogue = StoredConversation::read(said).dialogue;
            // The newest task of a conversation holds all of it.
            if dialogue.id.is_empty() || !seen.insert(dialogue.id.clone()) || !dialogue.holds(&words) {
                continue;
            }
            let (turns, title) = (dialogue.exchanges.len(), dialogue.title());
            found.push(LoggedConversation { id: task.task, at: task.updated / 1000, turns, title });
        }
        found.retain(|one| one.turns > 0);
        Ok(found)
    };
    durable.run(look).await.map_err(|error| failure(&error))
}

/// Makes a conversation the one that the next request may go on with.
///
/// # Errors
/// It is not kept any more.
pub(crate) async fn reopen(store: &TaskStore, id: &str) -> Result<Vec<Exchange>, Failure> {
    let gone = || Failure::user("this conversation is not kept any more", "list the conversations again");
    let durable = open_store::durable(store).await.ok_or_else(gone)?;
    let task = id.to_owned();
    let said = durable.run(move |memory| memory.said(&task)).await.map_err(|error| failure(&error))?;
    let stored = StoredConversation::read(said.ok_or_else(gone)?);
    let dialogue = Dialogue { transcript: stored.transcript, ..stored.dialogue };
    let exchanges = dialogue.exchanges.clone();
    store.talk.keep(dialogue);
    Ok(exchanges)
}
