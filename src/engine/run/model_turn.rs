//! Runs one turn of a task's model. It checks whether there may be one (not stopped, steps left, within the task's
//! limits), and waits for the answer.

use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::editor::event::{Event, WaitPhase};
use crate::events::fact::TaskFact;
use crate::events::task_events::TaskEvents;
use crate::state::agent_config::Config;
use crate::state::outcome::Ended;
use crate::state::task::TaskWork;
use crate::state::task_store::TaskStore;
use crate::state::usage::SpentLog;
use crate::task_budget;
use sextant_base::failure::Failure;
use sextant_model::call_progress::{CALL_PROGRESS, CallListener, CallProgress};
use sextant_model::step::{Model, ModelError, Usage};

/// Counts the step that begins. `Some` where the task ends instead.
pub(crate) fn next_step(
    config: &Config,
    model: &dyn Model,
    work: &mut TaskWork,
    cancel: &CancellationToken,
) -> Result<Option<Ended>, Failure> {
    if cancel.is_cancelled() {
        return Err(Failure::cancelled());
    }
    work.step += 1;
    // A model that only applies offered fixes costs nothing: its repairs do not count, its attempts do.
    let free = if model.needs_providers() { work.reports.offers.served } else { 0 };
    if work.step > config.limits.steps.saturating_add(free) {
        return Ok(Some(Ended::OutOfSteps));
    }
    match task_budget::over_budget(config, model, &work.spent) {
        Some(why) => Err(task_budget::stop(&work.journal, &why)),
        None => Ok(None),
    }
}

/// Waits for the model's answer, and counts it. `None` where the time of the task is over before. The caller then looks
/// again at what may still be done.
pub(crate) async fn answered<T>(
    store: &TaskStore,
    spent: &SpentLog,
    task_events: &TaskEvents,
    cancel: &CancellationToken,
    asked: impl Future<Output = (Result<T, ModelError>, Usage)>,
) -> Result<Option<Result<T, ModelError>>, Failure> {
    let tokens = spent.now().used.tokens();
    store.events.show(Event::Phase { phase: WaitPhase::Model, detail: String::new(), tokens });
    let events = Arc::clone(&store.events);
    let progress: CallListener = Arc::new(move |progress| {
        let (phase, detail) = match progress {
            CallProgress::Retry(notice) => (WaitPhase::Retry, notice.line()),
            CallProgress::Thinking => (WaitPhase::Thinking, String::new()),
            CallProgress::Answer => (WaitPhase::Model, String::new()),
        };
        events.show(Event::Phase { phase, detail, tokens });
    });
    let (reply, usage) = tokio::select! {
        answered = CALL_PROGRESS.scope(progress, asked) => answered,
        () = cancel.cancelled() => return Err(Failure::cancelled()),
        () = task_budget::out_of_time(&store.config, spent.now()) => return Ok(None),
    };
    task_events.did(TaskFact::ModelAnswered { usage });
    let tokens = spent.now().used.tokens();
    store.events.show(Event::Phase { phase: WaitPhase::Working, detail: String::new(), tokens });
    Ok(Some(reply))
}
