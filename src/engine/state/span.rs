//! The spans of the log's lines, which assign each line to its task, step or tool.
//!
//! They have the level of errors, so that no filter parts a line from its owner. Spawned work gets the current span
//! where it logs for the task.

use tracing::field::Empty;
use tracing::{Span, error_span};

use crate::state::plan_service::PlanService;
use crate::state::task::Task;

/// A command of a user. [`belongs_to`] records its task once that is known; some commands have no task.
pub(crate) fn task() -> Span {
    error_span!("task", id = Empty, mode = Empty)
}

/// Assigns the current span to this task.
pub(crate) fn belongs_to(task: &Task) {
    let span = Span::current();
    span.record("id", task.work.journal.task.as_str());
    span.record("mode", tracing::field::display(&task.work.mode));
}

/// Assigns the current span to the task whose plan waits.
pub(crate) async fn belongs_to_plan(plans: &PlanService) {
    if let Some((_, task)) = plans.waiting.lock().await.as_ref() {
        belongs_to(task);
    }
}

/// One question to the model, with its consequences.
pub(crate) fn step(number: u32) -> Span {
    error_span!("step", number)
}

/// A step of a plan; the steps within it count for themselves.
pub(crate) fn plan_step(index: usize) -> Span {
    error_span!("plan_step", number = index + 1)
}

/// One call of a tool.
pub(crate) fn tool(name: &str) -> Span {
    error_span!("tool", name)
}
