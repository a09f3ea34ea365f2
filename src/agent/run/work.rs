//! Which loop works on a task: what its model's style says.

use tokio_util::sync::CancellationToken;

use crate::agent::run::{compact, converse, run_loop};
use crate::agent::state::outcome::Ended;
use crate::agent::state::session::Session;
use crate::agent::state::stop;
use crate::agent::state::task::Task;
use crate::base::failure::Failure;
use crate::llm::abilities::Style;

/// Works on a task, or on one step of its plan, until one of the ends.
pub(crate) async fn work(session: &Session, task: &mut Task, cancel: &CancellationToken) -> Result<Ended, Failure> {
    // A server that is asked what its model can do may be silent.
    match stop::unless_stopped(session, cancel, session.model.abilities()).await?.style {
        Style::Conversation => converse::converse(session, task, cancel).await,
        Style::Step => run_loop::run_steps(session, task, cancel).await,
        Style::Compact => compact::work(session, task, cancel).await,
    }
}
