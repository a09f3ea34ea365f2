//! Chooses the loop that works on a task by the style of its model.

use tokio_util::sync::CancellationToken;

use crate::run::{compact_loop, converse, run_loop};
use crate::state::outcome::Ended;
use crate::state::session::Session;
use crate::state::stop;
use crate::state::task::Task;
use sextant_base::failure::Failure;
use sextant_model::abilities::Style;

/// Works on a task, or on one step of its plan, until one of the ends.
pub(crate) async fn work(session: &Session, task: &mut Task, cancel: &CancellationToken) -> Result<Ended, Failure> {
    // A server may leave the question for its model's abilities unanswered.
    match stop::unless_stopped(&session.edits.making, cancel, session.model.abilities()).await?.style {
        Style::Conversation => converse::converse(session, task, cancel).await,
        Style::Step => run_loop::run_steps(session, task, cancel).await,
        Style::Compact => compact_loop::work(session, task, cancel).await,
    }
}
