//! What a task has spent of its budgets.

use std::time::Duration;

use tokio::time::Instant;

use crate::llm::step::Usage;

/// What a task has used besides tokens.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    pub(crate) started: Instant,
    /// Time in which the user was asked something: it is not the task's.
    pub(crate) waited: Duration,
    /// What was used before the user said to go on: whoever resumes a task gives it its limits anew.
    pub(crate) before: Usage,
}

impl Default for Spent {
    fn default() -> Self {
        Self { started: Instant::now(), waited: Duration::ZERO, before: Usage::default() }
    }
}

impl Spent {
    pub(crate) fn pause(&mut self, since: Instant) {
        self.waited += since.elapsed();
    }

    /// A plan begins to run: the time in which it waited for approval is nobody's.
    pub(crate) fn restart(&mut self) {
        *self = Self { before: self.before, ..Self::default() };
    }

    /// The user resumes the task, which has used so much.
    pub(crate) fn resume(&mut self, used: Usage) {
        *self = Self { before: used, ..Self::default() };
    }

    /// What counts against the limits.
    pub(crate) fn counted(&self, used: Usage) -> Usage {
        Usage {
            calls: used.calls.saturating_sub(self.before.calls),
            prompt_tokens: used.prompt_tokens.saturating_sub(self.before.prompt_tokens),
            completion_tokens: used.completion_tokens.saturating_sub(self.before.completion_tokens),
            estimated: used.estimated,
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.waited)
    }
}
