//! Finds the request of an earlier task, with its scope and mode, so that the user can ask it again.

use crate::durable::open_store;
use crate::durable::resumable;
use crate::durable::stored_messages::StoredConversation;
use crate::durable::task_state::RunState;
use crate::memory::chosen_preferences::failure;
use crate::plan::work_mode::Mode;
use crate::state::agent_config::PlanMode;
use crate::state::request::{EarlierTask, Request};
use crate::state::task_store::TaskStore;
use sextant_base::failure::Failure;

/// A request that was made before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedBefore {
    pub request: Request,
    /// True if it was for a plan.
    pub plans: bool,
}

/// The request of a task. The task of a conversation stands for the first request of it.
///
/// # Errors
/// The task is not kept any more, or its request is not the user's.
pub(crate) async fn asked_before(store: &TaskStore, task: &str) -> Result<AskedBefore, Failure> {
    let gone = || Failure::user("this request is not kept any more", "ask it in your own words");
    let durable = open_store::durable(store).await.ok_or_else(gone)?;
    let last = task.to_owned();
    let said = durable.run(move |memory| memory.said(&last)).await.map_err(|error| failure(&error))?;
    let first = said.map(|said| StoredConversation::read(said).dialogue.id).filter(|id| !id.is_empty());
    let mut run = None;
    for name in [first.as_deref(), Some(task)].into_iter().flatten() {
        if run.is_none() {
            run = resumable::kept(&store.events, &durable, name).await.map(|(run, _)| run);
        }
    }
    again(run.ok_or_else(gone)?)
}

fn again(run: RunState) -> Result<AskedBefore, Failure> {
    if let Some(client) = &run.origin.client {
        return Err(Failure::user(format!("this is a request of {client}"), "ask it in your own words"));
    }
    if run.ends.is_some() {
        return Err(Failure::user("the scope of this request is not kept", "ask it in your own words"));
    }
    let mode = match run.mode {
        Mode::Simple => None,
        Mode::Planner => Some(PlanMode::Planner),
        Mode::Supervised => Some(PlanMode::Supervised),
    };
    let earlier = Some(EarlierTask { scope: run.progress.asked_scope.unwrap_or(run.scope), mode });
    let request = Request { text: run.request, path: run.origin.current_file, earlier, ..Request::default() };
    Ok(AskedBefore { request, plans: mode.is_some() })
}
