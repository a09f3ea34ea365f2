//! Holds the one call that a request names in full, so that no model decides.

use tokio_util::sync::CancellationToken;

use crate::state::outcome::Ended;
use crate::state::task_scope::Scope;
use sextant_base::failure::Failure;
use sextant_model::step::{Action, LastResult};

/// A call, and the way on where it fails.
pub(crate) struct DirectAction {
    pub(crate) action: Action,
    /// Its reason, for the trace.
    pub(crate) reason: &'static str,
    /// The scope in which a language model works on the request instead; `None` without such a model.
    pub(crate) otherwise: Option<Scope>,
    /// Set where the words of the request are enough to go on with it in another process.
    pub(crate) resumes: bool,
}

/// The end of a task whose call came out so.
///
/// # Errors
/// It was stopped.
pub(crate) fn ended(result: LastResult, ok: bool, cancel: &CancellationToken) -> Result<Ended, Failure> {
    match ok {
        true => Ok(Ended::Done { changed: true, answer: String::new() }),
        false if cancel.is_cancelled() => Err(Failure::cancelled()),
        false => Ok(Ended::Unsolved(result.text)),
    }
}
