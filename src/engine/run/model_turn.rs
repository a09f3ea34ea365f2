//! Runs one turn of a task's model. It checks whether there may be one (not stopped, steps left, within the task's
//! limits), and waits for the answer.

use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::editor::event::{Event, WaitPhase};
use crate::events::fact::TaskFact;
use crate::state::outcome::Ended;
use crate::state::session::Session;
use crate::state::task::Task;
use crate::task_budget;
use sextant_base::failure::Failure;
use sextant_model::retry::{RETRIES, RetryListener};
use sextant_model::step::{ModelError, Usage};

/// Counts the step that begins. `Some` where the task ends instead.
pub(crate) fn next_step(
    session: &Session,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Option<Ended>, Failure> {
    if cancel.is_cancelled() {
        return Err(Failure::cancelled());
    }
    task.counts.step += 1;
    // A model that only applies offered fixes costs nothing: its repairs do not count, its attempts do.
    let free = if session.model.needs_providers() { task.counts.mended } else { 0 };
    if task.counts.step > session.config.limits.steps.saturating_add(free) {
        return Ok(Some(Ended::OutOfSteps));
    }
    match task_budget::over_budget(session, task) {
        Some(why) => Err(task_budget::stop(task, &why)),
        None => Ok(None),
    }
}

/// Waits for the model's answer, and counts it. `None` where the time of the task is over before. The caller then looks
/// again at what may still be done.
pub(crate) async fn answered<T>(
    session: &Session,
    task: &Task,
    cancel: &CancellationToken,
    asked: impl Future<Output = (Result<T, ModelError>, Usage)>,
) -> Result<Option<Result<T, ModelError>>, Failure> {
    let spent = task.counts.spent.now();
    let tokens = spent.used.prompt_tokens + spent.used.completion_tokens;
    session.emit(Event::Phase { phase: WaitPhase::Model, detail: String::new(), tokens });
    let events = Arc::clone(&session.events);
    let retries: RetryListener = Arc::new(move |notice| {
        events.show(Event::Phase { phase: WaitPhase::Retry, detail: notice.line(), tokens });
    });
    let (reply, usage) = tokio::select! {
        answered = RETRIES.scope(retries, asked) => answered,
        () = cancel.cancelled() => return Err(Failure::cancelled()),
        () = task_budget::out_of_time(session, task.counts.spent.now()) => return Ok(None),
    };
    task.events.did(TaskFact::ModelAnswered { usage });
    Ok(Some(reply))
}
