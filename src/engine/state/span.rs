//! The spans under which the log's lines stand: whose a line is.
//!
//! They have the level of errors, so that no filter parts a line from what it belongs to. Work that is spawned gets
//! the current span handed over where it speaks for the task.

use tracing::field::Empty;
use tracing::{Span, error_span};

use crate::state::session::Session;
use crate::state::task::Task;

/// A command of a user. Which task it is, [`belongs_to`] tells once that is known; some come to none.
pub(crate) fn task() -> Span {
    error_span!("task", id = Empty, mode = Empty)
}

/// The current span is of this task.
pub(crate) fn belongs_to(task: &Task) {
    let span = Span::current();
    span.record("id", task.journal.task.as_str());
    span.record("mode", tracing::field::display(&task.mode));
}

/// The current span is of the task whose plan waits.
pub(crate) async fn belongs_to_plan(session: &Session) {
    if let Some((_, task)) = session.plan.lock().await.as_ref() {
        belongs_to(task);
    }
}

/// One question to the model and what came of it.
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
