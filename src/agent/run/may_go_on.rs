//! Whether a task may ask its model once more: not stopped, steps left, within what it may use up.

use tokio_util::sync::CancellationToken;

use crate::agent::budget;
use crate::agent::state::outcome::Ended;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::base::failure::Failure;

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
    // A model that only applies what is offered asks nobody: what it mends does not count, what it tries does.
    let free = if session.model.needs_providers() { task.counts.mended } else { 0 };
    if task.counts.step > session.config.limits.steps.saturating_add(free) {
        return Ok(Some(Ended::OutOfSteps));
    }
    match budget::over_budget(session, task) {
        Some(why) => Err(budget::stop(task, &why)),
        None => Ok(None),
    }
}
