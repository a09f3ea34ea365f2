//! Chooses the loop that works on a task by the style of its model.

use tokio_util::sync::CancellationToken;

use crate::run::{compact_loop, converse, run_loop};
use crate::state::edit_service::EditService;
use crate::state::outcome::Ended;
use crate::state::stop;
use crate::state::task::Task;
use sextant_base::failure::Failure;
use sextant_model::abilities::Style;
use sextant_model::step::Model;

/// Works on a task, or on one step of its plan, until one of the ends.
pub(crate) async fn work(
    edits: &EditService,
    model: &dyn Model,
    task: &mut Task,
    cancel: &CancellationToken,
) -> Result<Ended, Failure> {
    // On the heap: they are the largest futures, and a frame of each caller would have their size.
    // A server may leave the question for its model's abilities unanswered.
    match stop::unless_stopped(&edits.making, cancel, model.abilities()).await?.style {
        Style::Conversation => Box::pin(converse::converse(edits, model, task, cancel)).await,
        Style::Step => Box::pin(run_loop::run_steps(edits, model, task, cancel)).await,
        Style::Compact => Box::pin(compact_loop::work(edits, model, task, cancel)).await,
    }
}
