//! The state of a question to a model while its answer is awaited, for the task that asks.

use std::sync::Arc;

use crate::retry::RetryNotice;

tokio::task_local! {
    /// Hears the progress of each question that is asked in its scope.
    pub static CALL_PROGRESS: CallListener;
}

pub type CallListener = Arc<dyn Fn(&CallProgress) + Send + Sync>;

/// The state of a question from here on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallProgress {
    /// The question was sent, or the model has stopped thinking: its answer is next.
    Answer,
    /// The model reasons, shown or not.
    Thinking,
    /// The question is asked again after a wait.
    Retry(RetryNotice),
}

impl CallProgress {
    /// Reports it to the listener, if there is one.
    pub(crate) fn report(&self) {
        let _ = CALL_PROGRESS.try_with(|listener| listener(self));
    }
}
